# SPDX-License-Identifier: Apache-2.0
"""Interface of the place in which a lab runs: addresses, paths and what is available there."""

from dataclasses import dataclass
from typing import Literal, Protocol


@dataclass(frozen=True)
class Address:
    """Where an endpoint is reached, from the place that asked."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"

    @property
    def url(self) -> str:
        """The address as the root of a web service, without a closing slash."""
        return f"http://{self}"


@dataclass(frozen=True)
class Listener:
    """One way by which clients come to an endpoint that is `advertised`.

    Attributes:
        name: unique among those of the endpoint, in capital letters.
        bind: where the service has to listen for it.
        reached: where its clients find it, which is what they have to be told.
    """

    name: str
    bind: Address
    reached: Address


@dataclass(frozen=True)
class ClassData:
    """What lets JVMs of a component start without loading classes one by one; paths.

    Attributes:
        archive: the file of classes. It may not be there: the JVM then loads them as ever.
        configuration: an empty folder, which the archive takes for that of the component's configuration.
    """

    archive: str
    configuration: str


class Site(Protocol):
    """A service's view of the place it will run in, handed to it by the target."""

    @property
    def stack(self) -> str:
        """The name of the lab's stack."""

    @property
    def identity(self) -> str:
        """What tells this lab from every other that could be met at the same addresses."""

    @property
    def runs_images(self) -> bool:
        """Whether a service can be a public image (`PublicImage`) here."""

    @property
    def interface(self) -> str:
        """The address to bind for whatever listens on ports of its own choice."""

    @property
    def client_credentials(self) -> str:
        """Path, on the user's machine, of the file that holds the lab's credentials."""

    def host(self, service: str) -> str:
        """The name by which others reach a service or task at such ports."""

    def listen(self, service: str, endpoint: str) -> Address:
        """Where the service itself has to bind."""

    def address(self, service: str, endpoint: str, seen_from: Literal["inside", "outside"] = "inside") -> Address:
        """Where others reach it: another service (`inside`) or the user's own client (`outside`)."""

    def listeners(self, service: str, endpoint: str) -> tuple[Listener, ...]:
        """The ways by which clients come to an endpoint that is `advertised`, that of other services first."""

    def file(self, service: str, name: str) -> str:
        """The path at which the service finds one of its `files`."""

    def volume(self, service: str, name: str) -> str:
        """The path at which the service finds one of its `volumes`."""

    def scratch(self, service: str) -> str:
        """The path of a folder for temporary files, emptied when the service or task is made anew."""

    def class_path(self, component: str) -> str:
        """The class path that holds every jar of a component."""

    def component(self, name: str) -> str:
        """The path of a component's folder, for programs that look into it themselves."""

    def project_file(self, path: str) -> str:
        """The path of a file of the project, for programs that read it themselves."""

    def own_jar(self, component: str) -> str:
        """The path of the jar that the kit builds for a component, beside those that it needs."""

    def java(self) -> str:
        """The path of the `java` command, for programs that start it themselves."""

    def class_data(self, component: str) -> ClassData:
        """Where a component's archive of loaded classes is, if it was made."""

    def has(self, component: str) -> bool:
        """Whether a component that not everybody can be given is there."""
