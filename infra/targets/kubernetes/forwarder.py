# SPDX-License-Identifier: Apache-2.0
"""Forwarding of the connections to one port of this machine to the ready pods of a service."""

import asyncio
import itertools
import logging
import socket
import struct
from collections.abc import Callable, Iterator

from infra.targets.kubernetes.channels import CHUNK, ChannelConnector, Channels, ChannelsClosed
from infra.targets.kubernetes.kind_inputs import Forward
from infra.targets.kubernetes.objects import PODS
from infra.targets.kubernetes.request_errors import UNAUTHORIZED, RequestError
from infra.targets.site import LOOPBACK

DATA, ERRORS = 0, 1
"""Channels of a forwarded port; the first message of each is the port's number."""

RETRY_SECONDS = 10
"""Time limit for a connection to reach a pod; a pod that just ended is ready for some moments longer."""

PAUSE_SECONDS = 0.2
"""Time between two attempts to reach a pod."""

HALF_CLOSED_SECONDS = 10
"""Time without data from the pod after which a connection that its client has closed for sending ends.

The protocol cannot pass on that the client has closed its side, and a client that closed only one side looks the same
as one that has closed the connection."""

PING_SECONDS = 30
"""Interval of pings; a connection without an answer to the last one is lost."""

LINGER_SECONDS = 60
"""Time limit for a client to receive what its pod sent before closing."""

BACKLOG = 128

_LOG = logging.getLogger(__name__)


class Forwarder:
    """Listens while a ready pod exists, so that clients of a stopped service are refused, as they are without a proxy.

    Args:
        forward: the port and its service.
        namespace: namespace of the service.
        connector: returns the current connector of the API server.
        pods: returns the ready pods of a service.
        rejected: called if the API server rejects the credentials.
    """

    def __init__(
        self,
        forward: Forward,
        namespace: str,
        connector: Callable[[], ChannelConnector],
        pods: Callable[[str], list[str]],
        rejected: Callable[[], None],
    ) -> None:
        self._forward = forward
        self._namespace = namespace
        self._connector = connector
        self._pods = pods
        self._rejected = rejected
        self._turns = itertools.count()
        self._server: asyncio.Server | None = None
        self._reserved: socket.socket | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    def __str__(self) -> str:
        replica = "" if self._forward.replica is None else f"-{self._forward.replica}"
        return f"port {self._forward.local} to {self._forward.service}{replica}:{self._forward.remote}"

    @property
    def connections(self) -> int:
        """Number of open connections."""
        return len(self._tasks)

    def reserve(self) -> None:
        """Bind the port without listening: connections are refused, and the system gives the port to nobody else.

        Raises:
            OSError: another process listens on it.
        """
        self._reserved = bound_socket(self._forward.local)

    async def update(self) -> None:
        """Listen if a ready pod exists, else refuse connections; open connections remain.

        Raises:
            OSError: another process listens on the port.
        """
        ready = bool(self._ready_pods())
        if ready and self._server is None:
            bound, self._reserved = self._reserved or bound_socket(self._forward.local), None
            try:
                self._server = await asyncio.start_server(self._accept, sock=bound, backlog=BACKLOG, limit=CHUNK)
            except OSError:
                bound.close()
                raise
        elif not ready and self._server is not None:
            self._server.close()
            self._server = None
            self.reserve()

    async def close(self) -> None:
        """Close the port and all connections."""
        if self._server is not None:
            self._server.close()
        if self._reserved is not None:
            self._reserved.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _ready_pods(self) -> list[str]:
        pods, replica = self._pods(self._forward.service), self._forward.replica
        return pods if replica is None else [pod for pod in pods if pod == f"{self._forward.service}-{replica}"]

    def _candidates(self) -> Iterator[str]:
        """Yield the ready pods, each connection beginning with another one."""
        pods = self._ready_pods()
        first = next(self._turns)
        return (pods[(first + place) % len(pods)] for place in range(len(pods)))

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            await self._serve(reader, writer)
        except asyncio.CancelledError:
            reset(writer)
        except Exception:
            _LOG.exception("connection of %s failed", self)
            reset(writer)
        finally:
            self._tasks.discard(task)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        channels = await self._open(reader)
        if channels is None:
            reset(writer)
            return
        try:
            problem = await relay(reader, writer, channels)
        finally:
            await channels.close()
        if problem:
            _LOG.warning("connection of %s: %s", self, problem)
            reset(writer)
        else:
            await _finish(writer)

    async def _open(self, reader: asyncio.StreamReader) -> Channels | None:
        """Connect to a ready pod; None if none is reachable in time, or the client has gone."""
        problem = "no pod is ready"
        deadline = asyncio.get_running_loop().time() + RETRY_SECONDS
        while asyncio.get_running_loop().time() < deadline and not reader.at_eof():
            for pod in self._candidates():
                try:
                    return await self._open_pod(pod)
                except RequestError as error:
                    problem = str(error)
                    if error.status == UNAUTHORIZED:
                        self._rejected()
            await asyncio.sleep(PAUSE_SECONDS)
        _LOG.warning("connection of %s failed: %s", self, problem)
        return None

    async def _open_pod(self, pod: str) -> Channels:
        path = PODS.path(self._namespace, pod, "portforward")
        return await self._connector().open(path, [("ports", str(self._forward.remote))], f"connect {self}")


