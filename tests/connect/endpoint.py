# SPDX-License-Identifier: Apache-2.0
"""Fake lineage service: accepts events one by one or in batches, or fails in a configured way."""

import json
import ssl
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from enum import Enum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Condition, Event, Thread
from typing import Any

SINGLE = "/api/v1/lineage"
BATCH = "/api/v1/lineage/batch"


class Behaviour(Enum):
    """Response to a request."""

    ACCEPT = "accept"
    RESET = "reset"
    """Close the connection without a response."""
    HANG = "hang"
    """Send no response until the behaviour changes."""
    ERROR = "error"
    """Respond with status 500."""
    INVALID_HTTP = "invalid-http"
    """Send bytes that are not HTTP."""


class Endpoint:
    """Accepted events in order of arrival, and the number of requests."""

    def __init__(self, required: Mapping[str, str]) -> None:
        self.behaviour = Behaviour.ACCEPT
        self.required = required
        self.url = ""
        self._events: list[dict[str, Any]] = []
        self._requests = 0
        self._changed = Condition()
        self._released = Event()

    @property
    def events(self) -> list[dict[str, Any]]:
        """Events accepted so far."""
        with self._changed:
            return list(self._events)

    @property
    def requests(self) -> int:
        """Number of requests received so far, whatever the response."""
        with self._changed:
            return self._requests

    def set_behaviour(self, behaviour: Behaviour) -> None:
        """Change the response to later requests and release those that hang."""
        self.behaviour = behaviour
        self._released.set()
        if behaviour is Behaviour.HANG:
            self._released.clear()

    def wait_for(self, condition: Callable[[], bool], seconds: float) -> bool:
        """Wait until `condition`, evaluated at each request, is true; return whether it became true."""
        with self._changed:
            return self._changed.wait_for(condition, seconds)

    def count(self) -> None:
        """Count a request."""
        with self._changed:
            self._requests += 1
            self._changed.notify_all()

    def accept(self, events: list[dict[str, Any]]) -> None:
        """Store events."""
        with self._changed:
            self._events += events
            self._changed.notify_all()

    def hang(self) -> None:
        """Wait until the behaviour changes."""
        self._released.wait()


@contextmanager
def listening(
    port: int = 0, tls: ssl.SSLContext | None = None, required: Mapping[str, str] | None = None
) -> Iterator[Endpoint]:
    """Run an endpoint on loopback; port 0 is any free one. Requests without the `required` headers get 401."""
    endpoint = Endpoint(required or {})
    server = ThreadingHTTPServer(("127.0.0.1", port), type("Handler", (_Handler,), {"endpoint": endpoint}))
    server.daemon_threads = True  # a hanging request must not block the end of the test run
    endpoint.url = f"http://127.0.0.1:{server.server_port}"
    if tls:
        # The handshake runs in the request's thread, so that a client that aborts it does not affect others.
        server.socket = tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        endpoint.url = endpoint.url.replace("http:", "https:")
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, name="lineage-endpoint")
    thread.start()
    try:
        yield endpoint
    finally:
        endpoint.set_behaviour(Behaviour.RESET)
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    endpoint: Endpoint

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.endpoint.count()
        if any(self.headers[name] != value for name, value in self.endpoint.required.items()):
            self._respond(401, {"error": {"code": "unauthorized", "message": "required header missing", "details": {}}})
            return
        match self.endpoint.behaviour:
            case Behaviour.ACCEPT:
                self._accept(json.loads(body))
            case Behaviour.RESET:
                self.close_connection = True
            case Behaviour.HANG:
                self.endpoint.hang()
                self.close_connection = True
            case Behaviour.ERROR:
                self._respond(500, {"error": {"code": "internal", "message": "configured by the test", "details": {}}})
            case Behaviour.INVALID_HTTP:
                self.wfile.write(b"\x00\xff} this is not HTTP {\r\n\r\n")
                self.close_connection = True

    def _accept(self, content: Any) -> None:
        if self.path == SINGLE:
            self.endpoint.accept([content])
            self._respond(201, {})
        elif self.path == BATCH:
            self.endpoint.accept(content)
            self._respond(200, {"received": len(content), "stored": len(content), "duplicates": 0})
        else:
            self._respond(404, {"error": {"code": "not_found", "message": self.path, "details": {}}})

    def _respond(self, status: int, content: dict[str, Any]) -> None:
        text = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, format: str, *arguments: Any) -> None:
        """Suppress the access log."""
