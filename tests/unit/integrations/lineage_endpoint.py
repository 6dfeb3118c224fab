# SPDX-License-Identifier: Apache-2.0
"""Fake lineage service with configurable failures."""

import json
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

TAKEN, HANGS, GARBAGE, CUT = 201, "hangs", "garbage", "cut"
Answer = int | str


class Endpoint:
    """Returns its responses in sequence, repeating the last, and stores the accepted events."""

    def __init__(self, url: str, answers: Sequence[Answer]) -> None:
        self.url = url
        self.asked = 0
        self.taken: list[dict[str, Any]] = []
        self.released = threading.Event()
        self._answers = list(answers)
        self._changed = threading.Condition()

    def answer(self, body: bytes) -> Answer:
        with self._changed:
            self.asked += 1
            answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
            if answer == TAKEN:
                self.taken.append(json.loads(body))
            self._changed.notify_all()
            return answer

    def wait_for_requests(self, number: int) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: self.asked >= number, 30), f"{self.asked} requests received"

    def wait_for_events(self, number: int) -> list[dict[str, Any]]:
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.taken) >= number, 60), f"{len(self.taken)} events received"
            return list(self.taken)


@contextmanager
def answering(*answers: Answer, port: int = 0) -> Iterator[Endpoint]:
    server = ThreadingHTTPServer(("127.0.0.1", port), _Handler)
    endpoint = Endpoint(f"http://127.0.0.1:{server.server_port}", answers)
    server.RequestHandlerClass = type("Handler", (_Handler,), {"endpoint": endpoint})
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield endpoint
    finally:
        endpoint.released.set()
        server.shutdown()
        server.server_close()
        thread.join()


def free_port() -> int:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        return int(unused.getsockname()[1])


class _Handler(BaseHTTPRequestHandler):
    endpoint: Endpoint

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        answer = self.endpoint.answer(body)
        if answer == HANGS:
            self.endpoint.released.wait(60)
        elif answer == GARBAGE:
            self.wfile.write(b"\x00\xffthis is no HTTP\r\n\r\n")
        elif answer != CUT:
            self.send_response(int(answer))
            self.send_header("Content-Length", "0")
            self.end_headers()
        self.close_connection = True

    def log_message(self, format: str, *arguments: Any) -> None:
        pass
