# SPDX-License-Identifier: Apache-2.0
"""Records the events that a job under test sends, on a port of this machine."""

import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Condition, Thread
from typing import Any

PATH = "/api/v1/lineage"
MAX_BYTES = 64 * 2**20
"""Of one event, also unpacked."""

_IDLE_SECONDS = 10
_GZIP = 16 + zlib.MAX_WBITS


class Recorder:
    """The events as they came, in the order of arrival. Everything that is JSON or not is taken and answered 201.

    It refuses nothing, so that a mistake shows in the report about the events, and not as an error in the job that
    many emitters only log.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self._bodies: list[bytes] = []
        self._arrived = Condition()

    @property
    def bodies(self) -> list[bytes]:
        """What has arrived so far, unpacked."""
        with self._arrived:
            return list(self._bodies)

    def record(self, body: bytes) -> None:
        """Take in one more event."""
        with self._arrived:
            self._bodies.append(body)
            self._arrived.notify_all()

    def wait_for(self, enough: Callable[[], bool], seconds: float) -> bool:
        """Wait until `enough`, which is asked anew whenever an event has arrived. False where it never was."""
        with self._arrived:
            return self._arrived.wait_for(enough, seconds)


@contextmanager
def recording() -> Iterator[Recorder]:
    """A recorder that listens on a free port of the loopback address."""
    # Threads are waited for at the end: a request under way is an event that belongs to this test.
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = False
    recorder = Recorder(f"http://127.0.0.1:{server.server_port}")
    server.RequestHandlerClass = type("Handler", (_Handler,), {"recorder": recorder})
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, name="lineage-recorder")
    thread.start()
    try:
        yield recorder
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Refusal(Exception):
    """A request that cannot be read."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class _Handler(BaseHTTPRequestHandler):
    """One request to a connection, as HTTP/1.0 has it: no connection outlives its test."""

    recorder: Recorder
    timeout = _IDLE_SECONDS

    def do_POST(self) -> None:
        try:
            body = _unpacked(self._body(), self.headers.get("Content-Encoding", ""))
        except _Refusal as refusal:
            self._answer(refusal.status, str(refusal))
            return
        if self.path.partition("?")[0].rstrip("/") != PATH:
            self._answer(404, f"events go to {PATH}, not to {self.path}")
            return
        self.recorder.record(body)
        self._answer(201)

    def do_GET(self) -> None:
        if self.path == "/health":
            self._answer(200)
        else:
            self._answer(404, f"this records events that are posted to {PATH}; it answers no questions")

    def log_message(self, format: str, *arguments: Any) -> None:  # noqa: ANN401
        """Nothing: a test's output is its own."""

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            return b"".join(self._chunks())
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal():
            raise _Refusal(411, "an event needs Content-Length or chunks")
        if int(length) > MAX_BYTES:
            raise _Refusal(413, f"an event may have {MAX_BYTES} bytes")
        return self.rfile.read(int(length))

    def _chunks(self) -> Iterator[bytes]:
        total = 0
        while True:
            line = self.rfile.readline(100).partition(b";")[0].strip()
            try:
                size = int(line, 16)
            except ValueError as error:
                raise _Refusal(400, "a chunk without its size") from error
            total += size
            if size < 0 or total > MAX_BYTES:
                raise _Refusal(413, f"an event may have {MAX_BYTES} bytes")
            if not size:
                while self.rfile.readline(1000).strip():  # trailers
                    pass
                return
            yield self.rfile.read(size)
            self.rfile.readline(10)

    def _answer(self, status: int, message: str = "") -> None:
        content = message.encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


def _unpacked(body: bytes, encoding: str) -> bytes:
    if encoding.strip().lower() in ("", "identity"):
        return body
    if encoding.strip().lower() != "gzip":
        raise _Refusal(415, f"content encoding {encoding!r} is not supported; send gzip or none")
    unpacker = zlib.decompressobj(_GZIP)
    try:
        unpacked = unpacker.decompress(body, MAX_BYTES + 1)
    except zlib.error as error:
        raise _Refusal(400, f"the body is no gzip: {error}") from error
    if len(unpacked) > MAX_BYTES:
        raise _Refusal(413, f"an event may have {MAX_BYTES} bytes, also unpacked")
    if not unpacker.eof:
        raise _Refusal(400, "the gzip body is cut short")
    return unpacked
