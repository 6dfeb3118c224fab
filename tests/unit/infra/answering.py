# SPDX-License-Identifier: Apache-2.0
"""Small HTTP servers of tests, each on a free port of loopback."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@contextmanager
def serving(handler: type[BaseHTTPRequestHandler], port: int = 0) -> Iterator[ThreadingHTTPServer]:
    """A server that goes with the block. What it was `asked` is for the handler to note."""
    with ThreadingHTTPServer(("127.0.0.1", port), handler) as running:
        running.asked = []
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        try:
            yield running
        finally:
            running.shutdown()
            thread.join()


def next_answer(server: ThreadingHTTPServer) -> Any:
    """The next of the server's `answers`, the last one for ever."""
    return server.answers.pop(0) if len(server.answers) > 1 else server.answers[0]
