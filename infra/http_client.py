# SPDX-License-Identifier: Apache-2.0
"""HTTP client for the lab's services, which listen on loopback without TLS."""

import functools
import ssl

import httpx


@functools.cache
def client() -> httpx.Client:
    """Return the HTTP client of this process; it is thread-safe.

    A client per request would load all CA certificates each time, which takes longer than most requests; this client
    trusts no certificate authority. Connections are not kept alive, because a service may restart between requests.
    """
    no_authorities = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=0)
    return httpx.Client(trust_env=False, verify=no_authorities, limits=limits)
