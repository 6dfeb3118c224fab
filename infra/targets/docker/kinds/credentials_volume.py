# SPDX-License-Identifier: Apache-2.0
"""`labkit:index:CredentialsVolume`: the stack's credentials in a Docker volume, from where containers read them.

So they are no container's environment, argument or label, and in nobody's state; they reach a daemon that shares no
folder with this machine, too.
"""

import io
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from docker import DockerClient
from docker.errors import NotFound
from docker.models.containers import Container

from infra import credentials
from infra.errors import LabError
from infra.provider.kind import Call, Kind, ReadResult
from infra.targets.docker.engine import docker_errors, shared_client, text_of
from infra.targets.docker.kind_inputs import CredentialsVolumeInputs
from infra.targets.docker.names import CREDENTIALS_FOLDER, CREDENTIALS_NAME, USER

OWNER_MAY_READ = 0o400


class CredentialsVolumeKind(Kind[CredentialsVolumeInputs]):
    """The volume itself is another resource."""

    name = "CredentialsVolume"
    inputs = CredentialsVolumeInputs
    replace_on = frozenset({"volume"})

    def create(self, inputs: CredentialsVolumeInputs, call: Call) -> dict[str, Any]:
        text = credentials.render(credentials.read(Path(inputs.path)))
        with _container(inputs) as container, docker_errors(f"write to volume {inputs.volume}"):
            container.put_archive(CREDENTIALS_FOLDER, _packed(text))
        return {}

    def read(self, inputs: CredentialsVolumeInputs, call: Call) -> ReadResult[CredentialsVolumeInputs] | None:
        if not _volume_exists(shared_client(), inputs.volume):
            return None
        with _container(inputs) as container, docker_errors(f"read volume {inputs.volume}"):
            text = text_of(container, f"{CREDENTIALS_FOLDER}/{CREDENTIALS_NAME}")
        if text is None:
            return None
        same = credentials.fingerprint(credentials.parse(text)) == inputs.fingerprint
        return ReadResult(inputs) if same else None

    def update(self, old: CredentialsVolumeInputs, new: CredentialsVolumeInputs, call: Call) -> dict[str, Any]:
        return self.create(new, call)

    def delete(self, inputs: CredentialsVolumeInputs, call: Call) -> None:
        """They go with the volume."""


def _volume_exists(client: DockerClient, volume: str) -> bool:
    try:
        with docker_errors(f"look at volume {volume}"):
            client.volumes.get(volume)
    except LabError as error:
        if isinstance(error.__cause__, NotFound):
            return False
        raise
    return True


@contextmanager
def _container(inputs: CredentialsVolumeInputs) -> Iterator[Container]:
    """A container that has the volume, for as long as that takes. Archives go in and out without starting it."""
    client = shared_client()
    with docker_errors(f"make a container of {inputs.image} for volume {inputs.volume}"):
        container = client.containers.create(
            inputs.image, ["true"], labels=inputs.labels, volumes={inputs.volume: {"bind": CREDENTIALS_FOLDER}}
        )
    try:
        yield container
    finally:
        with docker_errors(f"remove container {container.name}"):
            container.remove(force=True)


def _packed(text: str) -> bytes:
    """A tar of the one file, which only the user of the services can read."""
    content = text.encode()
    entry = tarfile.TarInfo(CREDENTIALS_NAME)
    entry.size, entry.mode, entry.uid, entry.gid = len(content), OWNER_MAY_READ, USER, USER
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        archive.addfile(entry, io.BytesIO(content))
    return packed.getvalue()
