# SPDX-License-Identifier: Apache-2.0
"""Addresses and paths of services that run as processes of this machine."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from infra.model import Address, Listener
from infra.project import CERTIFICATES_FOLDER, CREDENTIALS_FILE, PROJECT, reject_unsafe_path
from infra.targets.site import INSIDE, LOOPBACK, BaseSite


@dataclass(frozen=True)
class LocalSite(BaseSite):
    """Site of a local stack: loopback, default ports plus the offset, the stack's folder `root`.

    An advertised endpoint has one listener: services and the user's programs connect to the same address.

    Attributes:
        own_id: id of the lab that is kept with its data (`infra.targets.local.lab_id`); empty for one of its path.
    """

    root: Path
    own_id: str = ""

    def __post_init__(self) -> None:
        reject_unsafe_path("the checkout", self.root)

    @property
    def stack(self) -> str:
        return self.root.name

    @property
    def identity(self) -> str:
        return f"{self.own_id or self.root} on this machine"

    @property
    def runs_images(self) -> bool:
        return False

    @property
    def interface(self) -> str:
        return LOOPBACK

    @property
    def client_credentials(self) -> str:
        return str(self.root / CREDENTIALS_FILE)

    def certificate_file(self, *path: str) -> str:
        return str(self.root.joinpath(CERTIFICATES_FOLDER, *path))

    def host(self, service: str) -> str:
        return LOOPBACK

    def listen(self, service: str, endpoint: str) -> Address:
        return Address(LOOPBACK, self._endpoint(service, endpoint).port + self.port_offset)

    def _own_address(self, service: str, endpoint: str, seen_from: Literal["inside", "outside"]) -> Address:
        return self.listen(service, endpoint)

    def listeners(self, service: str, endpoint: str) -> tuple[Listener, ...]:
        return (Listener(INSIDE, self.listen(service, endpoint), self.address(service, endpoint)),)

    def file(self, service: str, name: str) -> str:
        return str(self._folder(service) / "files" / name)

    def volume(self, service: str, name: str) -> str:
        return str(self._folder(service) / "volumes" / name)

    def scratch(self, service: str) -> str:
        return str(self._folder(service) / "scratch")

    def project_file(self, path: str) -> str:
        return str(PROJECT / path)

    def _folder(self, service: str) -> Path:
        return self.root / "services" / service
