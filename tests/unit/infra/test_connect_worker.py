# SPDX-License-Identifier: Apache-2.0
"""Client of Kafka Connect: retries, errors and missing connectors; responses are those of a real worker."""

import json
from http.server import BaseHTTPRequestHandler

import pytest

from infra.errors import Interrupted
from infra.model.resources import Connector
from infra.provider import connect_worker
from infra.provider.connect_worker import BrokerUnreachable, ConnectWorker, RequestRejected, WorkerUnreachable
from infra.provider.kind import OperationContext, ServiceUnreachable
from infra.provider.kinds.connector import ConnectorKind
from tests.unit.infra.http_server import next_response, serving

REBALANCE = (409, {"error_code": 409, "message": "Cannot complete request momentarily due to stale configuration"})
REBALANCE_EXPECTED = (500, {"message": "Request cannot be completed because a rebalance is expected"})
STARTING = (404, "<html>Not Found</html>")
NO_BROKER = (500, {"error_code": 500, "message": "Request timed out. The worker is currently ensuring membership"})
NO_CONNECTOR = (404, {"error_code": 404, "message": "Connector own not found"})


class WorkerHandler(BaseHTTPRequestHandler):
    """Sends its responses in turn, repeats the last one, and records requests."""

    def respond(self):
        length = int(self.headers.get("Content-Length", 0))
        self.server.received.append((self.command, self.path, self.rfile.read(length).decode()))
        status, body = next_response(self.server)
        text = body if isinstance(body, str) else json.dumps(body)
        self.send_response(status)
        self.send_header("Content-Type", "text/html" if isinstance(body, str) else "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    do_GET = do_PUT = do_POST = do_DELETE = respond

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    with serving(WorkerHandler) as running:
        yield running


@pytest.fixture
def worker(server):
    def make(*responses, call=None):
        server.responses = list(responses)
        return ConnectWorker(
            f"http://127.0.0.1:{server.server_port}", "change connector own", call or OperationContext()
        )

    return make


def test_request_is_retried_while_the_worker_rebalances_or_starts(worker, server):
    config = worker(REBALANCE, REBALANCE_EXPECTED, STARTING, (200, {"name": "own", "topics": "orders"})).config("own")
    assert config == {"topics": "orders"}
    assert server.received == [("GET", "/connectors/own/config", "")] * 4


def test_missing_connector_is_none(worker):
    assert worker(NO_CONNECTOR).config("own") is None
    assert worker(NO_CONNECTOR).status("own") is None
    worker(NO_CONNECTOR).delete("own")


def test_rejected_request_error_contains_the_workers_message(worker):
    with pytest.raises(
        RequestRejected, match="change connector own: the worker responded with status 400: no such thing"
    ):
        worker((400, {"message": "no such thing"})).put("own", {"a": "1"})


def test_worker_without_broker_raises_its_own_error(worker):
    with pytest.raises(BrokerUnreachable, match="the worker responded with status 500: Request timed out"):
        worker(NO_BROKER).config("own")


@pytest.fixture
def connector(server):
    def make(*responses):
        server.responses = list(responses)
        url = f"http://127.0.0.1:{server.server_port}"
        return Connector(worker=url, cluster="ours", name="own", config={"topics": "orders"})

    return make


def test_read_keeps_the_inputs_if_the_worker_has_no_broker(connector):
    """After Kafka was killed, `up --refresh` must get past the connectors to restart it."""
    inputs = connector((200, {"kafka_cluster_id": "ours"}), NO_BROKER)
    assert ConnectorKind().read(inputs, OperationContext()).inputs == inputs


def test_delete_fails_if_the_worker_has_no_broker(connector):
    inputs = connector((200, {"kafka_cluster_id": "ours"}), NO_BROKER)
    with pytest.raises(ServiceUnreachable, match="could not delete connector"):
        ConnectorKind().delete(inputs, OperationContext())


def test_validate_returns_none_for_a_missing_connector_class(worker):
    missing = (500, {"message": "...BadRequestException: Failed to find any class that implements Connector"})
    assert worker(missing).validate("own", {"connector.class": "x"}) is None
    with pytest.raises(RequestRejected, match="status 500: the disk is full"):
        worker((500, {"message": "the disk is full"})).validate("own", {"connector.class": "x"})


def test_retries_of_a_busy_worker_end_after_the_timeout(worker, monkeypatch):
    monkeypatch.setattr(connect_worker, "REBALANCE_SECONDS", 0.3)
    with pytest.raises(RequestRejected, match=r"for 0\.3 s: Cannot complete request momentarily"):
        worker(REBALANCE).resume("own")


def test_cancelled_call_is_not_retried(worker):
    call = OperationContext()
    call.stopped.set()
    with pytest.raises(Interrupted):
        worker(REBALANCE, call=call).resume("own")


def test_unreachable_worker_is_reported_with_its_url(free_port, monkeypatch):
    monkeypatch.setattr(connect_worker, "UNREACHABLE_SECONDS", 0.2)
    with pytest.raises(WorkerUnreachable, match=f"no Kafka Connect worker listens at http://127.0.0.1:{free_port}"):
        ConnectWorker(f"http://127.0.0.1:{free_port}", "look at connector own", OperationContext()).cluster()


@pytest.fixture
def free_port():
    with serving(WorkerHandler) as probe:
        return probe.server_port
