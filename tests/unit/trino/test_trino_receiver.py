# SPDX-License-Identifier: Apache-2.0
"""Receiver of Trino's events: as a process, beside a server that answers as Trino does, killed, without a backend."""

import copy
import json
import os
import subprocess
import sys
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from infra.project import PROJECT, command_path
from lineagelab_trino import query_reporter
from lineagelab_trino.query_lineage import QueryNames
from lineagelab_trino.query_reporter import GONE_MESSAGE, QueryReporter
from lineagelab_trino.trino_client import SOURCE, MissingTableError, TrinoClient, TrinoError
from tests.stack.polling import until
from tests.unit.lineage.lineage_recorder import accept, recording

NAMES = QueryNames("jobs", "trino://trino:8090", "memory")
KEY = "a key of the lab"
DEADLINE = 60
COLUMNS = {"memory.default.a": {"nationkey": "bigint", "name": "varchar", "regionkey": "bigint"}}
RECORDED = [json.loads(line) for line in (Path(__file__).parent / "listener_events.ndjson").read_text().splitlines()]
CREATED, ENDED = (
    next(each for each in RECORDED if each["metadata"]["query"].startswith("insert") and ("endTime" in each) == is_end)
    for is_end in (False, True)
)


def of_query(event, number):
    changed = copy.deepcopy(event)
    changed["metadata"]["queryId"] = f"20261127_152208_{number:05}_abcde"
    return changed


class Trino:
    """Answers of a coordinator: `states` of queries, `tables` with columns; `is_starting` as while it starts."""

    def __init__(self):
        self.states, self.tables, self.is_starting = {}, dict(COLUMNS), False
        trino = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                if self.path == "/v1/info":
                    return self.answer({"starting": trino.is_starting})
                state = trino.states.get(self.path.rpartition("/")[2].partition("?")[0])
                return self.answer({"state": state}) if state else self.answer({}, 410)

            def do_POST(self):
                assert self.headers["X-Trino-Source"] == SOURCE
                statement = self.rfile.read(int(self.headers["Content-Length"])).decode()
                table = statement.removeprefix("DESCRIBE ").replace('"', "")
                if table not in trino.tables:
                    return self.answer({"error": {"message": "no table", "errorName": "TABLE_NOT_FOUND"}})
                return self.answer({"data": [[name, kind, "", ""] for name, kind in trino.tables[table].items()]})

            def answer(self, content, status=200):
                body = json.dumps(content).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *words):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture
def trino():
    found = Trino()
    yield found
    found.server.shutdown()
    found.server.server_close()


@pytest.fixture
def backend():
    with recording() as found:
        yield found


def of_run(backend, number):
    """Return the types of the accepted events of a query."""
    query_id = of_query(CREATED, number)["metadata"]["queryId"]
    found = [each for each in backend.events if each["run"]["facets"]["externalQuery"]["externalQueryId"] == query_id]
    return [each["eventType"] for each in found]


@contextmanager
def receiver(trino, backend, data):
    """Run the receiver as a process; provide it and its URL."""
    environment = {
        **os.environ,
        "PYTHONPATH": command_path(PROJECT),
        "TRINO_LINEAGE_KEY": KEY,
        "OPENLINEAGE_URL": backend.url,
        "OPENLINEAGE_NAMESPACE": NAMES.jobs,
        "TRINO_NAMESPACE": NAMES.datasets,
        "TRINO_URL": trino.url,
    }
    words = [sys.executable, "-m", "lineagelab_trino", "--port", "0", "--data", str(data)]
    log = data / "receiver.log"
    with log.open("w") as file:
        process = subprocess.Popen(words, env=environment, stderr=file)
    try:
        until(lambda: "receiving events" in log.read_text())
        yield process, f"http://127.0.0.1:{log.read_text().splitlines()[0].rpartition(':')[2]}"
    finally:
        process.terminate()
        assert process.wait(DEADLINE) in (0, -9)
    assert "Traceback" not in log.read_text()


