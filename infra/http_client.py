# SPDX-License-Identifier: Apache-2.0
"""HTTP to the lab's own services, which listen on loopback and speak no TLS."""

import functools
import ssl

import httpx


@functools.cache
def client() -> httpx.Client:
    """One client for all that a process asks; threads may share it.

    A client of its own for each request would read the certificates of every authority each time, which takes longer
    than most answers. This one trusts none. It keeps no connection: a service that was started anew meanwhile is asked
    over a new one.
    """
    nobody = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=0)
    return httpx.Client(trust_env=False, verify=nobody, limits=limits)
