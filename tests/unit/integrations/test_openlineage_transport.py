# SPDX-License-Identifier: Apache-2.0
"""The OpenLineage client as a transport: its configuration, what it confirms, and what it would lose."""

import json
import os
import ssl
import subprocess
import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from openlineage.client.transport.kafka import KafkaTransport

from lineagelab_common import spool as spools
from lineagelab_common.client import RejectedError, UnavailableError, encode
from lineagelab_common.events import EventWriter, Json
from lineagelab_common.identifiers import ParentRun
from lineagelab_common.spool import Spool
from lineagelab_spark.configuration_error import ConfigurationError
from lineagelab_spark.driver_settings import SPOOL, open_spool
from lineagelab_spark.openlineage_transport import OpenLineageReceiver, client_event, open_receiver
from tests.unit.integrations.lineage_endpoint import TAKEN, answering, free_port

RUN = "0193a1f0-0000-7000-8000-000000000001"
WRITER = EventWriter("urn:test")
ROOT = ParentRun("shop", "week", "0193a1f0-0000-7000-8000-000000000003")
NIGHTLY = ParentRun("shop", "nightly", "0193a1f0-0000-7000-8000-000000000002")
PARENT = WRITER.parent(replace(NIGHTLY, root=ROOT))
NO_GIT = {"facets": {"source_code_location": {"disabled": True}}}
NO_RETRY = {"total": 0, "read": 0, "connect": 0}


@pytest.fixture(autouse=True)
def own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Remove the configuration of the machine, and keep what the client writes into the environment local."""
    for name in [name for name in os.environ if name.startswith(("OPENLINEAGE", "LINEAGE_SPOOL"))]:
        monkeypatch.delenv(name)
    # The client copies these variables into others; monkeypatch removes them at the end.
    for name in ("TYPE", "URL", "AUTH"):
        monkeypatch.setenv(f"OPENLINEAGE__TRANSPORT__TRANSPORTS__DEFAULT_HTTP__{name}", "")
        monkeypatch.delenv(f"OPENLINEAGE__TRANSPORT__TRANSPORTS__DEFAULT_HTTP__{name}")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(spools, "FIRST_BACKOFF", 0.01)
    monkeypatch.setattr(spools, "MAX_BACKOFF", 0.05)


def event(event_type: str = "START", **facets: Json) -> Json:
    source = {"namespace": "file", "name": "/in", "facets": {"schema": WRITER.schema({"id": "bigint"})}}
    target = {"namespace": "file", "name": "/out", "facets": {}, "outputFacets": {}}
    run = {"runId": RUN, "facets": facets}
    job = {"namespace": "shop", "name": "copy", "facets": {"jobType": WRITER.facet("jobType", processingType="BATCH")}}
    return WRITER.run_event(event_type, "2026-01-01T00:00:00.000Z", run, job, [source], [target])


def http(url: str, **more: object) -> Json:
    return {"transport": {"type": "http", "url": url, "retry": NO_RETRY, **more}, **NO_GIT}


def without_empty(value: object) -> object:
    """Drop what the client's serialisation adds or leaves out: empty facets."""
    if isinstance(value, dict):
        return {key: without_empty(each) for key, each in value.items() if each not in ({}, None)}
    return [without_empty(each) for each in value] if isinstance(value, list) else value


def test_client_sends_the_event_unchanged() -> None:
    given = event(parent=PARENT, errorMessage=WRITER.error("no space", "JAVA"))
    with answering(TAKEN) as service:
        open_receiver(http(service.url)).send(encode(given))
    (taken,) = service.taken
    assert taken["run"]["facets"].pop("tags")  # the client's own, with its version
    assert without_empty(taken) == without_empty(given)


def test_event_about_a_job_is_sent_as_one() -> None:
    given = WRITER.job_event("2026-01-01T00:00:00.000Z", {"namespace": "shop", "name": "copy", "facets": {}}, [], [])
    with answering(TAKEN) as service:
        open_receiver(http(service.url)).send(encode(given))
    (taken,) = service.taken
    assert taken["schemaURL"].endswith("#/$defs/JobEvent")
    assert "run" not in taken


