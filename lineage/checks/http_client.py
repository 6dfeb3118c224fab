# SPDX-License-Identifier: Apache-2.0
"""HTTP client of the commands that read from lineage services."""

import os
from urllib.parse import urlsplit

import httpx

from lineage.checks.authorities import trusted_authorities

TIMEOUT = 60
"""Seconds: a large graph takes some of them."""

KEY_VARIABLE = "LINEAGE_READ_KEY"
"""Environment variable with the API key of a service that requires one."""

REFUSED_KEY = frozenset({401, 403})
"""Status of a request without a key that the service accepts."""

KEY_REMEDY = f"set the environment variable {KEY_VARIABLE} to a key that reads, such as that in a lab's lab.env"

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
"""Host names of this machine, which proxies cannot reach."""


def client_for(url: str) -> httpx.Client:
    """Return a client for the host of a URL; proxies of the environment apply to other machines than this one.

    Raises:
        ValueError: the URL is not an http or https URL.
        OSError: the certificate of the further authority cannot be read.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"{url!r} is not an http URL")
    key = os.environ.get(KEY_VARIABLE, "")
    return httpx.Client(
        timeout=TIMEOUT,
        headers={"Authorization": f"Bearer {key}"} if key else {},
        follow_redirects=True,
        trust_env=parts.hostname not in LOOPBACK,
        verify=trusted_authorities() if parts.scheme == "https" else True,
    )
