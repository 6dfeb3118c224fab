# SPDX-License-Identifier: Apache-2.0
"""`labkit:index:DockerHost`: the daemon that a stack's containers run on, and the stack's folder on this machine."""

import platform
import shutil
from pathlib import Path
from typing import Any

from docker import DockerClient

from infra.errors import PreflightError
from infra.provider.kind import Call, Kind, ReadResult
from infra.provider.preflight import busy_ports, enforce_preflight, resource_shortages
from infra.targets.docker.engine import docker_errors, engine_host, shared_client
from infra.targets.docker.kind_inputs import DockerHostInputs
from infra.targets.docker.names import CHECKOUT_LABEL, STACK_LABEL
from infra.targets.docker.runtime import Containers

MIB = 2**20


class DockerHostKind(Kind[DockerHostInputs]):
    """Everything on Docker depends on it, so that the daemon is asked first and looked at last."""

    name = "DockerHost"
    inputs = DockerHostInputs
    replace_on = frozenset({"root", "stack"})

    def create(self, inputs: DockerHostInputs, call: Call) -> dict[str, Any]:
        client = shared_client()
        _refuse_namesake(client, inputs)
        Containers(inputs.stack).remove_unmanaged(set)  # what a run left behind whose state is lost
        self._preflight(client, inputs, call)
        Path(inputs.root).mkdir(parents=True, exist_ok=True, mode=0o700)
        return {}

    def _preflight(self, client: DockerClient, inputs: DockerHostInputs, call: Call) -> None:
        busy = busy_ports(inputs.ports) if _is_on_this_machine() else []
        short = _resource_shortages(client, inputs)
        enforce_preflight(
            f"the Docker daemon at {engine_host()}", inputs.stack, busy, short, inputs.preflight, call.report
        )

    def read(self, inputs: DockerHostInputs, call: Call) -> ReadResult[DockerHostInputs] | None:
        """A daemon that does not answer is no daemon without a lab: that is an error.

        It is never taken for gone: to make it anew would remove containers that others in the state stand for.
        """
        shared_client()
        return ReadResult(inputs)

    def update(self, old: DockerHostInputs, new: DockerHostInputs, call: Call) -> dict[str, Any]:
        """Ports, memory and disk matter only before the first start; moved ports are seen when bound."""
        return {}

    def delete(self, inputs: DockerHostInputs, call: Call) -> None:
        """What is deleted by itself is gone already; this takes along what no state knows of."""
        Containers(inputs.stack).shut_down()
        shutil.rmtree(inputs.root, ignore_errors=True)


def _refuse_namesake(client: DockerClient, inputs: DockerHostInputs) -> None:
    """A stack of another checkout would share names of containers and, worse, volumes with this one."""
    with docker_errors("list containers"):
        found = client.containers.list(all=True, filters={"label": f"{STACK_LABEL}={inputs.stack}"})
    others = [container for container in found if container.labels.get(CHECKOUT_LABEL) != inputs.checkout]
    if others:
        raise PreflightError(
            f"this Docker daemon has a stack {inputs.stack} of another checkout of the lab already "
            f"({len(others)} containers, {others[0].name} among them). Give this one another name: "
            "bin/lab up --stack NAME, with a Pulumi.NAME.yaml like Pulumi.docker.yaml"
        )


def _is_on_this_machine() -> bool:
    """Whether the daemon publishes ports on this machine; Docker Desktop's does, from inside its VM."""
    return engine_host().startswith(("unix://", "npipe://"))


def _resource_shortages(client: DockerClient, inputs: DockerHostInputs) -> list[str]:
    """One line each where memory or disk is less than the lab needs. A daemon in a VM has the VM's."""
    with docker_errors("say what it has"):
        has = client.info()
    if has["Name"] == platform.node() and Path(has["DockerRootDir"]).exists():
        return resource_shortages(Path(has["DockerRootDir"]), inputs.memory_mib, inputs.disk_mib)
    total = int(has["MemTotal"]) // MIB
    if total >= inputs.memory_mib:
        return []
    return [
        f"memory: the chosen services need {inputs.memory_mib} MiB, the daemon has {total} MiB; a Docker that runs in "
        "a VM (Docker Desktop: Settings, Resources; colima: `colima start --memory`) can be given more"
    ]
