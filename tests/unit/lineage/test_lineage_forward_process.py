# SPDX-License-Identifier: Apache-2.0
"""`python -m lineage --forward-to` as a process: stopped, killed, and with another lineage service as consumer."""

import json
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from urllib.error import URLError
from urllib.request import Request, urlopen

import pytest
from lineage_events import NAMESPACE, body, dataset, encode, run_id, schema, source
from lineage_marquez import missing_from_marquez
from lineage_recorder import WAIT_SECONDS, assert_valid_stream, recording

from lineage.checks.contract import load
from tests.bench.service_process import REPOSITORY, running_service

pytestmark = pytest.mark.slow

STOP_SECONDS = 2


@pytest.fixture
def recorder():
    with recording() as found:
        yield found


def post(url, content):
    request = Request(f"{url}/api/v1/lineage", encode(content), {"Content-Type": "application/json"})
    with urlopen(request, timeout=60) as response:
        return response.status


def forwarding(url):
    with urlopen(f"{url}/api/v1/stats", timeout=60) as response:
        return json.load(response)["forward"]


def wait_until_forwarded(url):
    deadline = time.monotonic() + WAIT_SECONDS
    while (status := forwarding(url))["behind"]:
        assert time.monotonic() < deadline, status
        time.sleep(0.02)
    return status


def post_until_stopped(url, worker, acknowledged):
    """Post runs of one job until the service ends; record the acknowledged events."""
    for number in range(1, 10_000):
        for second, event_type in enumerate(("START", "RUNNING", "COMPLETE")):
            run = worker * 10_000 + number
            try:
                post(url, body(event_type, second, run=run, job=f"job{worker}", outputs=[dataset("t")]))
            except (URLError, ConnectionError, TimeoutError):
                return
            acknowledged.append((run_id(run), event_type))


def assert_arrived(recorder, acknowledged):
    """Assert that every acknowledged event arrived in order per run; a run may be repeated from its start."""
    runs = {}
    for run, event_type in acknowledged:
        runs.setdefault(run, []).append(event_type)
    for run, types in runs.items():
        found = [event["eventType"] for event in recorder.of_run(run)]
        assert list(dict.fromkeys(found))[: len(types)] == types, run
        if "COMPLETE" in types:
            assert found[-1] == "COMPLETE"
    unique = {json.dumps(event, sort_keys=True): event for event in recorder.events}
    assert_valid_stream(list(unique.values()))


@pytest.mark.parametrize("available", [True, False], ids=["consumer up", "consumer down"])
def test_every_acknowledged_event_arrives_after_a_kill(tmp_path, recorder, available):
    acknowledged: list[tuple[str, str]] = []
    if not available:
        recorder.stop()
    with running_service(tmp_path / "data", "--forward-to", recorder.url) as service:
        workers = [threading.Thread(target=post_until_stopped, args=(service.url, n, acknowledged)) for n in range(4)]
        for worker in workers:
            worker.start()
        recorder.wait_for(lambda: len(acknowledged) > 300, "events acknowledged")
        service.kill()
        for worker in workers:
            worker.join()
    arrived = len(recorder.events)
    assert (arrived > 0) == available
    if not available:
        recorder.start()
    with running_service(tmp_path / "data", "--forward-to", recorder.url) as service:
        status = wait_until_forwarded(service.url)
    assert status["parked"] == 0
    # On a loaded machine an attempt can time out, and is repeated.
    assert status["lastError"] is None or "did not respond" in status["lastError"]
    assert_arrived(recorder, acknowledged)
    if available:
        assert status["delivered"] < len(acknowledged), "delivery restarted from an earlier position"


@pytest.mark.parametrize("how", ["there", "gone", "hanging"])
def test_signal_stops_the_service_promptly_without_loss(tmp_path, recorder, how):
    if how == "gone":
        recorder.stop()
    recorder.hang = how == "hanging"
    with running_service(tmp_path / "data", "--forward-to", recorder.url) as service:
        for second, event_type in enumerate(("START", "RUNNING", "COMPLETE")):
            post(service.url, body(event_type, second))
        if how == "hanging":
            recorder.wait_for(lambda: recorder.most_at_once > 0, "a request that hangs")
        service.process.send_signal(signal.SIGTERM)
        assert service.process.wait(STOP_SECONDS + 10) == 0
    recorder.release()
    if how == "gone":
        recorder.start()
    with running_service(tmp_path / "data", "--forward-to", recorder.url) as service:
        status = wait_until_forwarded(service.url)
    assert status["cursor"] == 3
    assert [event["eventType"] for event in recorder.events] == ["START", "RUNNING", "COMPLETE"]
    output = (tmp_path / "data.log").read_text()
    assert "Traceback" not in output
    assert "HTTP Request" not in output


def test_invalid_url_is_rejected_with_a_reason(tmp_path):
    words = [sys.executable, "-m", "lineage", "--port", "0", "--data", str(tmp_path), "--forward-to", "marquez"]
    ended = subprocess.run(words, cwd=REPOSITORY, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 2
    assert "marquez" in ended.stderr
    assert "Traceback" not in ended.stderr


CONTRACT = f"""
version: 1
namespace: {NAMESPACE}
jobs:
  - job: etl
    inputs: [s3://warehouse/orders]
    outputs:
      - dataset: s3://warehouse/clean
        columns: {{price: price IDENTITY}}
  - job: stats
    inputs: [s3://warehouse/clean]
    outputs:
      - dataset: s3://warehouse/stats
        columns: {{total: price AGGREGATION}}
"""


def step(job, origin, target, field, kind, run):
    columns = {"fields": {field: {"inputFields": [source(origin, "price", kind)]}}}
    output = dataset(target, schema=schema(field), columnLineage=columns)
    return body("START", 0, run=run, job=job, inputs=[dataset(origin, schema=schema("price"))], outputs=[output])


def test_consumer_with_marquez_read_api_has_the_edges_of_the_contract(tmp_path: Path):
    contract = load(CONTRACT)
    with running_service(tmp_path / "there") as consumer:
        with running_service(tmp_path / "here", "--forward-to", consumer.url) as service:
            post(service.url, step("etl", "orders", "clean", "price", "IDENTITY", 1))
            wait_until_forwarded(service.url)
            assert missing_from_marquez(consumer.url, contract) == ["job job:test-jobs:stats"]
            post(service.url, body("START", 5, run=2, job="stats", inputs=[dataset("clean")]))
            wait_until_forwarded(service.url)
            assert missing_from_marquez(consumer.url, contract) == [
                "edge job:test-jobs:stats -> dataset:s3://warehouse:stats",
                "column s3://warehouse/clean#price -> s3://warehouse/stats#total",
            ]
            post(service.url, step("stats", "clean", "stats", "total", "AGGREGATION", 2))
            # A later run without datasets must not remove edges from the consumer.
            post(service.url, body("START", 9, run=3, job="etl"))
            wait_until_forwarded(service.url)
        assert missing_from_marquez(consumer.url, contract) == []
        assert missing_from_marquez(consumer.url, contract, {"unknown"}) == []
