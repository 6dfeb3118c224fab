# SPDX-License-Identifier: Apache-2.0
"""Definition of a service: everything that the lab, the command line and the lineage page need to include it.

A module in `infra/services` that sets `DEFINITION` (or `DEFINITIONS`, for an engine of several processes) adds a
service to the lab; nothing else in the tree lists services (`infra.services.discovery`).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from infra.errors import SettingsError
from infra.model import Address, Endpoint, ExternalService, Part, Resource, Service, Site, Task
from infra.settings import Settings, SettingsSection
from infra.user_files import UserFiles

FULL = "full"
"""Profile of the whole lakehouse."""

CONNECT = "connect"
"""Profile of Kafka Connect with what it needs."""

EVERY_PROFILE = (FULL, CONNECT)


def _always_enabled(settings: Settings) -> bool:
    return True


def _applies_everywhere(site: Site, settings: Settings) -> bool:
    return True


def _always_available(site: Site, settings: Settings) -> str:
    return ""


def _no_check(settings: Settings) -> None:
    return None


def _unchanged(service: Service, site: Site, settings: Settings, services: Mapping[str, Service]) -> Service:
    return service


def _no_resources(site: Site, settings: Settings) -> tuple[Resource, ...]:
    return ()


def _no_variables(site: Site) -> dict[str, str]:
    return {}


def _no_secret_files(settings: Settings) -> dict[str, Path]:
    return {}


def _no_components(settings: Settings) -> dict[str, str]:
    return {}


def require_kubernetes(settings: Settings, key: str, replicas: int) -> None:
    """Raise SettingsError if a setting asks for several replicas on a target that runs one of each service."""
    if replicas > 1 and settings.target != "kubernetes":
        raise SettingsError(
            f"lineage-lab:{key} is {replicas}, and target {settings.target} runs one replica of each service: remove "
            "the setting, or set lineage-lab:target: kubernetes"
        )


@dataclass(frozen=True)
class WebPage:
    """A service's own web page: `path` at one of its endpoints."""

    endpoint: Endpoint
    path: str = "/"


@dataclass(frozen=True)
class External:
    """An existing service that can replace a service of the lab.

    Attributes:
        setting: configuration key with its address.
        address: reads the setting; None if the lab runs the service itself.
        check: renders the check of the existing service, which has the service's key.
        credentials: names of the credentials that the user provides.
    """

    setting: str
    address: Callable[[Settings], Address | None]
    check: Callable[[Site], ExternalService]
    credentials: tuple[str, ...] = ()


@dataclass(frozen=True)
class ServiceDefinition:
    """A service of the lab.

    Attributes:
        name: unique name of the service.
        build: renders the service for a site.
        complete: adds to the built service what depends on the other built services, which it receives by name.
        endpoints: every port that the service can listen on; the first one is for its clients.
        external: existing service that can replace it; None: the lab always runs it.
        components: artefacts of the toolchain that it runs on (`infra.toolchain.pins`).
        optional_components: artefacts that not every registry provides -> remedy; the lab leaves the service out
            if one is missing.
        settings: configuration keys that the service adds.
        enabled: whether the service's own settings enable it.
        applies: whether this site can run the enabled service; if not, it is left out silently.
        check: raises LabError if the settings refer to a missing or invalid user file.
        unavailable: reason and remedy, in one line, if an enabled service cannot run; empty if it can.
        feature: name under which the lineage contract can require the service (`requires`); empty for none.
        resources: databases, buckets or topics that only this service needs.
        client_environment: variables of `lab.env` by which clients find the service.
        client_secrets: secret variables of `lab.env`: variable -> name of the credential.
        tls_client_secrets: further ones in a lab with TLS.
        secret_files: JSON files of the user that hold a credential: name of the credential -> path.
        title: name on the lineage page; empty: the page does not list the service.
        web_page: the service's own page, which the lineage page links to.
        profiles: profiles of the lab that have the service (`lineage-lab:profile`).
        position: order in the lab, in `lab status` and on the page; lowest first.
    """

    name: str
    build: Callable[[Site, Settings], Service]
    complete: Callable[[Service, Site, Settings, Mapping[str, Service]], Service] = _unchanged
    endpoints: tuple[Endpoint, ...] = ()
    external: External | None = None
    components: tuple[str, ...] = ()
    optional_components: Callable[[Settings], dict[str, str]] = _no_components
    settings: type[SettingsSection] | None = None
    enabled: Callable[[Settings], bool] = _always_enabled
    applies: Callable[[Site, Settings], bool] = _applies_everywhere
    check: Callable[[Settings], None] = _no_check
    unavailable: Callable[[Site, Settings], str] = _always_available
    feature: str = ""
    resources: Callable[[Site, Settings], tuple[Resource, ...]] = _no_resources
    client_environment: Callable[[Site], dict[str, str]] = _no_variables
    client_secrets: Mapping[str, str] = field(default_factory=dict)
    tls_client_secrets: Mapping[str, str] = field(default_factory=dict)
    secret_files: Callable[[Settings], dict[str, Path]] = _no_secret_files
    title: str = ""
    web_page: WebPage | None = None
    profiles: tuple[str, ...] = (FULL,)
    position: int = 100

    def requested(self, settings: Settings) -> bool:
        """Return True if the profile contains the service, its own settings enable it, and none exists already."""
        return self._in_profile(settings) and self.external_address(settings) is None

    def external_address(self, settings: Settings) -> Address | None:
        """Return the address of the existing service that replaces it in this profile; None if there is none."""
        return self.external.address(settings) if self.external and self._in_profile(settings) else None

    def _in_profile(self, settings: Settings) -> bool:
        return settings.profile in self.profiles and self.enabled(settings)

    def included(self, site: Site, settings: Settings) -> bool:
        """Return True if the lab includes the service."""
        return self.requested(settings) and self.applies(site, settings) and not self.unavailable(site, settings)


@dataclass(frozen=True)
class Draft:
    """A lab under construction.

    Attributes:
        site: the target that it is built for.
        settings: settings of the stack.
        files: connectors and jobs of the user.
        parts: parts added so far.
        reserved: names of all defined services, included or not.
    """

    site: Site
    settings: Settings
    files: UserFiles
    parts: tuple[Part, ...]
    reserved: frozenset[str]

    @property
    def taken_names(self) -> set[str]:
        """Names that are not available to user jobs."""
        return {*self.reserved, *(part.name for part in self.parts if isinstance(part, Service | Task))}

    @property
    def possible_needs(self) -> set[str]:
        """Keys that user jobs can list in `needs`: all parts except tasks, which run to completion."""
        return {part.key for part in self.parts if not isinstance(part, Task)}


Pipeline = Callable[[Draft], Sequence[Part]]
"""Function that returns parts of the data pipeline: topics, tables, connectors, jobs."""
