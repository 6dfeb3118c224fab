# SPDX-License-Identifier: Apache-2.0
"""Connection checks of service addresses, without the retries of the services' clients."""

import socket
from urllib.parse import urlsplit

CONNECT_TIMEOUT_SECONDS = 5

NO_RESPONSE = "nothing responds"
"""Cause in messages about an address that accepts no connections."""


def accepts_connections(host: str, port: int, timeout: float = CONNECT_TIMEOUT_SECONDS) -> bool:
    """Return whether the port accepts connections."""
    try:
        socket.create_connection((host, port), timeout=timeout).close()
    except OSError:
        return False
    return True


def url_accepts_connections(url: str) -> bool:
    """Return whether the port of an HTTP URL accepts connections."""
    address = urlsplit(url)
    return accepts_connections(str(address.hostname), address.port or 80)
