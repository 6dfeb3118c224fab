# SPDX-License-Identifier: Apache-2.0
"""Inputs of the Docker target's own kinds. The program imports these, and never the kinds with their clients."""

from infra.model.inputs import Inputs
from infra.provider.preflight import Preflight


class ContainerReadyInputs(Inputs):
    """A container, and how to tell that it is ready.

    Attributes:
        container: its id.
        service: the service's name, for messages.
        probe: a command in the container that ends with 0 when the service answers; empty: it is ready once it has
            run for a second.
        seconds: how long that may take on a slow machine.
        stop_seconds: how long it is given to stop.
        may_exit: it may end well, and is then left alone until the next refresh.
        memory_mib: its limit, for messages.
    """

    container: str
    service: str
    probe: list[str]
    seconds: int
    stop_seconds: int
    may_exit: bool
    memory_mib: int


class CredentialsVolumeInputs(Inputs):
    """The volume, and what is copied to it.

    Attributes:
        volume: its name.
        path: of the file on this machine.
        image: any image that the daemon has. A container of it is made, and never started.
        labels: of that container.
        fingerprint: of the credentials: they are copied anew when they change.
    """

    volume: str
    path: str
    image: str
    labels: dict[str, str]
    fingerprint: str


class DockerHostInputs(Inputs):
    """What a stack asks of the daemon.

    Attributes:
        root: the stack's folder on this machine; it is removed with the resource.
        stack: its name, which its containers have as a label.
        checkout: tells it from a stack of that name of another checkout.
        ports: ports of this machine, by who wants them.
        memory_mib: what the services and the largest task take.
        disk_mib: what the lab writes.
        preflight: whether to refuse, where memory or disk are short.
    """

    root: str
    stack: str
    checkout: str
    ports: dict[str, int]
    memory_mib: int
    disk_mib: int
    preflight: Preflight
