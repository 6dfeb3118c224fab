# SPDX-License-Identifier: Apache-2.0
"""Pulumi's state of a stack on Docker, compared with the selected daemon."""

from collections.abc import Collection, Sequence

from infra.errors import LabError
from infra.targets.checkpoint import Resource

_PROVIDER = "pulumi:providers:docker"
_CONTAINER = "docker:index/container:Container"


def has_moved(resources: Sequence[Resource], host: str) -> bool:
    """Return True if the resources were last updated on a Docker daemon at another address than `host`."""
    return any(known != host for known in _hosts(resources))


def reject_other_daemon(stack: str, resources: Sequence[Resource], host: str, existing: Collection[str]) -> None:
    """Check that the daemon at another address than before is the same one: that it has a container of the stack.

    Pulumi would create the lab again on another daemon, and forget the containers of the first one.

    Args:
        stack: name of the stack.
        resources: resources in its state.
        host: address of the selected daemon.
        existing: ids of the stack's containers on that daemon.

    Raises:
        LabError: it has none.
    """
    known = [container["id"] for container in _containers(resources) if "id" in container]
    if known and has_moved(resources, host) and not set(known) & set(existing):
        old = ", ".join(map(str, _hosts(resources)))
        raise LabError(
            f"stack {stack} runs on the Docker daemon at {old}; the daemon at {host} "
            f"has none of its {len(known)} containers. Select the first daemon (DOCKER_HOST, `docker context use`), or "
            f"abandon its containers: bin/lab reset --stack {stack}"
        )


def missing_containers(resources: Sequence[Resource], existing: Collection[str]) -> list[str]:
    """Return the URNs of the containers in the state whose ids are not among the `existing`."""
    return [container["urn"] for container in _containers(resources) if container.get("id") not in existing]


def _hosts(resources: Sequence[Resource]) -> list[str | None]:
    providers = [resource for resource in resources if resource["type"] == _PROVIDER]
    return [provider.get("inputs", {}).get("host") for provider in providers]


def _containers(resources: Sequence[Resource]) -> list[Resource]:
    return [resource for resource in resources if resource["type"] == _CONTAINER]
