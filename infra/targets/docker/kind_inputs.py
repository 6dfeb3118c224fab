# SPDX-License-Identifier: Apache-2.0
"""Inputs of the Docker target's kinds. Separate from the kinds, so that the program does not import their clients."""

from pydantic import Field

from infra.model.inputs import Inputs
from infra.provider.preflight import Preflight
from infra.targets.copied_credentials import CopiedCredentialsInputs


class ContainerReadyInputs(Inputs):
    """A container and its readiness probe.

    Attributes:
        container: the container's id.
        service: the service's name, for messages.
        probe: command in the container that exits with 0 when the service is ready; empty: ready after running for
            1 s.
        seconds: time limit for readiness, on a slow machine.
        stop_seconds: time limit of a graceful shutdown.
        may_exit: True if the service may exit with status 0; it is not restarted before the next refresh.
        memory_mib: memory limit, for messages.
    """

    container: str
    service: str
    probe: list[str]
    seconds: int
    stop_seconds: int
    may_exit: bool
    memory_mib: int


class CredentialsVolumeInputs(CopiedCredentialsInputs):
    """A volume with a copy of the credentials and, with TLS, of the certificates.

    Attributes:
        volume: the volume's name.
        image: any image that the daemon has, for a temporary container that is never started.
        labels: labels of that container.
    """

    volume: str
    image: str
    labels: dict[str, str]


class DockerHostInputs(Inputs):
    """Requirements of a stack on the Docker daemon.

    Attributes:
        root: the stack's folder on this machine, which is removed with the resource.
        stack: the stack's name, a label of its containers.
        checkout: id of the checkout, which distinguishes stacks of the same name.
        images: image, by reference or identifier, of each service and task that does not run on a public one; a refresh
            leaves out those that the daemon lacks.
        ports: ports of this machine that the stack binds, by purpose.
        memory_mib: memory of the services and the largest task.
        disk_mib: disk space that the lab requires.
        preflight: reaction to insufficient memory or disk space.
    """

    root: str
    stack: str
    checkout: str
    images: dict[str, str] = Field(default_factory=dict)  # may be missing in the state of an earlier version
    ports: dict[str, int]
    memory_mib: int
    disk_mib: int
    preflight: Preflight
