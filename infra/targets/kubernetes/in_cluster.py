# SPDX-License-Identifier: Apache-2.0
"""Program in the cluster that creates resources, or waits for them (`infra.provider.in_cluster`), as chart values."""

from collections.abc import Iterable
from typing import Any, Literal

from infra.model import LaunchedJob, Python, Resource, Task
from infra.provider.kinds import MODULES
from infra.security.certificate_files import trusting_environment

PROGRAM = "infra.provider.in_cluster"

RESOURCES_FOLDER = "/etc/lineage-lab-resources"
"""Folder at which the chart mounts the ConfigMap of all resources."""

NAME = "setup"


def setup_part(command: Literal["apply", "await"] = "apply", authority: str | None = None) -> Task:
    """Return the program as a task; an `await` gets the keys to wait for as further arguments.

    `authority` is the file of the certificate that its clients trust in a lab with TLS.
    """
    return Task(
        name=NAME,
        run=Python(PROGRAM, (command, RESOURCES_FOLDER), uses=tuple(sorted(MODULES.values()))),
        env=trusting_environment(authority) if authority else {},
        memory_mib=128,
    )


def resource_entries(resources: Iterable[Resource]) -> list[dict[str, Any]]:
    """Return resources as the program reads them; jobs that a service submits by itself are left out."""
    return [
        {"key": known.key, "kind": known.kind, "inputs": known.properties(), "needs": list(known.needs)}
        for known in resources
        if not isinstance(known, LaunchedJob)
    ]
