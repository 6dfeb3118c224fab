# SPDX-License-Identifier: Apache-2.0
"""Channels of an `exec` or `portforward` request: numbered byte streams over one WebSocket (`v4.channel.k8s.io`).

The client library's own WebSocket client needs a thread for each connection, copies its data several times, and masks
every byte that it sends. Hundreds of connections and volumes of gigabytes go through this one.
"""

import asyncio
import base64
import os
import ssl
import struct
from collections.abc import Mapping, Sequence
from urllib.parse import urlencode, urlsplit

import certifi
from kubernetes.client import Configuration
from urllib3.util.ssl_ import create_urllib3_context

from infra.targets.kubernetes.client import CONNECT_SECONDS, Cluster
from infra.targets.kubernetes.request_errors import RequestError, no_response, rejection

PROTOCOL = "v4.channel.k8s.io"
"""Protocol of the channels, which every supported release knows: a binary message is a channel's number and data."""

CHUNK = 64 * 1024
"""Bytes per message at most."""

_BUFFER = 4 * CHUNK
"""Bytes that are received before they are consumed; more wait in the sender."""

_CONTINUATION, _TEXT, _BINARY, _CLOSE, _PING, _PONG = 0x0, 0x1, 0x2, 0x8, 0x9, 0xA
"""Types of WebSocket frames (RFC 6455, section 5.2)."""

_LAST, _MASKED = 0x80, 0x80
"""Flags of a frame's first and second byte: last frame of its message, masked."""

_NO_MASK = bytes(4)
"""Masking key. Random keys keep scripts of browsers from forging requests to proxies; the lab's data is no script."""

_MAX_HEADER_BYTES = 65536


class ChannelsClosed(Exception):
    """The peer closed the connection."""


