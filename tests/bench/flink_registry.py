# SPDX-License-Identifier: Apache-2.0
"""A schema registry that only answers: no other process takes part of two processors while Flink is measured."""

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit


@contextmanager
def running_registry(schemas: Mapping[int, str]) -> Iterator[int]:
    """Answers `GET .../schemas/ids/ID?...` in Confluent's way, whatever stands behind the `?`; yields its port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            number = urlsplit(self.path).path.rpartition("/")[2]
            known = number.isdecimal() and int(number) in schemas
            found = {"schema": schemas[int(number)]} if known else {"error_code": 40403, "message": "Schema not found"}
            body = json.dumps(found).encode()
            self.send_response(HTTPStatus.OK if known else HTTPStatus.NOT_FOUND)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """A figure is no place for a line of each request."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
