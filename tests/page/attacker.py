# SPDX-License-Identifier: Apache-2.0
"""Page of another origin, which tries to read and change what servers on loopback hold."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class _AttackerPage(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        page = b"<!doctype html><iframe name=sink></iframe><form method=post enctype=text/plain target=sink></form>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        self.wfile.write(page)

    def log_message(self, *_: object) -> None:
        """Keep the output of the tests clean."""


@contextmanager
def attacker() -> Iterator[int]:
    """Serve a page of another origin on loopback; yield its port."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _AttackerPage)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
