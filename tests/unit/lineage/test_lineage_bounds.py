# SPDX-License-Identifier: Apache-2.0
"""Bounds of requests and connections: bodies, batches, queue, slow clients, number of connections and streams."""

import asyncio
import gzip
import json
import socket
import threading
import time
import tracemalloc
from contextlib import asynccontextmanager, closing, suppress

import pytest
import uvicorn
from fastapi import FastAPI, Request, Response
from lineage_client import JSON, connected_client
from lineage_events import body, encode
from test_lineage_api import with_client

from lineage.api.connections import ConnectionLimits, limited_protocol
from lineage.api.errors import install_error_handlers
from lineage.api.request_body import MAX_RATIO, BodyBudget, read_body
from lineage.change_feed import ChangeFeed, TooManyListeners
from lineage.events import MalformedJson, read_original
from lineage.events.batch import MAX_BATCH_EVENTS, BatchTooLong, split_array
from lineage.store import EventLog, EventWriter, QueueFull

MIB = 2**20
BATCH = "/api/v1/lineage/batch"


@pytest.mark.parametrize("element", [b"1", b"{}", b"[]", b'""', b"{ }"])
def test_a_batch_of_tiny_elements_is_refused_before_it_is_built(element):
    data = b"[" + (element + b",") * (8 * MIB // (len(element) + 1)) + element + b"]"
    tracemalloc.start()
    try:
        with pytest.raises(BatchTooLong):
            split_array(data)
        assert tracemalloc.get_traced_memory()[1] < 2 * MIB
    finally:
        tracemalloc.stop()


def test_batches_up_to_the_limit_are_split():
    for count in (0, 1, MAX_BATCH_EVENTS - 1, MAX_BATCH_EVENTS):
        elements = [b'{"a": [%d,2]}' % number for number in range(count)]
        assert split_array(b" [" + b" , ".join(elements) + b"] ") == elements
    with pytest.raises(BatchTooLong):
        split_array(b"[" + b",".join([b"{}"] * (MAX_BATCH_EVENTS + 1)) + b"]")
    with pytest.raises(MalformedJson):
        split_array(b"[" * (2 * MIB))
    with pytest.raises(MalformedJson):
        split_array(b'["' + b"x" * 2 * MIB)


def test_an_element_that_is_too_large_is_refused_unparsed(tmp_path):
    async def scenario(client):
        large = b'{"a": [' + b"[]," * 20_000 + b"[]]}"
        answer = await client.post(BATCH, content=b"[%b,%b]" % (large, encode(body())), headers=JSON)
        assert answer.status_code == 422
        details = answer.json()["error"]["details"]
        assert (details["stored"], details["refused"][0]["index"]) == (1, 0)
        assert "may have 5000 bytes" in details["refused"][0]["message"]

    with_client(tmp_path, scenario, max_event_bytes=5_000)


@pytest.mark.parametrize(
    ("packed", "status", "code"),
    [
        (gzip.compress(b" " * 30 * MIB), 413, "too_large"),
        (gzip.compress(b" " * 300 * MIB), 413, "too_large"),
        (gzip.compress(encode([body()] * 500)), 200, None),
        (gzip.compress(gzip.compress(b" " * 30 * MIB)), 400, "malformed_json"),
        (gzip.compress(b"[]") + gzip.compress(b"[]"), 400, "malformed_gzip"),
        (gzip.compress(b"[]")[:-1], 400, "malformed_gzip"),
        (b"", 400, "malformed_gzip"),
    ],
    ids=["bomb", "large bomb", "equal events", "nested", "two members", "cut", "empty"],
)
def test_decompression_is_bounded_by_ratio_and_size(tmp_path, packed, status, code):
    async def scenario(client):
        tracemalloc.start()
        try:
            answer = await client.post(BATCH, content=packed, headers=JSON | {"Content-Encoding": "gzip"})
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert answer.status_code == status
        if code is not None:
            assert answer.json()["error"]["code"] == code
            assert peak < 6 * MIB

    with_client(tmp_path, scenario)


def test_a_bomb_is_refused_by_its_ratio():
    assert len(b" " * 30 * MIB) > MAX_RATIO * len(gzip.compress(b" " * 30 * MIB))


def test_large_bodies_share_a_budget_and_small_ones_need_none():
    budget = BodyBudget(MIB)
    with budget.share() as first, budget.share() as second, budget.share() as small:
        first.grow(600 * 1024)
        second.grow(200 * 1024)
        with pytest.raises(Exception, match="too much memory") as refused:
            second.grow(700 * 1024)
        assert refused.value.status == 503
        small.grow(64 * 1024)
    with budget.share() as again:
        again.grow(MIB)


def test_bodies_of_writes_of_marquez_share_the_budget_of_events(tmp_path):
    path = "/api/v1/namespaces/team"
    described = encode({"ownerName": "team", "description": "x" * 180_000})
    event = encode(body(run_facets={"padding": {"text": "x" * 180_000}}))

    async def scenario(client):
        begun, finish = asyncio.Event(), asyncio.Event()

        async def slow():
            yield described[:-1]
            begun.set()
            await finish.wait()
            yield described[-1:]

        writing = asyncio.create_task(client.put(path, content=slow(), headers=JSON))
        await begun.wait()
        for answer in (
            await client.put(path, content=described, headers=JSON),
            await client.post("/api/v1/lineage", content=event, headers=JSON),
        ):
            assert (answer.status_code, answer.json()["error"]["code"]) == (503, "overloaded")
            assert answer.headers["Retry-After"] == "1"
        finish.set()
        assert (await writing).status_code == 200
        for _ in range(3):
            assert (await client.put(path, content=described, headers=JSON)).status_code == 200

    with_client(tmp_path, scenario, max_event_bytes=200_000, max_batch_bytes=200_000, max_body_memory=1)


def test_the_queue_is_bounded_by_bytes_even_if_it_is_empty(tmp_path):
    log = EventLog(tmp_path)
    written, release = threading.Event(), threading.Event()

    def on_batch(_):
        written.set()
        release.wait(30)

    writer = EventWriter(log, 100, 10_000, on_batch)
    try:
        small = read_original(encode(body(second=1)))
        large = read_original(encode(body(second=2, run_facets={"padding": {"text": "x" * 20_000}})))
        with pytest.raises(QueueFull):
            writer.submit([large], None)
        many = [read_original(encode(body(second=number))) for number in range(100)]
        with pytest.raises(QueueFull):
            writer.submit(many, None)
        writer.submit([small], None)
        assert written.wait(30)
    finally:
        release.set()
        writer.close()
        log.close()


def test_streams_of_changes_are_limited():
    async def check():
        feed = ChangeFeed(2)
        streams = [feed.subscribe(30) for _ in range(3)]
        for stream in streams[:2]:
            await anext(stream)
        with pytest.raises(TooManyListeners):
            await anext(streams[2])
        await streams[0].aclose()
        assert await anext(feed.subscribe(30)) == ("resync", {})

    asyncio.run(check())


def app_of_tests():
    app = FastAPI()
    install_error_handlers(app)
    app.state.closed = 0

    @app.post("/echo")
    async def echo(request: Request) -> Response:
        return Response(str(len(await read_body(request, 10 * MIB))))

    @app.get("/large")
    async def large() -> Response:
        return Response(b"x" * 20 * MIB)

    @app.post("/refuse")
    async def refuse() -> Response:
        return Response(status_code=401)

    return app


@asynccontextmanager
async def server_with(**limits):
    """Provide address and connection table of a server in this process."""
    protocol = limited_protocol(ConnectionLimits(**limits))
    config = uvicorn.Config(app_of_tests(), http=protocol, ws="none", log_config=None, timeout_keep_alive=600)
    server = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        running = asyncio.create_task(server.serve(sockets=[listener]))
        while not server.started:
            await asyncio.sleep(0.01)
        try:
            yield listener.getsockname(), protocol.table
        finally:
            server.should_exit = True
            server.force_exit = True
            await running


class Client:
    """Connection that keeps what it received before it was reset, as a server does that closes it with unread data."""

    def __init__(self, address):
        self._socket = socket.create_connection(address)
        self._socket.setblocking(False)

    async def send(self, data):
        with suppress(ConnectionError):
            await asyncio.wait_for(asyncio.get_running_loop().sock_sendall(self._socket, data), 60)

    async def drip(self, byte, pause):
        """Send a byte again and again, until this is cancelled."""
        while True:
            await self.send(byte)
            await asyncio.sleep(pause)

    async def receive(self, end):
        """Receive until something."""
        received = b""
        while not received.endswith(end):
            part = await asyncio.wait_for(asyncio.get_running_loop().sock_recv(self._socket, MIB), 60)
            assert part, received
            received += part
        return received

    def close(self):
        self._socket.close()

    async def closed(self):
        """Return what the server still sends, and the seconds until it closes the connection."""
        began = time.monotonic()
        received = b""
        with self._socket, suppress(ConnectionError):
            async with asyncio.timeout(60):
                while part := await asyncio.get_running_loop().sock_recv(self._socket, MIB):
                    received += part
        return received, time.monotonic() - began


NO_LIMIT = 600.0
NO_LIMITS = {"head_seconds": NO_LIMIT, "stall_seconds": NO_LIMIT, "body_seconds": NO_LIMIT, "write_seconds": NO_LIMIT}
"""Limits that no test awaits: what ends earlier has another cause."""
POST = b"POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n"


@pytest.mark.parametrize("sent", [b"", b"GET /echo HTTP/1.1\r\n", b"GET /echo HTTP/1.1\r\nHost: localhost\r\nX-A: 1"])
def test_slow_heads_time_out(sent):
    async def check():
        async with server_with(**NO_LIMITS | {"head_seconds": 1.0}) as (address, _):
            client = Client(address)
            await client.send(sent)
            dripping = asyncio.create_task(client.drip(b"y" if sent else b"", 0.2))
            received, seconds = await client.closed()
            dripping.cancel()
            assert received.startswith(b"HTTP/1.1 408")
            assert seconds > 0.5

    asyncio.run(check())


def test_the_second_head_of_a_connection_times_out_too():
    async def check():
        async with server_with(**NO_LIMITS | {"head_seconds": 1.0}) as (address, _):
            client = Client(address)
            await client.send(POST.replace(b"1000", b"0"))
            assert b"200 OK" in await client.receive(b"\r\n\r\n0")
            await client.send(b"GET ")
            assert (await client.closed())[0].startswith(b"HTTP/1.1 408")

    asyncio.run(check())


@pytest.mark.parametrize(
    ("pause", "limits", "expected"),
    [(NO_LIMIT, {"stall_seconds": 1.0}, 1.0), (0.1, {"stall_seconds": 4.0, "body_seconds": 6.0}, 6.0)],
    ids=["stalled", "dripping"],
)
def test_slow_bodies_time_out(pause, limits, expected):
    async def check():
        async with server_with(**NO_LIMITS | limits) as (address, table):
            client = Client(address)
            await client.send(POST)
            dripping = asyncio.create_task(client.drip(b"y", pause))
            received, seconds = await client.closed()
            dripping.cancel()
            assert received.startswith(b"HTTP/1.1 408")
            assert seconds > expected - 0.5
            while len(table):
                await asyncio.sleep(0.05)

    asyncio.run(check())


def test_a_client_that_does_not_read_is_disconnected():
    async def check():
        async with server_with(**NO_LIMITS | {"write_seconds": 2.0}) as (address, table):
            with closing(socket.create_connection(address)) as client:
                client.sendall(b"GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n")
                deadline = time.monotonic() + 60
                while len(table) == 0 and time.monotonic() < deadline:
                    await asyncio.sleep(0.05)
                while len(table) and time.monotonic() < deadline:
                    await asyncio.sleep(0.05)
                assert len(table) == 0

    asyncio.run(check())


def test_the_rest_of_a_refused_body_is_not_awaited():
    async def check():
        async with server_with(**NO_LIMITS, linger_seconds=0.5) as (address, _):
            client = Client(address)
            await client.send(POST.replace(b"/echo", b"/refuse") + b"y")
            assert (await client.closed())[0].startswith(b"HTTP/1.1 401")

    asyncio.run(check())


@pytest.mark.parametrize(
    "sent",
    [
        b"GET /" + b"a" * 200_000,
        b"GET / HTTP/1.1\r\n" + b"X-A: " + b"a" * 200_000,
        b"GET / HTTP/1.1\r\n" + b"X-A: b\r\n" * 20_000,
        POST.replace(b"Content-Length: 1000", b"Transfer-Encoding: chunked") + b"0\r\n" + b"X-A: b\r\n" * 30_000,
    ],
    ids=["target", "header", "headers", "trailers"],
)
def test_heads_are_bounded(sent):
    async def check():
        async with server_with(**NO_LIMITS, linger_seconds=0.5) as (address, _):
            client = Client(address)
            await client.send(sent)
            received, _ = await client.closed()
            assert b"200 OK" not in received

    asyncio.run(check())


def test_pipelined_requests_are_bounded_each():
    async def check():
        async with server_with() as (address, _):
            client = Client(address)
            await client.send(POST.replace(b"1000", b"0") * 2_000)
            await client.send(POST.replace(b"1000", b"4") + b"last")
            answers = await client.receive(b"\r\n\r\n4")
            client.close()
            assert answers.count(b"200 OK") == 2_001

    asyncio.run(check())


def test_connections_that_wait_make_room_for_new_ones():
    async def check():
        async with server_with(total=20, **NO_LIMITS) as (address, table):
            idle = [await asyncio.open_connection(*address) for _ in range(60)]
            for _ in range(5):
                reader, writer = await asyncio.open_connection(*address)
                writer.write(POST + b"y" * 1000)
                assert b"200 OK" in await asyncio.wait_for(reader.readuntil(b"\r\n\r\n1000"), 60)
                writer.close()
            assert len(table) <= 20
            for _, writer in idle:
                writer.close()

    asyncio.run(check())


def test_open_requests_are_not_displaced():
    async def check():
        async with server_with(total=4) as (address, _):
            busy = [Client(address) for _ in range(4)]
            for client in busy:
                await client.send(POST.replace(b"Host", b"Expect: 100-continue\r\nHost") + b"y")
                assert b"100 Continue" in await client.receive(b"\r\n\r\n")  # the application reads the body
            assert (await Client(address).closed())[0].startswith(b"HTTP/1.1 503")
            for client in busy:
                await client.send(b"y" * 999)
                assert b"200 OK" in await client.receive(b"\r\n\r\n1000")
                client.close()

    asyncio.run(check())


@pytest.mark.slow
def test_the_service_stays_usable_beside_slow_and_many_connections(tmp_path):
    with connected_client(tmp_path / "data", "--max-connections", 50) as client:
        address = (client.service.host, client.service.port)
        slow = [socket.create_connection(address) for _ in range(200)]
        for number in range(30):
            assert client.post(body(second=number)).status == 201
        assert json.loads(client.get("/stats").body)["stored"] == 30
        for connection in slow:
            connection.close()
