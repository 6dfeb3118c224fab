# SPDX-License-Identifier: Apache-2.0
"""Addresses and paths of services in containers: host names on the stack's network, paths in the image."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal, Self

from infra.catalog import ENDPOINTS, external_services
from infra.model import Address, Listener
from infra.project import CERTIFICATES_FOLDER, CREDENTIALS_FILE, PROJECT, STATE
from infra.settings import TLS, Settings
from infra.targets.container_paths import (
    CREDENTIALS_FOLDER,
    FILES,
    PROGRAMS,
    PROJECT_FOLDER,
    SCRATCH,
    VOLUMES,
    host_name,
)
from infra.targets.docker.images.wheels import PYTHON
from infra.targets.site import INSIDE, LOOPBACK, BaseSite
from infra.toolchain import Artifacts

ALL_INTERFACES = "0.0.0.0"

OUTSIDE = "OUTSIDE"
"""Name of the listener of an advertised endpoint for clients on the user's machine."""

OUTSIDE_PORT_SHIFT = 10_000
"""Difference between the ports of the `OUTSIDE` and the `INSIDE` listener in a container."""


@dataclass(frozen=True)
class ImagePrograms:
    """Locations of the programs in the lab's images; implements `infra.targets.launch_script.Programs`.

    Attributes:
        included: returns True if the images contain an optional component.
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
class ContainerSite(BaseSite):
    """Site of a stack in containers. Inside the network, services have their default ports.

    Attributes:
        stack: the stack's name.
        checkout: path of the checkout on the user's machine; with the name, it identifies the lab.
    """

    stack: str
    checkout: Path

    @classmethod
    def of_stack(cls, stack: str, settings: Settings, artifacts: Artifacts) -> Self:
        """Return the site of a stack of this checkout."""
        return cls(
            stack=stack,
            checkout=PROJECT,
            port_offset=settings.port_offset,
            endpoints=ENDPOINTS,
            programs=ImagePrograms(artifacts.has),
            external=external_services(settings),
            tls=settings.security == TLS,
        )

    @property
    def runs_images(self) -> bool:
        return True

    @property
    def interface(self) -> str:
        return ALL_INTERFACES

    @property
    def client_credentials(self) -> str:
        return str(self.checkout / STATE.name / self.stack / CREDENTIALS_FILE)

    def certificate_file(self, *path: str) -> str:
        return str(PurePosixPath(CREDENTIALS_FOLDER, CERTIFICATES_FOLDER, *path))

    def host(self, service: str) -> str:
        return host_name(service)

    def listen(self, service: str, endpoint: str) -> Address:
        known = self._endpoint(service, endpoint)
        return Address(LOOPBACK if known.private else ALL_INTERFACES, known.port)

    def _own_address(self, service: str, endpoint: str, seen_from: Literal["inside", "outside"]) -> Address:
        known = self._endpoint(service, endpoint)
        if known.private:
            return Address(LOOPBACK, known.port)
        if seen_from == "outside":
            return Address(LOOPBACK, known.port + self.port_offset)
        return Address(host_name(service), known.port)

    def listeners(self, service: str, endpoint: str) -> tuple[Listener, ...]:
        bind = self.listen(service, endpoint)
        outside = Address(ALL_INTERFACES, self.container_port(service, endpoint))
        return (
            Listener(INSIDE, bind, self.address(service, endpoint)),
            Listener(OUTSIDE, outside, self.address(service, endpoint, "outside")),
        )

    def container_port(self, service: str, endpoint: str) -> int:
        """Return the container port behind the published port."""
        known = self._endpoint(service, endpoint)
        return known.port + (OUTSIDE_PORT_SHIFT if known.advertised else 0)

    def file(self, service: str, name: str) -> str:
        return f"{FILES}/{name}"

    def volume(self, service: str, name: str) -> str:
        return f"{VOLUMES}/{name}"

    def python_packages(self, environment: str) -> str:
        return str(self.programs.python(environment).parents[1] / "lib" / f"python{PYTHON}" / "site-packages")

    def scratch(self, service: str) -> str:
        return SCRATCH

    def project_file(self, path: str) -> str:
        return f"{PROJECT_FOLDER}/{path}"