def bound_socket(port: int) -> socket.socket:
    """Return a socket that is bound to a port of the loopback interface."""
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((LOOPBACK, port))
    except BaseException:
        bound.close()
        raise
    return bound


def reset(writer: asyncio.StreamWriter) -> None:
    """End the connection to a client so that it does not take the end for that of the data."""
    connection = writer.get_extra_info("socket")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, channels: Channels) -> str:
    """Copy data in both directions until the pod or the client ends the connection; return the pod's error, if any."""
    received = Received()
    download = asyncio.create_task(_download(channels, writer, received))
    upload = asyncio.create_task(_upload(reader, channels))
    pings = asyncio.create_task(_ping(channels))
    try:
        await asyncio.wait((download, upload, pings), return_when=asyncio.FIRST_COMPLETED)
        while not download.done() and not pings.done() and upload.result():
            before = received.messages
            await asyncio.wait((download, pings), timeout=HALF_CLOSED_SECONDS, return_when=asyncio.FIRST_COMPLETED)
            if received.messages == before:
                break
        return download.result() if download.done() else ""
    finally:
        for task in (download, upload, pings):
            task.cancel()
        await asyncio.gather(download, upload, pings, return_exceptions=True)


class Received:
    """Number of messages from a pod."""

    def __init__(self) -> None:
        self.messages = 0


async def _upload(reader: asyncio.StreamReader, channels: Channels) -> bool:
    """Send what the client sends; return True at its end, False if a connection was lost."""
    try:
        while data := await reader.read(CHUNK):
            await channels.send(DATA, data)
    except (OSError, ChannelsClosed):
        return False
    return True


async def _download(channels: Channels, writer: asyncio.StreamWriter, received: Received) -> str:
    """Pass on what the pod sends until its end; return the pod's error: nothing listens on the port, for example."""
    numbered = {DATA, ERRORS}
    try:
        while True:
            channel, data = await channels.receive()
            if channel in numbered:
                numbered.discard(channel)
            elif channel == ERRORS:
                return bytes(data).decode(errors="replace").strip()
            else:
                received.messages += 1
                writer.write(data)
                await writer.drain()
    except (OSError, ChannelsClosed):
        return ""


async def _ping(channels: Channels) -> None:
    """Send pings; returns when the API server does not respond."""
    for sent in itertools.count(1):
        await asyncio.sleep(PING_SECONDS)
        if channels.answered_pings < sent - 1:
            return
        try:
            await channels.ping()
        except ChannelsClosed:
            return


async def _finish(writer: asyncio.StreamWriter) -> None:
    """Close the connection to the client after it has received everything."""
    writer.close()
    try:
        await asyncio.wait_for(writer.wait_closed(), LINGER_SECONDS)
    except (TimeoutError, OSError):
        writer.transport.abort()
