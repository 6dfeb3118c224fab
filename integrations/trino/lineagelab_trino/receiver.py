# SPDX-License-Identifier: Apache-2.0
"""HTTP server for Trino's HTTP event listener.

A request is answered with success once its events are stored. With any other answer, and without one, the listener
repeats it.
"""

import hmac
import json
import logging
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from lineagelab_common.events import Json
from lineagelab_trino.listener_event import ListenerEventError

log = logging.getLogger(__name__)

EVENTS, HEALTH = "/events", "/health"
"""Paths of the events and of the readiness check."""

MAX_BYTES = 64 * 2**20
"""Limit of one event; the plan of a query is part of it."""

REQUEST_SECONDS = 60.0


class Receiver(ThreadingHTTPServer):
    """Server of the events.

    Args:
        address: host and port.
        key: that requests with events have, as `Authorization: Bearer KEY`; empty for none.
        receive: reports an event; raises ListenerEventError, or OSError if it cannot be stored.
        is_ready: whether Trino accepts statements.
    """

    daemon_threads = True

    def __init__(
        self,
        address: tuple[str, int],
        key: str,
        receive: Callable[[Json], None],
        is_ready: Callable[[], bool],
    ) -> None:
        self.key, self.receive, self.is_ready = key, receive, is_ready
        super().__init__(address, _Handler)


class _Handler(BaseHTTPRequestHandler):
    server: Receiver
    protocol_version = "HTTP/1.1"
    timeout = REQUEST_SECONDS

    def do_GET(self) -> None:
        if self.path != HEALTH:
            self._answer(HTTPStatus.NOT_FOUND, f"there is no {self.path}")
        elif self.server.is_ready():
            self._answer(HTTPStatus.OK, "ok")
        else:
            self._answer(HTTPStatus.SERVICE_UNAVAILABLE, "Trino is not ready")

    def do_POST(self) -> None:
        refusal = self._refusal()
        if refusal is not None:
            self.close_connection = True  # its body is not read
            self._answer(*refusal)
        else:
            self._answer(*self._receive(self.rfile.read(int(self.headers["Content-Length"]))))

    def _receive(self, body: bytes) -> tuple[HTTPStatus, str]:
        try:
            self.server.receive(_parse(body))
        except ListenerEventError as error:
            log.error("an event was refused: %s", error)
            return HTTPStatus.BAD_REQUEST, str(error)
        except OSError as error:
            log.error("an event could not be stored: %s", error)
            return HTTPStatus.SERVICE_UNAVAILABLE, f"the event could not be stored: {error}"
        return HTTPStatus.OK, "ok"

    def _refusal(self) -> tuple[HTTPStatus, str] | None:
        """Return why a request is refused before its body is read; None if it is not."""
        expected = f"Bearer {self.server.key}"
        given = self.headers.get("Authorization", "")
        if self.server.key and not hmac.compare_digest(given.encode(), expected.encode()):
            return (
                HTTPStatus.UNAUTHORIZED,
                "the key of this receiver is missing (http-event-listener.connect-http-headers)",
            )
        if self.path != EVENTS:
            return HTTPStatus.NOT_FOUND, f"there is no {self.path}"
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal():
            return HTTPStatus.LENGTH_REQUIRED, "a request needs a Content-Length"
        if int(length) > MAX_BYTES:
            return HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"an event has at most {MAX_BYTES} bytes"
        return None

    def _answer(self, status: HTTPStatus, message: str) -> None:
        body = json.dumps({"message": message}).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: ANN401 - as the base class
        """Log no request: there are two for each query."""


def _parse(body: bytes) -> Json:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise ListenerEventError(f"the body is no JSON: {error}") from error
    if not isinstance(found, dict):
        raise ListenerEventError("the body is no JSON object")
    return found
