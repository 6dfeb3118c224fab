# SPDX-License-Identifier: Apache-2.0
"""Channels over a WebSocket, and the relay of a forwarded connection; the peer is a socket of the test."""

import asyncio
import os
import struct

import pytest

from infra.targets.kubernetes import forwarder
from infra.targets.kubernetes.channels import Channels, ChannelsClosed, frame_header
from infra.targets.kubernetes.forwarder import DATA, ERRORS, relay

BINARY, CLOSE, PING, PONG = 0x2, 0x8, 0x9, 0xA


async def connected():
    """Return reader and writer of both ends of a connection."""
    accepted = asyncio.get_running_loop().create_future()
    server = await asyncio.start_server(lambda *ends: accepted.set_result(ends), "127.0.0.1", 0)
    mine = await asyncio.open_connection(*server.sockets[0].getsockname())
    theirs = await accepted
    server.close()
    return mine, theirs


def server_frame(kind, payload, last=True):
    """Return a frame of a server, which does not mask."""
    first, size = kind | (0x80 if last else 0), len(payload)
    if size < 126:
        return struct.pack("!BB", first, size) + payload
    if size < 1 << 16:
        return struct.pack("!BBH", first, 126, size) + payload
    return struct.pack("!BBQ", first, 127, size) + payload


async def client_message(reader):
    """Return type and payload of a message of a client, which masks."""
    first, size = await reader.readexactly(2)
    assert size & 0x80
    size &= 0x7F
    if size == 126:
        (size,) = struct.unpack("!H", await reader.readexactly(2))
    elif size == 127:
        (size,) = struct.unpack("!Q", await reader.readexactly(8))
    mask = await reader.readexactly(4)
    payload = await reader.readexactly(size)
    return first & 0x0F, bytes(byte ^ mask[place % 4] for place, byte in enumerate(payload))


async def closed(*writers):
    for writer in writers:
        writer.close()
        await writer.wait_closed()


@pytest.mark.parametrize("size", [0, 1, 124, 125, 126, 65534, 65535, 200_000])
def test_data_of_any_size_is_sent_and_received(size):
    data = os.urandom(size)

    async def exchange():
        (reader, writer), (peer_reader, peer_writer) = await connected()
        channels = Channels(reader, writer)
        sending = asyncio.create_task(channels.send(3, data))
        assert await client_message(peer_reader) == (BINARY, b"\x03" + data)
        await sending
        peer_writer.write(server_frame(BINARY, b"\x01" + data))
        channel, received = await channels.receive()
        assert (channel, bytes(received)) == (1, data)
        await closed(writer, peer_writer)

    asyncio.run(exchange())


def test_frames_of_a_message_are_joined_and_pings_answered():
    async def exchange():
        (reader, writer), (peer_reader, peer_writer) = await connected()
        channels = Channels(reader, writer)
        frames = (
            server_frame(BINARY, b"\x00one", last=False),
            server_frame(0, b" two"),
            server_frame(PING, b"now"),
            server_frame(PONG, b""),
            server_frame(BINARY, b""),
            server_frame(BINARY, b"\x00three"),
            server_frame(CLOSE, b""),
        )
        peer_writer.writelines(frames)
        assert bytes((await channels.receive())[1]) == b"one two"
        assert bytes((await channels.receive())[1]) == b"three"
        assert channels.answered_pings == 1
        assert await client_message(peer_reader) == (PONG, b"now")
        with pytest.raises(ChannelsClosed):
            await channels.receive()
        await closed(writer, peer_writer)

    asyncio.run(exchange())


def test_lost_connection_ends_the_channels():
    async def exchange():
        (reader, writer), (_, peer_writer) = await connected()
        peer_writer.write(server_frame(BINARY, b"\x00cut off")[:-3])
        await closed(peer_writer)
        with pytest.raises(ChannelsClosed):
            await Channels(reader, writer).receive()
        await closed(writer)

    asyncio.run(exchange())


def test_header_of_a_clients_frame_is_masked():
    assert frame_header(BINARY, 5) == bytes([0x82, 0x85, 0, 0, 0, 0])


PORT_NUMBERS = server_frame(BINARY, b"\x00\x23\x84") + server_frame(BINARY, b"\x01\x23\x84")
"""First messages of both channels of a forwarded port."""


async def relayed(converse):
    """Run a conversation of a client and a pod over a relay, and return the pod's error."""
    (pod_reader, pod_writer), (peer_reader, peer_writer) = await connected()
    (client_reader, client_writer), (near_reader, near_writer) = await connected()
    running = asyncio.create_task(relay(near_reader, near_writer, Channels(pod_reader, pod_writer)))
    peer_writer.write(PORT_NUMBERS)
    await converse(client_reader, client_writer, peer_reader, peer_writer)
    problem = await running
    await closed(pod_writer, peer_writer, client_writer, near_writer)
    return problem


def test_relay_copies_in_both_directions_until_the_pod_closes():
    async def converse(client_reader, client_writer, peer_reader, peer_writer):
        client_writer.write(b"question")
        assert await client_message(peer_reader) == (BINARY, bytes([DATA]) + b"question")
        peer_writer.write(server_frame(BINARY, bytes([DATA]) + b"answer"))
        assert await client_reader.readexactly(6) == b"answer"
        peer_writer.write(server_frame(CLOSE, b""))

    assert asyncio.run(relayed(converse)) == ""


def test_relay_returns_the_error_of_the_pod():
    async def converse(client_reader, client_writer, peer_reader, peer_writer):
        peer_writer.write(server_frame(BINARY, bytes([ERRORS]) + b"connection refused\n"))

    assert asyncio.run(relayed(converse)) == "connection refused"


def test_relay_passes_on_the_answer_after_the_client_has_closed_its_side(monkeypatch):
    monkeypatch.setattr(forwarder, "HALF_CLOSED_SECONDS", 0.5)

    async def converse(client_reader, client_writer, peer_reader, peer_writer):
        client_writer.write_eof()
        for _ in range(5):  # for longer than the limit, with shorter pauses
            await asyncio.sleep(0.2)
            peer_writer.write(server_frame(BINARY, bytes([DATA]) + b"part"))
        assert await client_reader.readexactly(20) == b"part" * 5

    assert asyncio.run(relayed(converse)) == ""


def test_relay_ends_without_pongs(monkeypatch):
    monkeypatch.setattr(forwarder, "PING_SECONDS", 0.1)

    async def converse(client_reader, client_writer, peer_reader, peer_writer):
        assert (await client_message(peer_reader))[0] == PING

    assert asyncio.run(relayed(converse)) == ""
