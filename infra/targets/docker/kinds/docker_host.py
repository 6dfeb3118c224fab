# SPDX-License-Identifier: Apache-2.0
"""`labkit:index:DockerHost`: the Docker daemon of a stack, and the stack's folder on this machine."""

import platform
import shutil
from pathlib import Path
from typing import Any

from docker import DockerClient

from infra.errors import PreflightError
from infra.provider.kind import Kind, OperationContext, ReadResult
from infra.provider.preflight import busy_ports, enforce_preflight, resource_shortages
from infra.targets.docker.engine import docker_errors, engine_host, image_names, shared_client
from infra.targets.docker.kind_inputs import DockerHostInputs
from infra.targets.docker.runtime import Containers
from infra.targets.labels import CHECKOUT_LABEL, STACK_LABEL

MIB = 2**20


class DockerHostKind(Kind[DockerHostInputs]):
    """Created first, after the preflight, and deleted last: all Docker resources depend on it."""

    name = "DockerHost"
    inputs = DockerHostInputs
    replace_on = frozenset({"root", "stack"})

    def create(self, inputs: DockerHostInputs, call: OperationContext) -> dict[str, Any]:
        client = shared_client()
        _reject_stack_of_other_checkout(client, inputs)
        _require_images(client, inputs)
        Containers(inputs.stack).remove_unmanaged(set)  # orphans of a run whose state is lost
        self._preflight(client, inputs, call)
        Path(inputs.root).mkdir(parents=True, exist_ok=True, mode=0o700)
        return {}

    def _preflight(self, client: DockerClient, inputs: DockerHostInputs, call: OperationContext) -> None:
        busy = busy_ports(inputs.ports) if _is_local_daemon() else []
        short = _resource_shortages(client, inputs)
        enforce_preflight(
            f"the Docker daemon at {engine_host()}", inputs.stack, busy, short, inputs.preflight, call.report
        )

    def read(self, inputs: DockerHostInputs, call: OperationContext) -> ReadResult[DockerHostInputs] | None:
        """Return the inputs without missing images, so that the next update checks the images.

        An unreachable daemon is an error: reporting it as missing would create it again, which removes the containers
        of other resources.
        """
        missing = _missing_images(shared_client(), inputs)
        images = {part: image for part, image in inputs.images.items() if part not in missing}
        return ReadResult(inputs.model_copy(update={"images": images}))

    def update(self, old: DockerHostInputs, new: DockerHostInputs, call: OperationContext) -> dict[str, Any]:
        """Check that the images exist; ports, memory and disk are checked before the first start only."""
        _require_images(shared_client(), new)
        return {}

    def delete(self, inputs: DockerHostInputs, call: OperationContext) -> None:
        """Remove the stack's folder, and containers, networks and volumes that are not in Pulumi's state."""
        Containers(inputs.stack).shut_down()
        shutil.rmtree(inputs.root, ignore_errors=True)


def _reject_stack_of_other_checkout(client: DockerClient, inputs: DockerHostInputs) -> None:
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


def _require_images(client: DockerClient, inputs: DockerHostInputs) -> None:
    """Raise PreflightError if an image is missing; the vendor's plugin would try to pull it from a public registry."""
    if missing := _missing_images(client, inputs):
        raise PreflightError(
            f"the images of {', '.join(missing)} are missing on the Docker daemon at {engine_host()}. Build them: "
            f"bin/lab images build --stack {inputs.stack}"
        )


def _missing_images(client: DockerClient, inputs: DockerHostInputs) -> list[str]:
    """Return the names of the services and tasks whose image the daemon lacks."""
    existing = image_names(client) if inputs.images else set()
    return sorted(part for part, image in inputs.images.items() if image not in existing)


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
