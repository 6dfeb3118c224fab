# SPDX-License-Identifier: Apache-2.0
"""Addresses of existing services in the settings: types of the settings, and their parsers."""

import ipaddress
import re
from collections.abc import Iterable
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator

from infra.errors import SettingsError
from infra.model import Address, Site
from infra.settings import Settings

_SERVER = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?:(?P<port>[1-9]\d{0,4})")
_ROLE = re.compile(r"[A-Za-z0-9_.-]+")
_DEFAULT_PORTS = {"http": 80, "https": 443}
_LAST_PORT = 65535


def parse_servers(text: str) -> Address:
    """Parse `HOST:PORT[,HOST:PORT...]`.

    Raises:
        ValueError: the text has another form.
    """
    servers = text.split(",")
    if not all(map(_is_server, servers)):
        raise ValueError("must be HOST:PORT, or HOST:PORT,HOST:PORT for several servers of one cluster")
    first, *further = (Address(host, int(port)) for host, _, port in (server.rpartition(":") for server in servers))
    return Address(first.host, first.port, further=tuple(further))


def parse_url(text: str) -> Address:
    """Parse `http://HOST[:PORT][/PATH]`, or the same with `https`.

    Raises:
        ValueError: the text has another form.
    """
    url = urlsplit(text)
    if url.username is not None or url.password is not None:
        raise ValueError("must not contain a user or password")
    server = url.netloc if ":" in url.netloc else f"{url.netloc}:{_DEFAULT_PORTS.get(url.scheme)}"
    if url.scheme not in _DEFAULT_PORTS or url.query or url.fragment or not _is_server(server):
        raise ValueError("must be http://HOST:PORT or https://HOST:PORT, with a path if the service has one")
    host, _, port = server.rpartition(":")
    return Address(host, int(port), url.scheme, url.path.rstrip("/"))


def parse_database_server(text: str) -> Address:
    """Parse `[USER@]HOST:PORT`.

    Raises:
        ValueError: the text has another form.
    """
    user, separator, server = text.rpartition("@")
    if ":" in user:
        raise ValueError("must not contain a password")
    if (separator and not _ROLE.fullmatch(user)) or not _is_server(server):
        raise ValueError("must be HOST:PORT or USER@HOST:PORT")
    host, _, port = server.rpartition(":")
    return Address(host, int(port), user=user)


def _is_server(text: str) -> bool:
    found = _SERVER.fullmatch(text)
    return found is not None and int(found["port"]) <= _LAST_PORT


def _check_servers(text: str) -> str:
    if text:
        parse_servers(text)
    return text


def _check_url(text: str) -> str:
    if text:
        parse_url(text)
    return text


def _check_database_server(text: str) -> str:
    if text:
        parse_database_server(text)
    return text


ServersSetting = Annotated[str, AfterValidator(_check_servers)]
UrlSetting = Annotated[str, AfterValidator(_check_url)]
DatabaseServerSetting = Annotated[str, AfterValidator(_check_database_server)]
"""Types of settings with the address of an existing service; empty: the lab runs its own."""


def is_external(site: Site, service: str) -> Literal[True] | None:
    """Return True if an existing service replaces one of the lab, else None, as in `DataResource.external`."""
    return True if service in site.external else None


def reject_loopback(settings: Settings, setting: str, addresses: Iterable[Address]) -> None:
    """Reject an address that containers cannot reach.

    Raises:
        SettingsError: the target runs containers, in which a loopback address is the container itself.
    """
    for address in addresses:
        reject_loopback_host(settings, f"lineage-lab:{setting}", address.host, str(address))


def reject_loopback_host(settings: Settings, what: str, host: str, shown: str = "") -> None:
    """Reject a host name or address that containers cannot reach.

    Args:
        settings: settings of the stack.
        what: what has the host, for the message.
        host: the host.
        shown: what the message says instead of the host.

    Raises:
        SettingsError: as `reject_loopback`.
    """
    if settings.target != "local" and _is_loopback(host):
        raise SettingsError(
            f"{what} is {shown or host}, and with target {settings.target} that is the container itself: set the name "
            "or address by which both this machine and the containers reach the service"
        )


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"
