# SPDX-License-Identifier: Apache-2.0
"""Limits of connections: number, time for a request's head and body, time for reading a response.

uvicorn limits idle time between two requests, and nothing else: a client that sends its head or body byte by byte, or
never reads its response, would hold a connection and its memory indefinitely. One sweep per second checks all
connections, so that a request costs nothing more. At the maximum, connections that wait for their client make room for
new ones.
"""

import logging
from collections import Counter
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

logger = logging.getLogger(__name__)

MAX_HEAD_BYTES = 64 * 1024
"""Bytes of a request beside its body: request line, headers, chunk sizes, trailers. Browsers send some kilobytes."""

_SWEEP_SECONDS = 1.0
_EVICTED_AT_ONCE = 16
_MIN_READ_BYTES = 64 * 1024
"""Bytes of a response that a client must read within `ConnectionLimits.write_seconds`."""

_RESPONSE = "HTTP/1.1 {}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
_TIMEOUT = _RESPONSE.format("408 Request Timeout").encode()
_TOO_LARGE = _RESPONSE.format("431 Request Header Fields Too Large").encode()
_FULL = _RESPONSE.format("503 Service Unavailable").encode()


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionLimits:
    """Maximum numbers of connections, and times in seconds.

    Attributes:
        total: all connections.
        remote: those of other machines, so that they cannot shut out the clients of this one.
        per_address: those of one address of another machine; a proxy or an address translation may stand for many.
        head_seconds: from the first byte of a request, or the connection, to the end of its headers.
        stall_seconds: between two parts of a body.
        body_seconds: from the headers to the end of the body.
        write_seconds: for reading a part of a response, and for closing.
        linger_seconds: for the rest of a body whose request is answered.
    """

    total: int = 512
    remote: int = 384
    per_address: int = 256
    head_seconds: float = 10.0
    stall_seconds: float = 10.0
    body_seconds: float = 60.0
    write_seconds: float = 30.0
    linger_seconds: float = 2.0


class ConnectionTable:
    """All connections of a server. Belongs to the event loop."""

    def __init__(self, limits: ConnectionLimits) -> None:
        self.limits = limits
        self._open: dict[LimitedProtocol, None] = {}  # a set in order of arrival
        self._addresses: Counter[str] = Counter()
        self._remote = 0
        self._sweeping = False

    def __len__(self) -> int:
        return len(self._open)

    def add(self, connection: "LimitedProtocol") -> bool:
        """Add a connection; return False if no place is left for it."""
        limits, address = self.limits, connection.address
        has_place = (
            self._has_room(len(self._open) < limits.total, self._open)
            and (not connection.remote or self._has_room(self._remote < limits.remote, self._remote_connections()))
            and (
                not connection.remote
                or self._has_room(self._addresses[address] < limits.per_address, self._connections_of(address))
            )
        )
        if not has_place:
            return False
        self._open[connection] = None
        self._addresses[address] += 1
        self._remote += connection.remote
        if not self._sweeping:
            self._sweeping = True
            connection.loop.call_later(_SWEEP_SECONDS, self._sweep, connection.loop)
        return True

    def remove(self, connection: "LimitedProtocol") -> None:
        """Remove a connection; it may have been removed before."""
        if connection not in self._open:
            return
        del self._open[connection]
        self._remote -= connection.remote
        self._addresses[connection.address] -= 1
        if not self._addresses[connection.address]:
            del self._addresses[connection.address]

    def _has_room(self, free: bool, among: "dict[LimitedProtocol, None] | list[LimitedProtocol]") -> bool:
        """Return True if a place is free, or could be freed: first where no request came, then where none is open."""
        if free:
            return True
        for unused in (True, False):
            victims = [one for one in among if one.waits_for_head and one.unused is unused][:_EVICTED_AT_ONCE]
            for victim in victims:
                self.remove(victim)
                victim.transport.abort()
            if victims:
                return True
        return False

    def _remote_connections(self) -> "list[LimitedProtocol]":
        return [one for one in self._open if one.remote]

    def _connections_of(self, address: str) -> "list[LimitedProtocol]":
        return [one for one in self._open if one.address == address]

    def _sweep(self, loop: Any) -> None:  # noqa: ANN401 - asyncio's or uvloop's
        for connection in list(self._open):
            connection.check(loop.time())
        self._sweeping = bool(self._open)
        if self._sweeping:
            loop.call_later(_SWEEP_SECONDS, self._sweep, loop)


