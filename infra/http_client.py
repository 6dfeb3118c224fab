# SPDX-License-Identifier: Apache-2.0
"""HTTP clients for the lab's services, which listen on loopback without TLS, and for existing services."""

import functools
import ssl

import httpx


@functools.cache
def client() -> httpx.Client:
    """Return the HTTP client of this process; it is thread-safe.

    A client per request would load all CA certificates each time, which takes longer than most requests; this client
    trusts no certificate authority. Connections are not kept alive, because a service may restart between requests.
    """
    return _client(ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT))


@functools.cache
def _tls_client() -> httpx.Client:
    """Return the client for services with TLS, which trusts the certificate authorities of this machine."""
    return _client(ssl.create_default_context())


def client_for(url: str) -> httpx.Client:
    """Return the client for requests to a service that may be outside of the lab."""
    return _tls_client() if url.startswith("https:") else client()


def _client(authorities: ssl.SSLContext) -> httpx.Client:
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=0)
    return httpx.Client(trust_env=False, verify=authorities, limits=limits)
