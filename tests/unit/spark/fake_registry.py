# SPDX-License-Identifier: Apache-2.0
"""Fake schema registry: responses to `GET /schemas/ids/ID` on loopback."""

import json
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

NOT_FOUND = (404, {"error_code": 40403, "message": "Schema not found"})

Answer = tuple[int, object]
"""Status and body; a bytes body is sent unchanged."""


class FakeRegistry:
    """Serves schemas by id in Confluent's format, or configured responses by id. The query of a request is ignored.

    Both may be changed while it runs.
    """

    def __init__(self, schemas: Mapping[int, str], answers: Mapping[int, Answer] | None = None) -> None:
        others = {} if answers is None else answers
        self.requested: list[int] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                path, _, number = urlsplit(self.path).path.rpartition("/")
                assert path == "/apis/ccompat/v7/schemas/ids"
                server.requested.append(int(number))
                known = (200, {"schema": schemas[int(number)]}) if int(number) in schemas else NOT_FOUND
                status, body = others.get(int(number), known)
                text = body if isinstance(body, bytes) else json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_: object) -> None:
                """Log nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/apis/ccompat/v7"
        self._thread = threading.Thread(target=self._server.serve_forever)

    def __enter__(self) -> "FakeRegistry":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