def post(url, body, key=KEY, path="/events"):
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {key}"} if key else {})}
    try:
        with urlopen(Request(url + path, content, headers), timeout=DEADLINE) as answer:
            return answer.status, json.load(answer)["message"]
    except HTTPError as error:
        with error:
            return error.code, json.load(error)["message"]


def test_events_that_are_acknowledged_survive_kills_and_an_outage_of_the_backend(trino, backend, tmp_path):
    with receiver(trino, backend, tmp_path) as (process, url):
        assert post(url, of_query(CREATED, 1)) == (200, "ok")
        until(lambda: of_run(backend, 1) == ["START"])
        backend.rule = lambda event: 503
        assert post(url, of_query(ENDED, 1)) == (200, "ok")
        assert post(url, of_query(CREATED, 2)) == (200, "ok")
        process.kill()
    backend.rule = accept
    with receiver(trino, backend, tmp_path) as (_, url):
        assert post(url, of_query(ENDED, 2)) == (200, "ok")
        until(lambda: len(backend.events) >= 4)
    assert [of_run(backend, number) for number in (1, 2)] == [["START", "COMPLETE"]] * 2
    output = backend.events[-1]["outputs"][0]
    assert output["facets"]["columnLineage"]["fields"]["k"]["inputFields"][0]["field"] == "nationkey"


@pytest.mark.parametrize(
    ("body", "key", "path", "status", "message"),
    [
        (CREATED, "", "/events", 401, "connect-http-headers"),
        (CREATED, "another key", "/events", 401, "connect-http-headers"),
        (CREATED, KEY, "/", 404, "there is no /"),
        (b"{", KEY, "/events", 400, "no JSON"),
        (b"[]", KEY, "/events", 400, "no JSON object"),
        (b"[" * 100_000, KEY, "/events", 400, "no JSON"),
        (b"\xff\xfe", KEY, "/events", 400, "no JSON"),
        ({}, KEY, "/events", 400, "no event of Trino's HTTP event listener"),
    ],
)
def test_rubbish_is_refused_and_the_receiver_goes_on(trino, backend, tmp_path, body, key, path, status, message):
    with receiver(trino, backend, tmp_path) as (_, url):
        found, text = post(url, body, key, path)
        assert (found, message in text) == (status, True)
        assert post(url, of_query(CREATED, 1)) == (200, "ok")
        until(lambda: of_run(backend, 1) == ["START"])
    assert len(backend.events) == 1


def test_it_is_ready_when_trino_accepts_statements(trino, backend, tmp_path):
    trino.is_starting = True
    with receiver(trino, backend, tmp_path) as (_, url):
        with pytest.raises(HTTPError, match="503"):
            urlopen(f"{url}/health", timeout=DEADLINE)
        trino.is_starting = False
        with urlopen(f"{url}/health", timeout=DEADLINE) as answer:
            assert answer.status == 200


@pytest.mark.parametrize("missing", ["TRINO_URL", "TRINO_NAMESPACE", "OPENLINEAGE_URL"])
def test_a_missing_variable_is_named(tmp_path, missing):
    names = {"TRINO_URL", "TRINO_NAMESPACE", "OPENLINEAGE_URL"} - {missing}
    environment = {**os.environ, "PYTHONPATH": command_path(PROJECT), **dict.fromkeys(names, "http://127.0.0.1:1")}
    environment.pop(missing, None)
    words = [sys.executable, "-m", "lineagelab_trino", "--port", "0", "--data", str(tmp_path)]
    ended = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=DEADLINE, check=False)
    assert (ended.returncode, ended.stderr) == (1, f"lineagelab-trino: the variable {missing} is not set\n")


@pytest.fixture
def sent():
    return []


@pytest.fixture
def reporter(trino, sent, tmp_path):
    return QueryReporter(TrinoClient(trino.url, "lineage"), sent.append, NAMES, tmp_path / "open.json")


def types(sent):
    return [event["eventType"] for event in sent]


