# SPDX-License-Identifier: Apache-2.0
"""Keep-alive HTTP/1.1 connection with minimal CPU use, so that the client does not limit the measured service."""

import socket
from collections.abc import Mapping
from typing import NamedTuple

_END_OF_HEAD = b"\r\n\r\n"


class Answer(NamedTuple):
    """Status, lower-cased headers, body."""

    status: int
    headers: dict[str, str]
    body: bytes


def request_bytes(method: str, target: str, body: bytes = b"", headers: Mapping[str, str] | None = None) -> bytes:
    """Encode a request; the default content type is JSON."""
    usual = {"Host": "localhost", "Content-Type": "application/json", "Content-Length": str(len(body))}
    given = {**usual, **(headers or {})}
    head = "".join(f"{name}: {value}\r\n" for name, value in given.items())
    return f"{method} {target} HTTP/1.1\r\n{head}\r\n".encode("latin-1") + body


class HttpConnection:
    """Connection for requests encoded by `request_bytes`.

    The body of a response without Content-Length, such as a stream, is not read: the answer has an empty body and the
    connection is closed.
    """

    def __init__(self, host: str, port: int, timeout: float = 60) -> None:
        self._socket = socket.create_connection((host, port), timeout)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def exchange(self, request: bytes) -> Answer:
        """Send a request and wait for its answer.

        Raises:
            OSError: the connection failed; ConnectionError if the peer closed it.
        """
        self._socket.sendall(request)
        received = self._receive()
        while (end := received.find(_END_OF_HEAD)) < 0:
            received += self._receive()
        lines = received[:end].decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
        status = int(lines[0].split(" ", 2)[1])
        if request.startswith(b"HEAD "):
            return Answer(status, headers, b"")
        if "content-length" not in headers:
            self.close()
            return Answer(status, headers, b"")
        body = bytearray(received[end + len(_END_OF_HEAD) :])
        missing = int(headers["content-length"]) - len(body)
        while missing > 0:
            chunk = self._receive()
            body += chunk
            missing -= len(chunk)
        return Answer(status, headers, bytes(body))

    def close(self) -> None:
        """Close the connection."""
        self._socket.close()

    def _receive(self) -> bytes:
        data = self._socket.recv(1 << 18)
        if not data:
            raise ConnectionResetError("the server closed the connection")
        return data
