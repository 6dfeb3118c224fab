# SPDX-License-Identifier: Apache-2.0
"""`labkit:index:CredentialsVolume`: the stack's credentials and certificates in a Docker volume for its containers.

They are in no environment, argument or label of a container and not in Pulumi's state. A volume also works with a
daemon that shares no folder with this machine.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from docker import DockerClient
from docker.errors import NotFound
from docker.models.containers import Container

from infra.errors import LabError
from infra.provider.kind import Kind, OperationContext, ReadResult
from infra.targets.container_paths import CREDENTIALS_FOLDER, CREDENTIALS_NAME
from infra.targets.credential_files import credential_files, fingerprint
from infra.targets.docker.engine import docker_errors, read_files, shared_client
from infra.targets.docker.file_archive import file_archive
from infra.targets.docker.kind_inputs import CredentialsVolumeInputs


class CredentialsVolumeKind(Kind[CredentialsVolumeInputs]):
    """Copies the credentials to a volume, which the vendor's volume resource creates and removes.

    With TLS, it copies the certificates, too, but not the key of the authority.
    """

    name = "CredentialsVolume"
    inputs = CredentialsVolumeInputs
    replace_on = frozenset({"volume"})

    def create(self, inputs: CredentialsVolumeInputs, call: OperationContext) -> dict[str, Any]:
        archive = file_archive(credential_files(inputs))
        with _temporary_container(inputs) as container, docker_errors(f"write to volume {inputs.volume}"):
            container.put_archive(CREDENTIALS_FOLDER, archive)
        return {}

    def read(
        self, inputs: CredentialsVolumeInputs, call: OperationContext
    ) -> ReadResult[CredentialsVolumeInputs] | None:
        if not _volume_exists(shared_client(), inputs.volume):
            return None
        with _temporary_container(inputs) as container, docker_errors(f"read volume {inputs.volume}"):
            found = read_files(container, CREDENTIALS_FOLDER)
        if CREDENTIALS_NAME not in found:
            return None
        return ReadResult(inputs) if fingerprint(inputs, found) == inputs.fingerprint else None

    def update(
        self, old: CredentialsVolumeInputs, new: CredentialsVolumeInputs, call: OperationContext
    ) -> dict[str, Any]:
        return self.create(new, call)

    def delete(self, inputs: CredentialsVolumeInputs, call: OperationContext) -> None:
        """Do nothing: the credentials are removed with the volume."""


def _volume_exists(client: DockerClient, volume: str) -> bool:
    try:
        with docker_errors(f"inspect volume {volume}"):
            client.volumes.get(volume)
    except LabError as error:
        if isinstance(error.__cause__, NotFound):
            return False
        raise
    return True


@contextmanager
def _temporary_container(inputs: CredentialsVolumeInputs) -> Iterator[Container]:
    """Create a container that mounts the volume, without starting it: archives can be read and written."""
    client = shared_client()
    with docker_errors(f"create a container of {inputs.image} for volume {inputs.volume}"):
        container = client.containers.create(
            inputs.image, ["true"], labels=inputs.labels, volumes={inputs.volume: {"bind": CREDENTIALS_FOLDER}}
        )
    try:
        yield container
    finally:
        with docker_errors(f"remove container {container.name}"):
            container.remove(force=True)
