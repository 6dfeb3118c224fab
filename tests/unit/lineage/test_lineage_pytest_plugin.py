# SPDX-License-Identifier: Apache-2.0
"""Pytest plugin: real clients as jobs under test, and its failure messages, run by pytest's `pytester`."""

import gzip
import http.client
import os
import re
import subprocess
import sys
import textwrap
import threading
from pathlib import Path
from random import Random
from urllib.request import urlopen

import pytest
from lineage_events import CATALOG_URI, NAMESPACE, RULES, dataset, encode, run_id
from lineage_valid_events import table, valid_event
from openlineage.client import OpenLineageClient
from openlineage.client.event_v2 import Job, Run, RunEvent, RunState
from openlineage.client.uuid import generate_new_uuid

from lineage.api.request_body import MAX_RATIO
from lineage.checks.pytest_plugin import lineage_events as events_fixture
from lineage.checks.pytest_plugin import lineage_rules as rules_fixture
from lineage.checks.recorder import MAX_BYTES, PATH, recording
from lineage.checks.schema_files import FOLDER_VARIABLE, find_schemas

pytest_plugins = ["pytester"]
REPOSITORY = Path(__file__).resolve().parents[3]
DOCUMENT = REPOSITORY / "docs" / "how-to" / "check-lineage-in-tests.md"
SCHEMAS = str(find_schemas())
"""Located before `pytester` replaces the home folder and with it the cache."""
TOO_LARGE = gzip.compress(Random(0).randbytes(2**14) * (MAX_BYTES // 2**14 + 1), 1, mtime=0)
"""Expands less than the permitted ratio, to more than the permitted size."""
BOMB = gzip.compress(bytes(MAX_BYTES), 9, mtime=0)
"""Expands to the permitted size, by more than the permitted ratio."""

# Renamed because other tests of this folder import a module with the fixture's name.
recorded = events_fixture
lineage_rules = rules_fixture


def event_of(job, state, run=None):
    return RunEvent(
        eventType=state,
        eventTime="2026-01-01T00:00:00Z",
        run=Run(run or str(generate_new_uuid())),
        job=Job("shop", job),
        producer="https://shop.example",
    )


@pytest.fixture
def run_tests(pytester, monkeypatch):
    """Return a function that runs a test file under the plugin, as a project would."""
    for name in [name for name in os.environ if name.startswith("OPENLINEAGE")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PYTHONPATH", str(REPOSITORY))
    monkeypatch.setenv(FOLDER_VARIABLE, SCHEMAS)

    def run(text, run=pytester.runpytest_inprocess):
        pytester.makepyfile(test_job=textwrap.dedent(text))
        return run("-p", "lineage.checks.pytest_plugin", "-p", "no:cacheprovider", "-W", "error")

    return run


def test_example_of_the_documentation_passes(run_tests, pytester):
    blocks = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)
    (example,) = [block for block in blocks if "def test_" in block]
    run_tests(example, pytester.runpytest_subprocess).assert_outcomes(passed=1)


PREAMBLE = """
import pytest
from urllib.request import Request, urlopen
import json

def post(url, content):
    request = Request(url + "/api/v1/lineage", content if isinstance(content, bytes) else json.dumps(content).encode())
    with urlopen(request) as answer:
        assert answer.status == 201

"""


def file_of(events, test):
    return PREAMBLE + f"EVENTS = {events!r}\n\n" + textwrap.dedent(test)


PRICE = {
    "namespace": "s3://warehouse",
    "name": "orders",
    "field": "price",
    "transformations": [{"type": "DIRECT", "subtype": "AGGREGATION"}],
}
LINEAGE = {"fields": {"total": {"inputFields": [PRICE]}, "n": {"inputFields": []}}}
OUTPUT = table("stats", "total", "n", columnLineage=LINEAGE)
STATS = [
    valid_event(state, second, job="stats", inputs=[table("orders", "price", "day")], outputs=[OUTPUT])
    for second, state in enumerate(("START", "COMPLETE"))
]


def test_failures_are_readable_reports(run_tests):
    result = run_tests(
        file_of(
            STATS,
            """
            @pytest.fixture
            def stats(lineage_events):
                for event in EVENTS:
                    post(lineage_events.url, event)
                return lineage_events

            def test_invalid(stats):
                del EVENTS[0]["job"]["facets"]["jobType"]["integration"]
                post(stats.url, EVENTS[0])
                stats.assert_valid()

            def test_contract(stats):
                stats.assert_contract('''
                    version: 1
                    namespace: test-jobs
                    jobs:
                      - {job: stats, inputs: [s3://warehouse/items], outputs: [s3://warehouse/stats]}
                ''')

            def test_no_contract(stats):
                stats.assert_contract("none.yaml")

            def test_broken_contract(stats):
                stats.assert_contract("version: 2\\nnamespace: a\\njobs: []")

            def test_missing_column(stats):
                stats.assert_column("stats#total", "orders#price IDENTITY", "orders#day")

            def test_unexpected_column(stats):
                stats.assert_column("stats.total")

            def test_unknown_column(stats):
                stats.assert_column("stats#sum", "orders#price")

            def test_no_column(stats):
                stats.assert_column("stats", "orders#price")

            def test_unknown_job(stats):
                stats.runs("stat")

            def test_rubbish(stats):
                post(stats.url, b"rubbish")
                stats.events

            def test_no_object(stats):
                post(stats.url, [])
                stats.events

            def test_refused(stats):
                post(stats.url, {})
                stats.graph()

            def test_waiting(stats):
                stats.wait_for(lambda events: len(events) > 2, seconds=0)

            def test_nothing_came(lineage_events):
                lineage_events.assert_valid()
            """,
        )
    )
    result.assert_outcomes(failed=14)
    text = result.stdout.str()
    for line in (
        "error    missing-key  event:3 run",
        "missing     input   stats <- s3://warehouse/items",
        "the contract none.yaml cannot be used",
        "the contract cannot be used: line 1: version: '2' is unknown",
        "sources of s3://warehouse/stats#total:",
        "  missing     s3://warehouse/orders#day",
        "  different   s3://warehouse/orders#price: expected IDENTITY, found DIRECT/AGGREGATION",
        "  unexpected  s3://warehouse/orders#price (DIRECT/AGGREGATION)",
        "columns of s3://warehouse/stats are n, total",
        "'stats' names a dataset; write DATASET#COLUMN",
        "no event names job 'stat'; jobs are: test-jobs/stats",
        "event 3 is not JSON: Expecting value",
        "event 3 is not a JSON object: b'[]'",
        "a lineage service would reject event 3: eventTime: is missing",
        "the expected events did not arrive within 0 s; received:",
        "  2026-01-01T00:00:00.000Z START stats",
        "error    no-events  the recorder: contains no event",
    ):
        assert line in text, line
    assert "pytest_plugin.py" not in text
    assert "Traceback" not in text
    assert "exception" not in text


def test_satisfied_assertions_pass(run_tests):
    result = run_tests(
        file_of(
            STATS,
            """
            from pathlib import Path

            def test_it(lineage_events, tmp_path):
                for event in EVENTS:
                    post(lineage_events.url, event)
                contract = tmp_path / "contract.yaml"
                contract.write_text("version: 1\\nnamespace: test-jobs\\njobs:\\n- {job: stats, requires: [a],"
                    " inputs: [s3://warehouse/orders], outputs: [s3://warehouse/stats]}")
                lineage_events.assert_contract(contract, ["a"])
                lineage_events.assert_contract(str(contract), features=["a"])
                lineage_events.assert_column("s3://warehouse/stats#total", "orders#price")
                lineage_events.assert_column("stats.total", "orders.price DIRECT/AGGREGATION")
                lineage_events.assert_column("stats#n")
                assert [run.state for run in lineage_events.runs("test-jobs/stats")] == ["COMPLETED"]
                assert lineage_events.runs()[0].events == lineage_events.events == EVENTS
                lineage_events.wait_for(lambda events: len(events) == 2)
            """,
        )
    )
    result.assert_outcomes(passed=1)


def test_recorder_and_variables_end_with_the_test(run_tests, monkeypatch):
    before = {
        "OPENLINEAGE_URL": "http://127.0.0.1:9",
        "OPENLINEAGE__TRANSPORT__TYPE": "console",
        "OPENLINEAGE_DISABLED": "true",
        "NO_PROXY": "example.org",
    }
    for name, value in before.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("no_proxy", raising=False)
    environment = dict(os.environ)
    result = run_tests(
        """
        import os

        import pytest
        from openlineage.client import OpenLineageClient

        @pytest.mark.parametrize("number", range(2))
        def test_each_has_a_recorder_of_its_own(lineage_events, number):
            assert os.environ["OPENLINEAGE_URL"] == lineage_events.url
            assert os.environ["NO_PROXY"] == "example.org,127.0.0.1"
            assert os.environ["no_proxy"] == "127.0.0.1"
            assert "OPENLINEAGE_DISABLED" not in os.environ
            client = OpenLineageClient()
            assert client.transport.kind == "http"
            assert client.transport.config.url == lineage_events.url
            client.close()
        """
    )
    result.assert_outcomes(passed=2)
    assert {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"} == {
        name: value for name, value in environment.items() if name != "PYTEST_CURRENT_TEST"
    }
    assert "lineage-recorder" not in {thread.name for thread in threading.enumerate()}


def test_openlineage_config_of_the_project_does_not_redirect_events(run_tests, pytester):
    (pytester.path / "openlineage.yml").write_text("transport: {type: console}\n")
    result = run_tests(
        """
        from openlineage.client import OpenLineageClient

        def test_it(lineage_events):
            client = OpenLineageClient()
            assert client.transport.config.url == lineage_events.url
            client.close()
        """
    )
    result.assert_outcomes(passed=1)


def test_python_client_in_this_process(recorded):
    client = OpenLineageClient()
    run = str(generate_new_uuid())
    for state in (RunState.START, RunState.FAIL):
        client.emit(event_of("stats", state, run))
    client.close()
    assert [event["eventType"] for event in recorded.events] == ["START", "FAIL"]
    (found,) = recorded.runs("stats")
    assert (found.id, found.job.namespace, found.state) == (run, "shop", "FAILED")


JOB = """
from openlineage.client import OpenLineageClient
from openlineage.client.event_v2 import Job, Run, RunEvent, RunState
client = OpenLineageClient()
client.emit(RunEvent(eventType=RunState.START, eventTime="2026-01-01T00:00:00Z", producer="https://shop.example",
                     run=Run("00000000-0000-7000-8000-000000000001"), job=Job("shop", "child")))
client.close()
"""


def test_job_in_a_subprocess(recorded, tmp_path):
    subprocess.run([sys.executable, "-c", JOB], cwd=tmp_path, check=True, timeout=60)
    assert [run.id for run in recorded.runs("child")] == [run_id(1)]


def test_events_of_a_background_thread(recorded):
    def send():
        client = OpenLineageClient()
        for number in range(3):
            client.emit(event_of(f"job{number}", RunState.START))
        client.close()

    sender = threading.Thread(target=send)
    sender.start()
    recorded.wait_for(lambda events: len(events) == 3)
    sender.join()
    assert {run.job.name for run in recorded.runs()} == {"job0", "job1", "job2"}


def test_settings_for_spark_and_flink(recorded):
    assert recorded.spark_properties == {
        "spark.openlineage.transport.type": "http",
        "spark.openlineage.transport.url": recorded.url,
    }
    assert recorded.flink_properties == {
        "openlineage.transport.type": "http",
        "openlineage.transport.url": recorded.url,
    }


class TestUnderRules:
    """Naming rules of a project."""

    @pytest.fixture
    def lineage_rules(self):
        return RULES

    def test_names_are_canonical(self, recorded):
        connection = http.client.HTTPConnection(recorded.url.removeprefix("http://"), timeout=10)
        content = valid_event("START", inputs=[dataset("sales.orders", CATALOG_URI)])
        connection.request("POST", PATH, encode(content))
        assert connection.getresponse().status == 201
        connection.close()
        (edge,) = recorded.graph()["edges"]
        assert edge["job"] == {"namespace": NAMESPACE, "name": "job"}
        assert edge["dataset"] == {"namespace": "s3://warehouse", "name": "sales/orders"}


def exchange(url, method, path, body=None, chunked=False, **headers):
    connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=10)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    try:
        connection.request(method, path, body, named, encode_chunked=chunked)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def test_recorder_accepts_every_client_encoding():
    with recording() as recorder:
        url = recorder.url
        assert exchange(url, "POST", PATH, b"plain")[0] == 201
        assert exchange(url, "POST", f"{PATH}/?a=b", b"query")[0] == 201
        assert exchange(url, "POST", PATH, gzip.compress(b"packed"), Content_Encoding="gzip")[0] == 201
        parts = iter([b"in ", b"chunks"])
        assert exchange(url, "POST", PATH, parts, chunked=True, Transfer_Encoding="chunked")[0] == 201
        assert recorder.bodies == [b"plain", b"query", b"packed", b"in chunks"]
        with urlopen(f"{url}/health", timeout=10) as answer:
            assert answer.status == 200


@pytest.mark.parametrize(
    ("method", "path", "body", "headers", "expected"),
    [
        ("POST", "/elsewhere", b"{}", {}, (404, "Not Found")),
        ("GET", "/api/v1/namespaces", None, {}, (404, "Not Found")),
        ("POST", PATH, b"{}", {"Content_Encoding": "br"}, (415, "'br' is not supported")),
        ("POST", PATH, b"{}", {"Content_Encoding": "gzip"}, (400, "the body is not gzip")),
        ("POST", PATH, gzip.compress(b"{}", mtime=0)[:-4], {"Content_Encoding": "gzip"}, (400, "cut short")),
        ("POST", PATH, TOO_LARGE, {"Content_Encoding": "gzip"}, (413, "also unpacked")),
        ("POST", PATH, BOMB, {"Content_Encoding": "gzip"}, (413, f"expands more than {MAX_RATIO} times")),
        ("POST", PATH, None, {"Content_Length": str(MAX_BYTES + 1)}, (413, "an event may have")),
        ("POST", PATH, None, {"Content_Length": "x"}, (400, "Invalid HTTP request")),
        ("POST", PATH, b"zz\r\n", {"Transfer_Encoding": "chunked"}, (400, "")),
        ("POST", PATH, b"-1\r\n", {"Transfer_Encoding": "chunked"}, (400, "")),
    ],
)
def test_recorder_reports_unreadable_requests(method, path, body, headers, expected):
    with recording() as recorder:
        status, text = exchange(recorder.url, method, path, body, **headers)
        assert status == expected[0]
        assert expected[1] in text
        assert recorder.bodies == []
