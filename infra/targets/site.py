# SPDX-License-Identifier: Apache-2.0
"""Members of `infra.model.Site` that do not depend on the target."""

import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from infra.errors import LabError
from infra.model import Address, ClassData, Endpoint, ExecutorPods, Listener
from infra.project import CERTIFICATES_FOLDER, version
from infra.targets.launch_script import Programs, class_data

LOOPBACK = "127.0.0.1"

INSIDE = "INSIDE"
"""Name of the listener of an advertised endpoint for clients on the stack's network."""


@dataclass(frozen=True, kw_only=True)
class BaseSite(ABC):
    """Base class of the targets' sites.

    Attributes:
        port_offset: added to the default ports at which the user's machine reaches the services.
        endpoints: endpoints of each service.
        programs: locations of the installed programs.
        external: addresses of existing services that replace the lab's own, by service.
        tls: whether services with certificates encrypt and authenticate.
    """

    port_offset: int
    endpoints: Mapping[str, tuple[Endpoint, ...]]
    programs: Programs
    external: Mapping[str, Address] = field(default_factory=dict)
    tls: bool = False

    @property
    def client_certificates(self) -> str:
        return str(Path(self.client_credentials).parent / CERTIFICATES_FOLDER)

    @property
    @abstractmethod
    def client_credentials(self) -> str:
        """Return the path of the credentials file on the user's machine."""

    @property
    def own_host_variable(self) -> str:
        return ""

    @property
    def executor_pods(self) -> ExecutorPods | None:
        return None

    def address(self, service: str, endpoint: str, seen_from: Literal["inside", "outside"] = "inside") -> Address:
        own = self.external.get(service) or self._own_address(service, endpoint, seen_from)
        is_encrypted = self.tls and self._endpoint(service, endpoint).tls
        return replace(own, scheme="https") if is_encrypted else own

    @abstractmethod
    def _own_address(self, service: str, endpoint: str, seen_from: Literal["inside", "outside"]) -> Address:
        """Return the address of a service of the lab."""

    def class_path(self, component: str) -> str:
        return f"{self.component(component)}/lib/*"

    def component(self, name: str) -> str:
        return str(self.programs.component(name))

    def built_jar(self, component: str) -> str:
        return f"{self.component(component)}/lib/{component}-{version()}.jar"

    def java(self) -> str:
        return str(self.programs.java())

    def python(self, environment: str) -> str:
        return str(self.programs.python(environment))

    def python_packages(self, environment: str) -> str:
        folder = self.programs.python(environment).parent.parent
        return str(folder / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages")

    def class_data(self, component: str) -> ClassData:
        return class_data(self.programs, component)

    def has(self, component: str) -> bool:
        return self.programs.has(component)

    def replica_listeners(self, service: str, endpoint: str, replica: int) -> tuple[Listener, ...]:
        raise LabError(f"{service} has several replicas, which only the target kubernetes can run")

    def replica_host(self, service: str, replica: int) -> str:
        raise LabError(f"{service} has several replicas, which only the target kubernetes can run")

    def _endpoint(self, service: str, name: str) -> Endpoint:
        return next(endpoint for endpoint in self.endpoints[service] if endpoint.name == name)
