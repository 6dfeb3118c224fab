# SPDX-License-Identifier: Apache-2.0
"""`labkit:index:DockerHost`: the Docker daemon of a stack, and the stack's folder on this machine."""

import shutil
from pathlib import Path
from typing import Any

from docker import DockerClient

from infra.errors import PreflightError
from infra.provider.kind import Kind, OperationContext, ReadResult
from infra.targets.docker.engine import engine_host, image_names, shared_client
from infra.targets.docker.host_preflight import check_ports_and_resources, reject_stack_of_other_checkout
from infra.targets.docker.kind_inputs import DockerHostInputs
from infra.targets.docker.runtime import Containers


class DockerHostKind(Kind[DockerHostInputs]):
    """Created first, after the preflight, and deleted last: all Docker resources depend on it."""

    name = "DockerHost"
    inputs = DockerHostInputs
    replace_on = frozenset({"root", "stack"})

    def create(self, inputs: DockerHostInputs, call: OperationContext) -> dict[str, Any]:
        client = shared_client()
        reject_stack_of_other_checkout(client, inputs)
        _require_images(client, inputs)
        Containers(inputs.stack).remove_unmanaged(set)  # orphans of a run whose state is lost
        check_ports_and_resources(client, inputs, call.report)
        Path(inputs.root).mkdir(parents=True, exist_ok=True, mode=0o700)
        return {}

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
