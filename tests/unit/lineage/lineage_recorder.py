# SPDX-License-Identifier: Apache-2.0
"""Fake OpenLineage consumer: a real HTTP server that records events and fails as configured."""

import json
import threading
import time
from collections.abc import Callable
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Rule = Callable[[dict[str, Any]], "int | tuple[int, dict[str, str]]"]
"""Function that returns the status (and headers) for an event."""

WAIT_SECONDS = 300
LOOPBACK = "127.0.0.1"
TERMINAL = {"COMPLETE", "FAIL", "ABORT"}


def accept(_event: dict[str, Any]) -> int:
    return 201


class Recorder:
    """Consumer with the accepted events in `events` and every attempt in `attempts`.

    `rule` selects the status; `hang` withholds responses.
    """

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []
        self.attempts: list[tuple[dict[str, Any], int]] = []
        self.encodings: set[str | None] = set()
        self.authorizations: set[str | None] = set()
        self.most_at_once = 0
        self.rule: Rule = accept
        self.healthy = False
        self.hang = False
        self.port = 0
        self._at_once = 0
        self._lock = threading.Lock()
        self._released = threading.Event()
        self._server: ThreadingHTTPServer | None = None
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        return f"http://{LOOPBACK}:{self.port}"

    def start(self) -> None:
        """Start listening, on the previous port after a restart."""
        self._released.clear()
        server = _Server((LOOPBACK, self.port), _handler(self))
        self.port = server.server_address[1]
        self._server = server
        self._thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        self._thread.start()

    def stop(self) -> None:
        """Refuse connections and close the open ones."""
        if self._server is None or self._thread is None:
            return
        self._released.set()
        self._server.shutdown()
        self._thread.join()
        self._server.close_all()
        self._server = self._thread = None

    def release(self) -> None:
        """Stop hanging; pending requests are dropped."""
        self.hang = False
        self._released.set()

    def wait_for(self, condition: Callable[[], bool], what: str) -> None:
        """Wait until the condition holds; fail at the timeout."""
        deadline = time.monotonic() + WAIT_SECONDS
        while not condition():
            assert time.monotonic() < deadline, f"{what}: {len(self.events)} events, {len(self.attempts)} attempts"
            time.sleep(0.01)

    def of_run(self, run: str) -> list[dict[str, Any]]:
        return [event for event in list(self.events) if event.get("run", {}).get("runId") == run]

    def read(self, _path: str) -> tuple[int, bytes]:
        """Return status and body of a GET."""
        return 200 if self.healthy else 404, b"{}"

    def take(self, event: dict[str, Any], encoding: str | None) -> "tuple[int, dict[str, str]] | None":
        with self._lock:
            self.encodings.add(encoding)
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
        if self.hang:
            self._released.wait()
            answer: tuple[int, dict[str, str]] | None = None
        else:
            said = self.rule(event)
            answer = said if isinstance(said, tuple) else (said, {})
        with self._lock:
            self._at_once -= 1
            self.attempts.append((event, answer[0] if answer else 0))
            if answer and answer[0] < 300:
                self.events.append(event)
        return answer


class _Server(ThreadingHTTPServer):
    daemon_threads = False
    block_on_close = True
    request_queue_size = 64

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._open: set[Any] = set()

    def process_request(self, request: Any, client_address: Any) -> None:
        self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._open.discard(request)
        super().shutdown_request(request)

    def close_all(self) -> None:
        """Close idle connections too, then join their threads."""
        for request in list(self._open):
            try:
                request.shutdown(2)
            except OSError:
                self._open.discard(request)
        self.server_close()


def _handler(recorder: Recorder) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            content = self.rfile.read(int(self.headers["Content-Length"]))
            recorder.authorizations.add(self.headers.get("Authorization"))
            answer = recorder.take(json.loads(content), self.headers.get("Content-Encoding"))
            if answer is None:
                self.close_connection = True
                return
            self._answer(answer[0], b"recorded" if answer[0] < 300 else b"refused by the recorder", answer[1])

        def do_GET(self) -> None:
            self._answer(*recorder.read(self.path), {})

        def _answer(self, status: int, body: bytes, headers: dict[str, str]) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_arguments: Any) -> None:
            """Log nothing."""

    return Handler


@contextmanager
def recording(kind: type[Recorder] = Recorder):
    """Provide a listening recorder."""
    recorder = kind()
    recorder.start()
    try:
        yield recorder
    finally:
        recorder.release()
        recorder.stop()


def assert_valid_stream(events: list[dict[str, Any]]) -> None:
    """Assert that the events of each run are complete and that no open event follows a terminal one."""
    ended: dict[str, str] = {}
    for event in events:
        assert_complete(event)
        if "run" not in event:
            continue
        run, event_type = event["run"]["runId"], event["eventType"]
        assert run not in ended or event_type in TERMINAL, f"{event_type} after {ended[run]} of {run}"
        if event_type in TERMINAL:
            ended[run] = event_type


def assert_complete(event: dict[str, Any]) -> None:
    if "job" not in event:
        return
    assert isinstance(event["inputs"], list)
    assert isinstance(event["outputs"], list)
    assert event["job"]["facets"]["jobType"]["processingType"]
    if "run" in event:
        assert event["eventType"]
        assert isinstance(event["run"]["facets"], dict)
    for dataset in (*event["inputs"], *event["outputs"]):
        for field in dataset["facets"].get("columnLineage", {}).get("fields", {}).values():
            assert isinstance(field["inputFields"], list)
