# SPDX-License-Identifier: Apache-2.0
"""A service's view of the container it runs in: names on the stack's network, paths of the image."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from infra.model import Address, ClassData, Endpoint, Listener
from infra.project import CREDENTIALS_FILE, STATE, version
from infra.targets.docker.names import FILES, PROGRAMS, SCRATCH, VOLUMES, host
from infra.targets.launch_script import class_data

ALL_INTERFACES = "0.0.0.0"
LOOPBACK = "127.0.0.1"

INSIDE = "INSIDE"
OUTSIDE = "OUTSIDE"
OUTSIDE_SHIFT = 10_000
"""How far from its conventional port an advertised endpoint listens for clients from outside, in its container."""

PROJECT_FOLDER = f"{PROGRAMS}/project"
JARS = f"{PROGRAMS}/jars"


@dataclass(frozen=True)
class ImagePrograms:
    """Where the programs of the lab's images are (`infra.targets.launch_script.Programs`).

    Attributes:
        included: whether a component that not everybody can be given is in them.
    """

    included: Callable[[str], bool]

    def component(self, name: str) -> Path:
        return Path(PROGRAMS) / "components" / name

    def python(self, environment: str) -> Path:
        return Path(PROGRAMS) / "venvs" / environment / "bin" / "python"

    def java(self, runtime: int = 17) -> Path:
        return Path(PROGRAMS) / "java" / str(runtime) / "bin" / "java"

    def binary(self, name: str) -> Path:
        return Path(PROGRAMS) / "bin" / name

    def has(self, name: str) -> bool:
        return self.included(name)

    def class_data(self, name: str) -> Path:
        return Path(PROGRAMS) / "class-data" / name


@dataclass(frozen=True)
class DockerSite:
    """A service's view of its container and of the others.

    Attributes:
        stack: the stack's name.
        checkout: the path of the checkout on the user's machine, which with the name tells the lab from others.
        port_offset: added to conventional ports where they are published; inside, they are what they are.
        endpoints: what each service listens on.
        programs: what the images hold.
    """

    stack: str
    checkout: Path
    port_offset: int
    endpoints: Mapping[str, tuple[Endpoint, ...]]
    programs: ImagePrograms

    @property
    def identity(self) -> str:
        return f"{self.stack} of {self.checkout} on Docker"

    @property
    def runs_images(self) -> bool:
        return True

    @property
    def interface(self) -> str:
        return ALL_INTERFACES

    @property
    def client_credentials(self) -> str:
        return str(self.checkout / STATE.name / self.stack / CREDENTIALS_FILE)

    def host(self, service: str) -> str:
        return host(service)

    def listen(self, service: str, endpoint: str) -> Address:
        known = self._endpoint(service, endpoint)
        return Address(LOOPBACK if known.private else ALL_INTERFACES, known.port)

    def address(self, service: str, endpoint: str, seen_from: Literal["inside", "outside"] = "inside") -> Address:
        known = self._endpoint(service, endpoint)
        if known.private:
            return Address(LOOPBACK, known.port)
        if seen_from == "outside":
            return Address(LOOPBACK, known.port + self.port_offset)
        return Address(host(service), known.port)

    def listeners(self, service: str, endpoint: str) -> tuple[Listener, ...]:
        bind = self.listen(service, endpoint)
        return (
            Listener(INSIDE, bind, self.address(service, endpoint)),
            Listener(
                OUTSIDE,
                Address(ALL_INTERFACES, self.published(service, endpoint)),
                self.address(service, endpoint, "outside"),
            ),
        )

    def published(self, service: str, endpoint: str) -> int:
        """The port in the container that clients from outside are brought to."""
        known = self._endpoint(service, endpoint)
        return known.port + (OUTSIDE_SHIFT if known.advertised else 0)

    def file(self, service: str, name: str) -> str:
        return f"{FILES}/{name}"

    def volume(self, service: str, name: str) -> str:
        return f"{VOLUMES}/{name}"

    def scratch(self, service: str) -> str:
        return SCRATCH

    def class_path(self, component: str) -> str:
        return f"{self.programs.component(component)}/lib/*"

    def component(self, name: str) -> str:
        return str(self.programs.component(name))

    def project_file(self, path: str) -> str:
        return f"{PROJECT_FOLDER}/{path}"

    def built_jar(self, component: str) -> str:
        return f"{self.programs.component(component)}/lib/{component}-{version()}.jar"

    def java(self) -> str:
        return str(self.programs.java())

    def class_data(self, component: str) -> ClassData:
        return class_data(self.programs, component)

    def has(self, component: str) -> bool:
        return self.programs.has(component)

    def _endpoint(self, service: str, endpoint: str) -> Endpoint:
        return next(known for known in self.endpoints[service] if known.name == endpoint)