class Channels:
    """An open connection. One task may send and another receive at the same time."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self.answered_pings = 0

    async def send(self, channel: int, data: bytes | memoryview) -> None:
        """Send data on a channel; waits while the peer does not receive."""
        self._writer.writelines((frame_header(_BINARY, 1 + len(data)), bytes((channel,)), data))
        await self._drain()

    async def receive(self) -> tuple[int, memoryview]:
        """Return the next data and its channel.

        Raises:
            ChannelsClosed: the connection ended.
        """
        while True:
            kind, payload = await self._message()
            match kind:
                case 0x1 | 0x2 if payload:
                    return payload[0], memoryview(payload)[1:]
                case 0x8:
                    raise ChannelsClosed
                case 0x9:
                    self._writer.writelines((frame_header(_PONG, len(payload)), payload))
                case 0xA:
                    self.answered_pings += 1

    async def ping(self) -> None:
        """Send a ping, so that load balancers keep an idle connection."""
        self._writer.write(frame_header(_PING, 0))
        await self._drain()

    async def close(self) -> None:
        """Close the connection."""
        if not self._writer.is_closing():
            self._writer.write(frame_header(_CLOSE, 0))
        self._writer.close()
        try:
            await asyncio.wait_for(self._writer.wait_closed(), CONNECT_SECONDS)
        except (TimeoutError, OSError, ssl.SSLError):
            self._writer.transport.abort()

    async def _drain(self) -> None:
        try:
            await self._writer.drain()
        except OSError as error:
            raise ChannelsClosed from error

    async def _message(self) -> tuple[int, bytes]:
        """Return type and payload of the next message, whose frames are joined."""
        kind, payload, last = await self._frame()
        while not last:
            _, more, last = await self._frame()
            payload += more
        return kind, payload

    async def _frame(self) -> tuple[int, bytes, bool]:
        """Return type and payload of a frame, and whether it is the last of its message; servers do not mask."""
        try:
            first, size = await self._reader.readexactly(2)
            if size == 126:
                (size,) = struct.unpack("!H", await self._reader.readexactly(2))
            elif size == 127:
                (size,) = struct.unpack("!Q", await self._reader.readexactly(8))
            return first & 0x0F, await self._reader.readexactly(size), bool(first & _LAST)
        except (asyncio.IncompleteReadError, OSError) as error:
            raise ChannelsClosed from error


def frame_header(kind: int, size: int) -> bytes:
    """Return the header of a complete message from a client."""
    first = kind | _LAST
    if size < 126:
        return struct.pack("!BB", first, size | _MASKED) + _NO_MASK
    if size < 1 << 16:
        return struct.pack("!BBH", first, 126 | _MASKED, size) + _NO_MASK
    return struct.pack("!BBQ", first, 127 | _MASKED, size) + _NO_MASK


class ChannelConnector:
    """Opens connections to one API server."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        address = urlsplit(cluster.server)
        self._host = str(address.hostname)
        self._port = address.port or (443 if address.scheme == "https" else 80)
        self._authority = address.netloc
        self._prefix = address.path
        self._tls = tls_context(cluster.configuration) if address.scheme == "https" else None

    async def open(self, path: str, query: Sequence[tuple[str, str]], attempt: str) -> Channels:
        """Open the channels of a subresource.

        Args:
            path: path of the subresource.
            query: its parameters.
            attempt: what the request is to do, for messages.

        Raises:
            RequestError: the API server did not accept the request.
        """
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                reader, writer = await self._connect()
        except (TimeoutError, OSError) as error:
            raise no_response(str(self._cluster), attempt, error) from error
        try:
            async with asyncio.timeout(2 * CONNECT_SECONDS):
                await self._upgrade(reader, writer, f"{self._prefix}{path}?{urlencode(query)}", attempt)
        except BaseException as error:
            writer.transport.abort()
            if isinstance(error, (OSError, EOFError, TimeoutError, ValueError)):
                raise no_response(str(self._cluster), attempt, error) from error
            raise
        return Channels(reader, writer)

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        expected = self._cluster.configuration.tls_server_name or self._host
        return await asyncio.open_connection(
            self._host, self._port, ssl=self._tls, server_hostname=expected if self._tls else None, limit=_BUFFER
        )

    async def _upgrade(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, target: str, attempt: str
    ) -> None:
        """Turn the connection into a WebSocket."""
        authorization = await asyncio.to_thread(self._cluster.authorization)
        writer.write(_upgrade_request(target, self._authority, authorization))
        head = await reader.readuntil(b"\r\n\r\n")
        status, headers = _parse_head(head)
        if status != 101:
            body = await reader.readexactly(min(int(headers.get("content-length", 0)), _MAX_HEADER_BYTES))
            raise rejection(str(self._cluster), attempt, status, body)
        if headers.get("sec-websocket-protocol", PROTOCOL) != PROTOCOL:
            raise RequestError(f"{self._cluster} does not support {PROTOCOL}, which is required to {attempt}")


def tls_context(configuration: Configuration) -> ssl.SSLContext:
    """Return the TLS settings of a kubeconfig context, as the client library applies them to requests."""
    context = create_urllib3_context()
    if not configuration.verify_ssl:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    context.load_verify_locations(configuration.ssl_ca_cert or certifi.where())
    if configuration.cert_file:
        context.load_cert_chain(configuration.cert_file, configuration.key_file)
    return context


def _upgrade_request(target: str, authority: str, more: Mapping[str, str]) -> bytes:
    headers = {
        "Host": authority,
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec-WebSocket-Key": base64.b64encode(os.urandom(16)).decode(),
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Protocol": PROTOCOL,
        **more,
    }
    lines = [f"GET {target} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join([*lines, "", ""]).encode()


def _parse_head(head: bytes) -> tuple[int, dict[str, str]]:
    """Return status and headers (names in lower case) of a response."""
    first, *lines = head.decode("latin-1").rstrip().split("\r\n")
    headers = (line.partition(":") for line in lines)
    return int(first.split()[1]), {name.lower(): value.strip() for name, _, value in headers}
