# SPDX-License-Identifier: Apache-2.0
"""Host names and origins of requests: the protection against DNS rebinding and against pages of other origins.

A browser sends the name that the user's page was loaded from. Behind DNS rebinding, that is the attacker's name, which
resolves to this machine; so only known names are accepted. An IP address cannot be rebound, and is always accepted.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from ipaddress import ip_address

LOOPBACK_NAMES = frozenset({"localhost"})

HOSTS_VARIABLE = "LINEAGE_ALLOWED_HOSTS"
"""Environment variable with further host names, separated by commas; the Helm chart sets it to its Ingress' host."""

_AUTHORITY = re.compile(r"(?P<host>\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::(?P<port>\d{1,5}))?", re.IGNORECASE)
_ORIGIN = re.compile(r"(?P<scheme>https?)://(?P<authority>[^/?#@]+)", re.IGNORECASE)
_DEFAULT_PORTS = {"http": "80", "https": "443"}


@dataclass(frozen=True, slots=True)
class Authority:
    """Host in lower case, without brackets and final dot, and port; the port is empty if it is the default."""

    host: str
    port: str


def parse_authority(text: str) -> Authority | None:
    """Parse the value of a Host header, `name[:port]`; None if it is malformed."""
    found = _AUTHORITY.fullmatch(text)
    if found is None:
        return None
    return Authority(found["host"].lower().strip("[]").removesuffix("."), found["port"] or "")


def hosts_of_environment(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return the host names of `HOSTS_VARIABLE`."""
    return tuple(name for part in environment.get(HOSTS_VARIABLE, "").split(",") if (name := part.strip()))


def is_address(host: str) -> bool:
    """Return True for an IP address."""
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class HostPolicy:
    """Accepted host names and origins.

    `names` are host names, `.example.org` stands for all names below; `origins` are origins of other pages that may
    use the service, such as `https://portal.example.org`.
    """

    names: frozenset[str]
    origins: frozenset[str]

    @classmethod
    def of(cls, names: Collection[str], origins: Collection[str]) -> "HostPolicy":
        """Return the policy for configured names and origins; the loopback names are always accepted."""
        return cls(
            LOOPBACK_NAMES | {name.lower() for name in names},
            frozenset(origin.lower().rstrip("/") for origin in origins),
        )

    def accepts_host(self, host: str) -> bool:
        """Return True for an IP address, a loopback name and a configured name."""
        if host in self.names or host.endswith(".localhost") or is_address(host):
            return True
        return any(name.startswith(".") and host.endswith(name) for name in self.names)

    def accepts_origin(self, origin: str, authority: Authority) -> bool:
        """Return True if `origin` is that of the requested host, or configured.

        The scheme is not compared: behind a proxy that ends TLS it differs.
        """
        if origin.lower() in self.origins:
            return True
        found = _ORIGIN.fullmatch(origin)
        other = parse_authority(found["authority"]) if found else None
        if found is None or other is None or other.host != authority.host:
            return False
        default = _DEFAULT_PORTS[found["scheme"].lower()]
        return (other.port or default) == (authority.port or default)
