# SPDX-License-Identifier: Apache-2.0
"""The HTTP client of what reads from services: checks, comparisons, questions."""

from urllib.parse import urlsplit

import httpx

SECONDS = 60
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


def client_for(url: str) -> httpx.Client:
    """A client for one host. A proxy of the environment is used for other machines alone.

    Raises:
        ValueError: it is no http or https URL.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"{url!r} is no http URL")
    return httpx.Client(timeout=SECONDS, follow_redirects=True, trust_env=parts.hostname not in _LOOPBACK)