def test_url_and_key_of_the_environment_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    with receiver_of_requests() as service:
        monkeypatch.setenv("OPENLINEAGE_URL", service.url)
        monkeypatch.setenv("OPENLINEAGE_API_KEY", "secret")
        open_receiver(NO_GIT).send(encode(event()))
    assert [headers["Authorization"] for headers in service.headers] == ["Bearer secret"]


def test_file_of_the_working_directory_is_used() -> None:
    Path("openlineage.yml").write_text(json.dumps({**NO_GIT, "transport": {"type": "file", "log_file_path": "events"}}))
    open_receiver().send(encode(event()))
    (written,) = Path().glob("events-*.json")
    assert json.loads(written.read_text())["run"]["runId"] == RUN


def test_console_is_a_receiver_if_configured(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO", "openlineage.client.transport.console"):
        open_receiver({"transport": {"type": "console"}, **NO_GIT}).send(encode(event()))
    assert any(RUN in record.message for record in caplog.records)


def test_server_certificate_is_verified(tmp_path: Path) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    subject = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate]
    subprocess.run([*command, *subject], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with receiver_of_requests(context) as service:
        open_receiver(http(service.url, sslContext={"caCertPath": str(certificate)})).send(encode(event()))
        with pytest.raises(UnavailableError, match="CERTIFICATE_VERIFY_FAILED"):
            open_receiver(http(service.url)).send(encode(event()))
    assert len(service.headers) == 1


@pytest.mark.parametrize(
    ("status", "expected"),
    [(400, RejectedError), (401, RejectedError), (429, UnavailableError), (503, UnavailableError)],
)
def test_error_responses_are_permanent_or_temporary(status: int, expected: type[Exception]) -> None:
    retry = {**NO_RETRY, "status_forcelist": []}
    with answering(status) as service, pytest.raises(expected, match=str(status)):
        open_receiver(http(service.url, retry=retry)).send(encode(event()))


def test_asynchronous_transport_confirms_too() -> None:
    """The client's own would return at once, and log the failure later."""
    config = http(f"http://127.0.0.1:{free_port()}", max_queue_size=10)
    for transport in (
        {**config["transport"], "type": "async_http"},
        {"type": "composite", "transports": [{**config["transport"], "type": "async_http"}]},
    ):
        with pytest.raises(UnavailableError):
            open_receiver({**config, "transport": transport}).send(encode(event()))


def test_kafka_without_brokers_keeps_the_event(monkeypatch: pytest.MonkeyPatch) -> None:
    """The client's own transport logs the error of the delivery, and returns."""
    monkeypatch.setattr("lineagelab_spark.openlineage_transport.KAFKA_TIMEOUT", 5.0)
    kafka = {"bootstrap.servers": f"127.0.0.1:{free_port()}", "message.timeout.ms": 300}
    receiver = open_receiver({"transport": {"type": "kafka", "topic": "lineage", "config": kafka}, **NO_GIT})
    with pytest.raises(UnavailableError, match="MSG_TIMED_OUT"):
        receiver.send(encode(event(parent=PARENT)))


def test_kafka_key_is_that_of_the_first_known_job_of_the_hierarchy() -> None:
    """All events of a chain of runs go to one partition, in order."""
    kafka = {"bootstrap.servers": f"127.0.0.1:{free_port()}"}
    receiver = open_receiver({"transport": {"type": "kafka", "topic": "lineage", "config": kafka}, **NO_GIT})
    transport = receiver._client.transport
    assert isinstance(transport, KafkaTransport)
    sent = (event(), event(parent=WRITER.parent(NIGHTLY)), event(parent=PARENT))
    assert [transport._get_message_key(client_event(each)) for each in sent] == [
        *("run:shop/copy", "run:shop/nightly", "run:shop/week")
    ]


@pytest.mark.parametrize(
    ("config", "problem"),
    [
        ({}, "no receiver of lineage events is configured"),
        ({"transport": {"type": "http"}}, "`url` key not passed"),
        ({"transport": {"type": "http", "url": "nowhere"}}, "Need valid url"),
        ({"transport": {"type": "http", "url": "http://x", "auth": {"type": "api_key"}}}, "apiKey is required"),
        ({"transport": {"type": "kafka", "topic": "lineage"}}, "kafka `config` not passed"),
        ({"transport": {"type": "no.such.Transport"}}, "no.such"),
        ({"transport": {"type": "console"}, "filters": [{"kind": "exact"}]}, "Failed to parse"),
    ],
)
def test_invalid_configuration_is_an_error_at_the_start(config: Json, problem: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        open_spool(None, config)
    assert problem in str(caught.value)
    assert "https://openlineage.io/docs" in str(caught.value)


@pytest.mark.parametrize("text", ["transport: [", "just text", ""])
def test_damaged_file_is_an_error_at_the_start(text: str) -> None:
    """The client logs it and prints events to the console."""
    Path("openlineage.yml").write_text(text)
    with pytest.raises(ConfigurationError, match=r"openlineage\.yml"):
        open_spool(None)


def test_missing_file_that_the_environment_names_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENLINEAGE_CONFIG", "/nowhere/openlineage.yml")
    with pytest.raises(ConfigurationError, match=r"OPENLINEAGE_CONFIG names /nowhere/openlineage\.yml"):
        open_spool(None)


def test_spool_in_a_folder_that_cannot_be_made_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv(SPOOL, str(tmp_path / "file" / "spool.json"))
    with pytest.raises(ConfigurationError, match=r"LINEAGE_SPOOL names .*file/spool\.json"):
        open_spool("http://127.0.0.1:9")


def test_disabled_client_discards_events(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENLINEAGE_DISABLED", "true")
    spool = open_spool(None)
    spool.add(event())
    assert len(spool) == 0


def test_dead_receiver_loses_nothing_and_the_next_driver_delivers(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(SPOOL, str(tmp_path / "spools" / "driver.json"))
    first = open_spool(None, http(f"http://127.0.0.1:{free_port()}"))
    first.add(event("START"))
    first.add(event("COMPLETE"))
    assert not first.close(0.2)
    with answering(TAKEN) as service:
        second = open_spool(None, http(service.url))
        assert second.close(30)
    assert [each["eventType"] for each in service.taken] == ["START", "COMPLETE"]
    assert not list((tmp_path / "spools").iterdir())


def test_event_that_a_transport_cannot_send_lets_others_pass(caplog: pytest.LogCaptureFixture) -> None:
    with answering(TAKEN) as service:
        receiver = open_receiver(http(service.url))
        spool = Spool(_FailingFor("START", receiver))
        spool.add(event("START"))
        spool.add(event("COMPLETE"))
        service.wait_for_events(1)
        assert not spool.close(0.1)
    assert [each["eventType"] for each in service.taken] == ["COMPLETE"]
    assert "ValueError: cannot serialise" in caplog.text


class _FailingFor(OpenLineageReceiver):
    """Receiver whose transport raises an unexpected error for one type of event."""

    def __init__(self, event_type: str, receiver: OpenLineageReceiver) -> None:
        super().__init__(receiver._client)
        emit = receiver._client.transport.emit

        def failing(event: object) -> None:
            if event.eventType.value == event_type:  # type: ignore[attr-defined]
                raise ValueError("cannot serialise")
            emit(event)  # type: ignore[arg-type]

        receiver._client.transport.emit = failing  # type: ignore[method-assign]


class receiver_of_requests:
    """HTTP or HTTPS server that accepts all events, and keeps the headers of the requests."""

    def __init__(self, context: ssl.SSLContext | None = None) -> None:
        headers: list = []
        self.headers = headers

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                headers.append(dict(self.headers))
                self.rfile.read(int(self.headers["Content-Length"]))
                self.send_response(TAKEN)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, format: str, *arguments: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._server.block_on_close = False
        if context is not None:
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self.url = f"http{'s' if context else ''}://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})

    def __enter__(self) -> "receiver_of_requests":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
