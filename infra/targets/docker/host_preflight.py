# SPDX-License-Identifier: Apache-2.0
"""Checks of the Docker daemon before the first container of a stack."""

import platform
from collections.abc import Callable
from pathlib import Path

from docker import DockerClient

from infra.errors import PreflightError
from infra.provider.preflight import busy_ports, enforce_preflight, resource_shortages
from infra.targets.docker.engine import docker_errors, engine_host
from infra.targets.docker.kind_inputs import DockerHostInputs
from infra.targets.labels import CHECKOUT_LABEL, STACK_LABEL

MIB = 2**20


def reject_stack_of_other_checkout(client: DockerClient, inputs: DockerHostInputs) -> None:
    """Raise PreflightError if another checkout has a stack of this name, whose containers and volumes would clash."""
    with docker_errors("list containers"):
        found = client.containers.list(all=True, filters={"label": f"{STACK_LABEL}={inputs.stack}"})
    others = [container for container in found if container.labels.get(CHECKOUT_LABEL) != inputs.checkout]
    if others:
        raise PreflightError(
            f"another checkout of the lab already runs a stack {inputs.stack} on this Docker daemon "
            f"({len(others)} containers, for example {others[0].name}). Choose another stack name: "
            "bin/lab up --stack NAME, with a Pulumi.NAME.yaml like Pulumi.docker.yaml"
        )


def check_ports_and_resources(client: DockerClient, inputs: DockerHostInputs, warn: Callable[[str], None]) -> None:
    """Check that the ports are free and that memory and disk are sufficient; `warn` receives what is not fatal.

    Raises:
        PreflightError: the lab cannot run on this daemon as configured.
    """
    busy = busy_ports(inputs.ports) if _is_local_daemon() else []
    short = _resource_shortages(client, inputs)
    enforce_preflight(f"the Docker daemon at {engine_host()}", inputs.stack, busy, short, inputs.preflight, warn)


def _is_local_daemon() -> bool:
    """Return whether the daemon publishes ports on this machine, as Docker Desktop does from its VM."""
    return engine_host().startswith(("unix://", "npipe://"))


def _resource_shortages(client: DockerClient, inputs: DockerHostInputs) -> list[str]:
    """Return one line each if memory or disk space is insufficient; a daemon in a VM has the VM's memory."""
    with docker_errors("report its resources"):
        info = client.info()
    if info["Name"] == platform.node() and Path(info["DockerRootDir"]).exists():
        return resource_shortages(Path(info["DockerRootDir"]), inputs.memory_mib, inputs.disk_mib)
    total = int(info["MemTotal"]) // MIB
    if total >= inputs.memory_mib:
        return []
    return [
        f"memory: the chosen services need {inputs.memory_mib} MiB, the daemon has {total} MiB; if Docker runs in a "
        "VM, increase its memory (Docker Desktop: Settings, Resources; colima: `colima start --memory`)"
    ]
