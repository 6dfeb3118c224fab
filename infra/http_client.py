# SPDX-License-Identifier: Apache-2.0
"""HTTP clients for the lab's services, and for existing services."""

import functools
import os
import ssl

import httpx

from lineage.checks.authorities import AUTHORITY_VARIABLE, trusted_authorities


@functools.cache
def client() -> httpx.Client:
    """Return the HTTP client of this process; it is thread-safe.

    A client per request would load all CA certificates each time, which takes longer than most requests; this client
    trusts no certificate authority. Connections are not kept alive, because a service may restart between requests.
    """
    return _client(ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT))


@functools.cache
def _tls_client(authority: str | None) -> httpx.Client:
    """Return the client for services with TLS (see `trusted_authorities`)."""
    return _client(trusted_authorities(authority))


def client_for(url: str, authority: str | None = None) -> httpx.Client:
    """Return the client for requests to a service that may have TLS.

    It trusts the authorities of this machine, and that in the file `authority`, else that of a lab with TLS.

    Raises:
        OSError: the file cannot be read.
    """
    if not url.startswith("https:"):
        return client()
    return _tls_client(authority or os.environ.get(AUTHORITY_VARIABLE))


def _client(authorities: ssl.SSLContext) -> httpx.Client:
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=0)
    return httpx.Client(trust_env=False, verify=authorities, limits=limits)
