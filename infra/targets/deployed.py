# SPDX-License-Identifier: Apache-2.0
"""The target on which the lab of a stack runs, from Pulumi's state; its configuration may name another one."""

from collections.abc import Iterable, Mapping
from pathlib import PurePath
from typing import Any

from infra.errors import LabError
from infra.settings import PLAIN, TLS

SUPERVISOR_TYPE = "labkit:index:Supervisor"
"""Type of the resource whose input `root` is the folder of a local lab."""

CREDENTIALS_TYPE = "labkit:index:Credentials"
"""Type of the resource whose input `certificates` is the folder of a lab with TLS."""

TARGETS = {
    SUPERVISOR_TYPE: "local",
    "labkit:index:DockerHost": "docker",
    "labkit:index:KubernetesCluster": "kubernetes",
}
"""Resource type that every lab on a target has, to the target."""


def deployed_target(resources: Iterable[Mapping[str, Any]]) -> str | None:
    """Return the target of the resources in a stack's state; None without a lab."""
    return next((target for each in resources if (target := TARGETS.get(each["type"]))), None)


def reject_other_target(stack: str, target: str, resources: Iterable[Mapping[str, Any]]) -> None:
    """Raise LabError if the lab of a stack runs on another target than the configured one.

    Pulumi would create the new lab first, on the same ports and in the same folder, and then delete the former one with
    that folder.
    """
    deployed = deployed_target(resources)
    if deployed not in {None, target}:
        raise LabError(
            f"the lab of stack {stack} runs on target {deployed}, its configuration says {target}: remove it first "
            f"(bin/lab down --stack {stack}), or use another stack for target {target} (pulumi stack init NAME)"
        )


def reject_other_security(stack: str, security: str, resources: Iterable[Mapping[str, Any]]) -> None:
    """Raise LabError if the lab of a stack was created with TLS and is configured without, or the other way round.

    In between, the state would have addresses and logins that its services no longer have, and refresh would fail.
    """
    found = [each.get("inputs", {}) for each in resources if each["type"] == CREDENTIALS_TYPE]
    deployed = next((TLS if inputs.get("certificates") else PLAIN for inputs in found), security)
    if deployed != security:
        raise LabError(
            f"the lab of stack {stack} was created with security {deployed}, its configuration says {security}: remove "
            f"it first (bin/lab down --stack {stack}), or use another stack (pulumi stack init NAME)"
        )


def reject_moved_checkout(stack: str, checkout: str, resources: Iterable[Mapping[str, Any]]) -> None:
    """Raise LabError if the lab of a stack was created by this checkout in another folder, for containers.

    Its containers and volumes have the folder's id as a label, and Kafka's cluster id depends on it: an update would
    replace them, with all data. A local lab keeps its id with its data instead.
    """
    found = [each.get("inputs", {}) for each in resources if each["type"] in TARGETS]
    for inputs in found:
        if inputs.get("checkout", checkout) != checkout:
            folder = PurePath(inputs["root"]).parent.parent
            raise LabError(
                f"the lab of stack {stack} was created by the checkout in {folder}, and its containers belong to that: "
                f"move the checkout back, or remove the lab there before the move (bin/lab down --stack {stack})"
            )
