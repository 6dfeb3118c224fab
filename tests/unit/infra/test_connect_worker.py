# SPDX-License-Identifier: Apache-2.0
"""What the client of Connect makes of a worker that is busy, starting, or somebody else; answers as a real one's."""

import json
from http.server import BaseHTTPRequestHandler

import pytest

from infra.errors import Interrupted
from infra.model.resources import Connector
from infra.provider import connect_worker
from infra.provider.connect_worker import BrokerUnreachable, RequestRejected, Worker, WorkerUnreachable
from infra.provider.kind import Call
from infra.provider.kinds.connector import ConnectorKind
from tests.unit.infra.answering import next_answer, serving

REBALANCE = (409, {"error_code": 409, "message": "Cannot complete request momentarily due to stale configuration"})
OVERTAKEN = (500, {"message": "Request cannot be completed because a rebalance is expected"})
NOT_UP_YET = (404, "<html>Not Found</html>")
NO_BROKER = (500, {"error_code": 500, "message": "Request timed out. The worker is currently ensuring membership"})
NO_CONNECTOR = (404, {"error_code": 404, "message": "Connector own not found"})


class Script(BaseHTTPRequestHandler):
    """Gives its answers in turn, the last one for ever, and notes what it was asked."""

    def answer(self):
        length = int(self.headers.get("Content-Length", 0))
        self.server.asked.append((self.command, self.path, self.rfile.read(length).decode()))
        status, body = next_answer(self.server)
        text = body if isinstance(body, str) else json.dumps(body)
        self.send_response(status)
        self.send_header("Content-Type", "text/html" if isinstance(body, str) else "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    do_GET = do_PUT = do_POST = do_DELETE = answer

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    with serving(Script) as running:
        yield running


@pytest.fixture
def worker(server):
    def make(*answers, call=None):
        server.answers = list(answers)
        return Worker(f"http://127.0.0.1:{server.server_port}", "change connector own", call or Call())

    return make


def test_a_worker_that_rebalances_or_is_not_up_yet_is_asked_again(worker, server):
    config = worker(REBALANCE, OVERTAKEN, NOT_UP_YET, (200, {"name": "own", "topics": "orders"})).config("own")
    assert config == {"topics": "orders"}
    assert server.asked == [("GET", "/connectors/own/config", "")] * 4


def test_what_the_worker_itself_does_not_find_is_not_there(worker):
    assert worker(NO_CONNECTOR).config("own") is None
    assert worker(NO_CONNECTOR).status("own") is None
    worker(NO_CONNECTOR).delete("own")


def test_a_refusal_is_said_in_the_workers_words(worker):
    with pytest.raises(
        RequestRejected, match="change connector own: the worker responded with status 400: no such thing"
    ):
        worker((400, {"message": "no such thing"})).put("own", {"a": "1"})


def test_a_worker_without_its_broker_is_told_from_one_that_refuses(worker):
    with pytest.raises(BrokerUnreachable, match="the worker responded with status 500: Request timed out"):
        worker(NO_BROKER).config("own")


@pytest.fixture
def connector(server):
    def make(*answers):
        server.answers = list(answers)
        url = f"http://127.0.0.1:{server.server_port}"
        return Connector(worker=url, cluster="ours", name="own", config={"topics": "orders"})

    return make


def test_a_worker_without_its_broker_is_in_the_way_of_no_repair(connector):
    """Kafka was killed, and `up --refresh` is what brings it back."""
    inputs = connector((200, {"kafka_cluster_id": "ours"}), NO_BROKER)
    assert ConnectorKind().read(inputs, Call()).inputs == inputs


def test_a_lab_whose_broker_is_gone_can_be_taken_down(connector):
    ConnectorKind().delete(connector((200, {"kafka_cluster_id": "ours"}), NO_BROKER), Call())


def test_a_class_that_is_missing_is_no_failure_of_the_worker(worker):
    missing = (500, {"message": "...BadRequestException: Failed to find any class that implements Connector"})
    assert worker(missing).validate("own", {"connector.class": "x"}) is None
    with pytest.raises(RequestRejected, match="status 500: the disk is full"):
        worker((500, {"message": "the disk is full"})).validate("own", {"connector.class": "x"})


def test_patience_with_a_busy_worker_ends(worker, monkeypatch):
    monkeypatch.setattr(connect_worker, "REBALANCE_SECONDS", 0.3)
    with pytest.raises(RequestRejected, match=r"for 0\.3 s: Cannot complete request momentarily"):
        worker(REBALANCE).resume("own")


def test_an_interrupt_ends_it_at_once(worker):
    call = Call()
    call.stopped.set()
    with pytest.raises(Interrupted):
        worker(REBALANCE, call=call).resume("own")


def test_where_nothing_listens_that_is_said(free_port, monkeypatch):
    monkeypatch.setattr(connect_worker, "UNREACHABLE_SECONDS", 0.2)
    with pytest.raises(WorkerUnreachable, match=f"no Kafka Connect worker listens at http://127.0.0.1:{free_port}"):
        Worker(f"http://127.0.0.1:{free_port}", "look at connector own", Call()).cluster()


@pytest.fixture
def free_port():
    with serving(Script) as probe:
        return probe.server_port
