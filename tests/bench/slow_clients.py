# SPDX-License-Identifier: Apache-2.0
"""Hostile clients in a process of their own: `python -m tests.bench.slow_clients HOST PORT`, until it is ended.

Slow-loris connections send a head or a body byte by byte and are opened again when the service closes them; one client
sends gzip bombs. The first line of output says that all are connected.
"""

import asyncio
import gzip
import sys
from contextlib import suppress

SLOW_CONNECTIONS = 300
BYTE_SECONDS = 1.0
BOMB_SECONDS = 0.1
"""Pause between two bombs; each one takes the service some milliseconds."""

_HEAD = b"POST /api/v1/lineage HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
_BODY = _HEAD + b"Content-Length: 1000000\r\n\r\n"


async def drip(host: str, port: int, beginning: bytes) -> None:
    """Send a beginning, then a byte per `BYTE_SECONDS`, over one connection after another."""
    while True:
        with suppress(OSError):
            _, writer = await asyncio.open_connection(host, port)
            try:
                writer.write(beginning)
                while not writer.is_closing():
                    writer.write(b"x")
                    await writer.drain()
                    await asyncio.sleep(BYTE_SECONDS)
            finally:
                writer.close()
        await asyncio.sleep(BYTE_SECONDS)


async def send_bombs(host: str, port: int) -> None:
    """Send batches of 30 KB that unpack to 30 MB, one after another."""
    packed = gzip.compress(b" " * 30_000_000)
    head = _HEAD.replace(b"lineage ", b"lineage/batch ")
    request = head + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(packed) + packed
    while True:
        with suppress(OSError, asyncio.IncompleteReadError):
            reader, writer = await asyncio.open_connection(host, port)
            try:
                writer.write(request)
                await reader.readuntil(b"\r\n\r\n")
            finally:
                writer.close()
        await asyncio.sleep(BOMB_SECONDS)


async def main(host: str, port: int) -> None:
    """Run all clients."""
    beginnings = (_HEAD, _BODY)
    tasks = [asyncio.create_task(drip(host, port, beginnings[number % 2])) for number in range(SLOW_CONNECTIONS)]
    tasks.append(asyncio.create_task(send_bombs(host, port)))
    print("connected", flush=True)
    await asyncio.gather(*tasks)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2])))
