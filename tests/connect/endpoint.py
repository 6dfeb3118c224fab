# SPDX-License-Identifier: Apache-2.0
"""Takes lineage events as the lineage service does, one by one or in batches, or misbehaves when told to."""

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


class Mood(Enum):
    """What it does with a request."""

    TAKE = "take"
    RESET = "reset"
    """Close the connection without an answer."""
    HANG = "hang"
    """Never answer, until it is told to do something else."""
    ERROR = "error"
    """Answer 500."""
    GARBAGE = "garbage"
    """Answer what is no HTTP."""


class Endpoint:
    """The events that were taken, in the order of their arrival, and how many requests there were of any kind."""

    def __init__(self, required: Mapping[str, str]) -> None:
        self.mood = Mood.TAKE
        self.required = required
        self.url = ""
        self._events: list[dict[str, Any]] = []
        self._requests = 0
        self._changed = Condition()
        self._released = Event()

    @property
    def events(self) -> list[dict[str, Any]]:
        """What has been taken so far."""
        with self._changed:
            return list(self._events)

    @property
    def requests(self) -> int:
        """How many requests have come so far, whatever became of them."""
        with self._changed:
            return self._requests

    def turn(self, mood: Mood) -> None:
        """Behave in another way from the next request on; requests that hang are let go."""
        self.mood = mood
        self._released.set()
        if mood is Mood.HANG:
            self._released.clear()

    def wait_for(self, enough: Callable[[], bool], seconds: float) -> bool:
        """Wait until `enough`, which is asked anew at every request. False where it never was."""
        with self._changed:
            return self._changed.wait_for(enough, seconds)

    def count(self) -> None:
        """A request has come."""
        with self._changed:
            self._requests += 1
            self._changed.notify_all()

    def take(self, events: list[dict[str, Any]]) -> None:
        """Keep events."""
        with self._changed:
            self._events += events
            self._changed.notify_all()

    def hang(self) -> None:
        """Until the mood changes."""
        self._released.wait()


@contextmanager
def listening(
    port: int = 0, tls: ssl.SSLContext | None = None, required: Mapping[str, str] | None = None
) -> Iterator[Endpoint]:
    """An endpoint on loopback; port 0 is any free one. Requests without the `required` headers get 401."""
    endpoint = Endpoint(required or {})
    server = ThreadingHTTPServer(("127.0.0.1", port), type("Handler", (_Handler,), {"endpoint": endpoint}))
    server.daemon_threads = True  # a request that hangs must not keep the test run from ending
    endpoint.url = f"http://127.0.0.1:{server.server_port}"
    if tls:
        # The handshake is left to the request's own thread: a client that breaks it off must not stop the others.
        server.socket = tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        endpoint.url = endpoint.url.replace("http:", "https:")
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, name="lineage-endpoint")
    thread.start()
    try:
        yield endpoint
    finally:
        endpoint.turn(Mood.RESET)
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    endpoint: Endpoint

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.endpoint.count()
        if any(self.headers[name] != value for name, value in self.endpoint.required.items()):
            self._answer(401, {"error": {"code": "unauthorized", "message": "who are you?", "details": {}}})
            return
        match self.endpoint.mood:
            case Mood.TAKE:
                self._take(json.loads(body))
            case Mood.RESET:
                self.close_connection = True
            case Mood.HANG:
                self.endpoint.hang()
                self.close_connection = True
            case Mood.ERROR:
                self._answer(500, {"error": {"code": "internal", "message": "as the test wants it", "details": {}}})
            case Mood.GARBAGE:
                self.wfile.write(b"\x00\xff} this is no HTTP {\r\n\r\n")
                self.close_connection = True

    def _take(self, content: Any) -> None:
        if self.path == SINGLE:
            self.endpoint.take([content])
            self._answer(201, {})
        elif self.path == BATCH:
            self.endpoint.take(content)
            self._answer(200, {"received": len(content), "stored": len(content), "duplicates": 0})
        else:
            self._answer(404, {"error": {"code": "not_found", "message": self.path, "details": {}}})

    def _answer(self, status: int, content: dict[str, Any]) -> None:
        text = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, format: str, *arguments: Any) -> None:
        """Nothing: a test's output is its own."""
