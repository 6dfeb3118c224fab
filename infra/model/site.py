# SPDX-License-Identifier: Apache-2.0
"""Interface between services and the target that runs them: addresses, paths, available components."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, Protocol


@dataclass(frozen=True)
class Address:
    """Host and port of an endpoint, as seen by one kind of client.

    Attributes:
        scheme: scheme of its URL.
        path: path of its URL, without trailing slash.
        user: role that logs in; empty: the default of the service.
        further: further servers of the same cluster, for clients that take a list.
    """

    host: str
    port: int
    scheme: str = "http"
    path: str = ""
    user: str = ""
    further: tuple["Address", ...] = ()

    def __str__(self) -> str:
        return ",".join(f"{server.host}:{server.port}" for server in (self, *self.further))

    @property
    def each(self) -> tuple["Address", ...]:
        """The servers of the cluster, one address each."""
        return (replace(self, further=()), *self.further)

    @property
    def url(self) -> str:
        """The address as an HTTP URL without trailing slash."""
        return f"{self.scheme}://{self}{self.path}"


@dataclass(frozen=True)
class Listener:
    """Listener of an `advertised` endpoint for one kind of client.

    Attributes:
        name: unique within the endpoint, in capital letters.
        bind: address that the service binds.
        reached: address that clients connect to, which the service advertises.
    """

    name: str
    bind: Address
    reached: Address


@dataclass(frozen=True)
class ClassData:
    """Paths of a component's class data sharing (CDS) archive.

    Attributes:
        archive: archive file; optional, without it the JVM loads classes from the jars.
        configuration: empty folder that the archive recorded as configuration folder on the class path.
    """

    archive: str
    configuration: str


@dataclass(frozen=True)
class ExecutorPods:
    """What a Spark driver needs to know to create its executors as pods.

    Attributes:
        template: path of the pod template.
        container: name of the executor's container in the template.
        image_variable: environment variable of the driver with the image of the pods, its own.
        name_variable: environment variable with the name of the driver's pod, which owns the executors.
        namespace_variable: environment variable with the namespace.
    """

    template: str
    container: str
    image_variable: str
    name_variable: str
    namespace_variable: str


class Site(Protocol):
    """Addresses and paths of a target, as a service sees them; implemented by each target."""

    @property
    def stack(self) -> str:
        """Name of the stack."""

    @property
    def identity(self) -> str:
        """Unique id of the lab, which distinguishes it from other labs at the same addresses."""

    @property
    def runs_images(self) -> bool:
        """True if services can run as public images (`PublicImage`)."""

    @property
    def interface(self) -> str:
        """Address to bind for programs that choose their ports at run time."""

    @property
    def client_credentials(self) -> str:
        """Path of the credentials file on the user's machine."""

    @property
    def tls(self) -> bool:
        """True if services with certificates encrypt and authenticate (`Endpoint.tls`)."""

    def certificate_file(self, *path: str) -> str:
        """Return the path of a file of `infra.security.certificates`, as services see it.

        `path` is the name of a file, or a service and the name of one of its files.
        """

    @property
    def client_certificates(self) -> str:
        """Path of the folder of the lab's certificates on the user's machine."""

    @property
    def own_host_variable(self) -> str:
        """Name of the environment variable with the address of the replica itself; empty: services have one replica."""

    @property
    def executor_pods(self) -> ExecutorPods | None:
        """Description of executor pods, for Spark drivers that create them; None if the target has none."""

    @property
    def external(self) -> Mapping[str, Address]:
        """Services that exist outside of the lab and replace its own: name -> address, equal for every client."""

    def host(self, service: str) -> str:
        """Return the host name by which others reach ports that a service or task chooses at run time."""

    def listen(self, service: str, endpoint: str) -> Address:
        """Return the address that the service binds."""

    def address(self, service: str, endpoint: str, seen_from: Literal["inside", "outside"] = "inside") -> Address:
        """Return the address for clients: other services (`inside`) or programs on the user's machine (`outside`)."""

    def listeners(self, service: str, endpoint: str) -> tuple[Listener, ...]:
        """Return the listeners of an `advertised` endpoint; the one for other services comes first."""

    def replica_listeners(self, service: str, endpoint: str, replica: int) -> tuple[Listener, ...]:
        """Return the listeners of one of several replicas, as `listeners`; replicas are numbered from 0."""

    def replica_host(self, service: str, replica: int) -> str:
        """Return the host name of one of several replicas of a service that has volumes."""

    def file(self, service: str, name: str) -> str:
        """Return the path of one of the service's `files`, as the service sees it."""

    def volume(self, service: str, name: str) -> str:
        """Return the path of one of the service's `volumes`, as the service sees it."""

    def scratch(self, service: str) -> str:
        """Return the path of a temporary folder, which is emptied when the service or task is recreated."""

    def class_path(self, component: str) -> str:
        """Return a class path of all jars of a component."""

    def component(self, name: str) -> str:
        """Return the path of a component's folder."""

    def project_file(self, path: str) -> str:
        """Return the path of a file of the project, given relative to the checkout."""

    def built_jar(self, component: str) -> str:
        """Return the path of the jar that is built from the project's sources for a component."""

    def java(self) -> str:
        """Return the path of the `java` command."""

    def python(self, environment: str) -> str:
        """Return the path of the interpreter of a virtual environment."""

    def python_packages(self, environment: str) -> str:
        """Return the path of the folder of packages of a virtual environment."""

    def class_data(self, component: str) -> ClassData:
        """Return the paths of a component's CDS archive, whether or not the archive exists."""

    def has(self, component: str) -> bool:
        """Return True if an optional component is available."""