class LimitedProtocol(HttpToolsProtocol):
    """HTTP/1.1 connection with the limits of a `ConnectionTable`, which `limited_protocol` sets."""

    table: ConnectionTable

    def connection_made(self, transport: Any) -> None:  # noqa: ANN401 - as the base class
        """Register the connection, or answer 503 if there are too many."""
        super().connection_made(transport)
        now = self.loop.time()
        self.address = self.client[0] if self.client else ""
        self.remote = _is_remote(self.address)
        self.unused = True
        self._head_began: float | None = now
        self._body_began = now
        self._received = now
        self._overhead = 0
        self._overhead_before = 0
        self._begins = False
        self._answered: float | None = None
        self._closing: float | None = None
        self._unread: tuple[float, int] | None = None
        if not self.table.add(self):
            self._close_with(_FULL)

    def connection_lost(self, exc: Exception | None) -> None:
        """Remove the connection."""
        self.table.remove(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Note progress, and bound what is not body."""
        self._received = self.loop.time()
        self._begins = False
        self._overhead_before = self._overhead
        self._overhead += len(data)
        if self._head_began is None and (self.cycle is None or self.cycle.response_complete):
            self._head_began = self._received
        super().data_received(data)
        if self._overhead > MAX_HEAD_BYTES and not self.transport.is_closing():
            self._close_with(_TOO_LARGE)

    def on_message_begin(self) -> None:
        """Count the bytes of a new head; of pipelined ones that came at once, only those that come later."""
        self._overhead = 0 if self._begins else self._overhead - self._overhead_before
        self._begins = True
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Start the time of the body."""
        self.unused = False
        self._head_began = None
        self._answered = None
        self._body_began = self._received
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Pass a part of the body on."""
        self._overhead = max(0, self._overhead - len(body))
        super().on_body(body)

    @property
    def waits_for_head(self) -> bool:
        """Return True if no request is open: the client has not sent its next one, or not all of its head."""
        return self.cycle is None or self.cycle.response_complete

    def check(self, now: float) -> None:
        """End the connection if its client exceeds a limit."""
        limits = self.table.limits
        if self._is_unread_for_too_long(now, limits.write_seconds):
            self.transport.abort()
        elif self.transport.is_closing():
            return
        elif self._head_began is not None and self.waits_for_head:
            if now - self._head_began > limits.head_seconds:
                self._close_with(_TIMEOUT)
        elif self.cycle is not None and self.cycle.more_body:
            self._check_body(now, limits)

    def _check_body(self, now: float, limits: ConnectionLimits) -> None:
        if self.cycle.response_complete:
            self._answered = self._answered or now
            if now - self._answered > limits.linger_seconds:
                self.transport.close()
        elif not self.flow.read_paused and (
            now - self._received > limits.stall_seconds or now - self._body_began > limits.body_seconds
        ):
            self._close_with(_TIMEOUT)

    def _is_unread_for_too_long(self, now: float, seconds: float) -> bool:
        size = self.transport.get_write_buffer_size()
        if size == 0:
            self._unread = None
        elif self._unread is None or size > self._unread[1] or self._unread[1] - size >= _MIN_READ_BYTES:
            self._unread = now, size
        return self._unread is not None and now - self._unread[0] > seconds

    def _close_with(self, response: bytes) -> None:
        """Send a response unless one has begun, and close."""
        if self.cycle is None or self.cycle.response_complete or not self.cycle.response_started:
            self.transport.write(response)
        self.transport.close()


def limited_protocol(limits: ConnectionLimits) -> type[LimitedProtocol]:
    """Return the protocol class of a server with its own table, for `uvicorn.Config(http=...)`."""
    return type("LimitedProtocol", (LimitedProtocol,), {"table": ConnectionTable(limits)})


def _is_remote(address: str) -> bool:
    try:
        return not ip_address(address).is_loopback
    except ValueError:  # a Unix socket
        return False
