# SPDX-License-Identifier: Apache-2.0
"""HTTP endpoint that records the events of a job under test, on a free port of the loopback address."""

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Condition, Thread

import uvicorn
from fastapi import FastAPI, Request, Response

from lineage.api.errors import install_error_handlers
from lineage.api.request_body import read_body

PATH = "/api/v1/lineage"
MAX_BYTES = 64 * 2**20
"""Bytes of one event, before and after decompression."""

_SHUTDOWN_TIMEOUT = 10
"""Seconds that a request in progress may take to end: its event belongs to the test."""


class Recorder:
    """Recorded events in their order of arrival.

    Events are not validated: an invalid one is reported by an assertion about the events, rather than as an error in
    the job, which many emitters only log.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self._bodies: list[bytes] = []
        self._arrived = Condition()

    @property
    def bodies(self) -> list[bytes]:
        """Return the bodies of the requests so far, decompressed."""
        with self._arrived:
            return list(self._bodies)

    def record(self, body: bytes) -> None:
        """Append one event."""
        with self._arrived:
            self._bodies.append(body)
            self._arrived.notify_all()

    def wait_for(self, condition: Callable[[], bool], seconds: float) -> bool:
        """Wait for a condition, which is evaluated after each event; return False on timeout."""
        with self._arrived:
            return self._arrived.wait_for(condition, seconds)


@contextmanager
def recording() -> Iterator[Recorder]:
    """Run a recorder; at the end, requests in progress are completed."""
    with socket.create_server(("127.0.0.1", 0), backlog=2048) as listener:
        recorder = Recorder(f"http://127.0.0.1:{listener.getsockname()[1]}")
        config = uvicorn.Config(
            _recorder_app(recorder),
            lifespan="off",
            http="h11",  # httptools closes the connection without a response to malformed HTTP
            ws="none",
            log_config=None,
            access_log=False,
            timeout_graceful_shutdown=_SHUTDOWN_TIMEOUT,
        )
        server = uvicorn.Server(config)
        thread = Thread(target=server.run, kwargs={"sockets": [listener]}, name="lineage-recorder")
        thread.start()
        try:
            yield recorder
        finally:
            server.should_exit = True
            thread.join()


def _recorder_app(recorder: Recorder) -> FastAPI:
    """Return the two endpoints of the lineage service that emitters use, with its limits and errors."""
    app = FastAPI(openapi_url=None)
    install_error_handlers(app)

    @app.post(PATH, status_code=201, response_class=Response)
    @app.post(f"{PATH}/", status_code=201, response_class=Response)
    async def receive(request: Request) -> None:
        recorder.record(await read_body(request, MAX_BYTES))

    @app.get("/health", response_class=Response)
    async def health() -> None:
        return None

    return app