def test_a_query_of_a_killed_coordinator_fails(reporter, trino, sent, tmp_path, monkeypatch):
    trino.states[of_query(CREATED, 1)["metadata"]["queryId"]] = "RUNNING"
    reporter.receive(of_query(CREATED, 1))
    reporter.receive(of_query(CREATED, 2))
    restarted = QueryReporter(TrinoClient(trino.url, "lineage"), sent.append, NAMES, tmp_path / "open.json")
    restarted.end_lost_queries()
    assert types(sent) == ["START", "START"], "the last event may be on the way"
    monkeypatch.setattr(query_reporter, "GONE_SECONDS", 0)
    restarted.end_lost_queries()
    assert types(sent) == ["START", "START", "FAIL"]
    assert sent[-1]["run"]["runId"] == sent[1]["run"]["runId"]
    assert sent[-1]["run"]["facets"]["errorMessage"]["message"] == GONE_MESSAGE
    assert len(restarted.open_queries) == 1


def test_an_end_that_was_never_sent_is_noticed(reporter, trino, sent, monkeypatch):
    for number, state in ((1, "FINISHED"), (2, "FAILED")):
        trino.states[of_query(CREATED, number)["metadata"]["queryId"]] = state
        reporter.receive(of_query(CREATED, number))
    reporter.end_lost_queries()
    assert types(sent) == ["START", "START"], "the listener may still repeat its request"
    monkeypatch.setattr(query_reporter, "LOST_SECONDS", 0)
    reporter.end_lost_queries()
    assert types(sent)[2:] == ["COMPLETE", "FAIL"]
    reporter.end_lost_queries()
    assert len(sent) == 4
    assert reporter.open_queries == []


def test_a_trino_that_does_not_respond_ends_no_query(reporter, trino, sent):
    reporter.receive(of_query(CREATED, 1))
    trino.server.shutdown()
    trino.server.server_close()
    reporter.end_lost_queries()
    assert types(sent) == ["START"]


def test_a_start_that_arrives_after_the_end_is_reported_once_and_opens_nothing(reporter, sent):
    """The listener repeats a request that had no answer, while it sends the next ones."""
    reporter.receive(of_query(ENDED, 1))
    reporter.receive(of_query(CREATED, 1))
    reporter.receive(of_query(CREATED, 1))
    assert types(sent) == ["COMPLETE", "START"]
    assert sent[1]["eventTime"] < sent[0]["eventTime"]
    assert reporter.open_queries == []


def test_a_start_that_is_repeated_after_the_end_is_not_reported_again(reporter, sent):
    for event in (CREATED, ENDED, ENDED, CREATED):
        reporter.receive(of_query(event, 1))
    assert types(sent) == ["START", "COMPLETE", "COMPLETE"]
    assert sent[1] == sent[2]


def test_a_table_that_is_dropped_meanwhile_keeps_its_columns(reporter, trino, sent):
    reporter.receive(of_query(CREATED, 1))
    trino.tables.clear()
    reporter.receive(of_query(ENDED, 1))
    fields = sent[-1]["outputs"][0]["facets"]["columnLineage"]["fields"]
    assert fields["n"]["inputFields"][0]["field"] == "name"


def test_statements_of_the_receiver_itself_are_ignored(reporter, sent):
    event = of_query(ENDED, 1)
    event["context"]["source"] = SOURCE
    reporter.receive(event)
    assert sent == []


@pytest.mark.parametrize("content", ["", "[]", "{", '{"a": 1}', '{"a": [{}, {}]}'])
def test_a_damaged_file_of_open_queries_does_not_stop_the_receiver(trino, sent, tmp_path, content, caplog):
    (tmp_path / "open.json").write_text(content)
    found = QueryReporter(TrinoClient(trino.url, "lineage"), sent.append, NAMES, tmp_path / "open.json")
    assert found.open_queries == []
    assert "cannot read the open queries" in caplog.text


def test_errors_of_the_client_name_what_was_attempted(trino):
    client = TrinoClient(trino.url, "lineage")
    with pytest.raises(MissingTableError, match=r'DESCRIBE "memory"\."default"\."missing": no table'):
        client.columns("memory.default.missing")
    with pytest.raises(TrinoError, match=r"Trino at http://127\.0\.0\.1:1 does not respond"):
        TrinoClient("http://127.0.0.1:1", "lineage").columns("a.b.c")
    assert not TrinoClient("http://127.0.0.1:1", "lineage").has_started()
