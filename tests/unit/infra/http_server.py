# SPDX-License-Identifier: Apache-2.0
"""HTTP servers with scripted responses, on free loopback ports."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@contextmanager
def serving(handler: type[BaseHTTPRequestHandler], port: int = 0) -> Iterator[ThreadingHTTPServer]:
    """Run a server until the block ends. Its handler appends to `received` and sends `responses`."""
    with ThreadingHTTPServer(("127.0.0.1", port), handler) as running:
        running.received = []
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        try:
            yield running
        finally:
            running.shutdown()
            thread.join()


def next_response(server: ThreadingHTTPServer) -> Any:
    """Return the next of the server's `responses`; the last one is repeated."""
    return server.responses.pop(0) if len(server.responses) > 1 else server.responses[0]
