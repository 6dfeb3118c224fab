# SPDX-License-Identifier: Apache-2.0
"""The service as a process: start, shutdown, kill, and error messages at start."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from urllib.error import URLError
from urllib.request import Request, urlopen

import httpx
import pytest
from lineage_events import NAMESPACE, body, dataset, encode

pytestmark = pytest.mark.slow

REPOSITORY = Path(__file__).resolve().parents[3]
START_SECONDS = 300
RESPONSE_SECONDS = 300


def launch(*arguments):
    return subprocess.Popen(
        [sys.executable, "-m", "lineage", *map(str, arguments)],
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


@contextmanager
def service(data, *arguments):
    """Provide process and URL of a service that responds."""
    process = launch("--port", 0, "--data", data, *arguments)
    try:
        banner = process.stdout.readline()
        match = re.search(r"http://\S+?:\d+", banner)
        assert match, banner + process.stdout.read()
        wait_until_healthy(match[0])
        yield process, match[0]
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        process.stdout.close()


def wait_until_healthy(url):
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            with urlopen(f"{url}/health", timeout=5) as response:
                assert response.status == 200
                return
        except URLError:
            assert time.monotonic() < deadline, f"{url} did not respond"
            time.sleep(0.05)


def get(url, path):
    with urlopen(f"{url}/api/v1{path}", timeout=RESPONSE_SECONDS) as response:
        return json.load(response)


def post(url, content):
    request = Request(f"{url}/api/v1/lineage", encode(content), {"Content-Type": "application/json"})
    with urlopen(request, timeout=RESPONSE_SECONDS) as response:
        return response.status


def post_until_stopped(url, worker, acknowledged):
    """Post until the service ends; record the acknowledged events."""
    for number in range(100_000):
        second = worker + number / 1000
        try:
            post(url, body("RUNNING", second, run=worker))
        except (URLError, ConnectionError, TimeoutError):
            return
        acknowledged.append(second)


def test_every_acknowledged_event_is_stored_once_after_a_kill(tmp_path):
    acknowledged: list[float] = []
    with service(tmp_path) as (process, url):
        workers = [threading.Thread(target=post_until_stopped, args=(url, worker, acknowledged)) for worker in range(4)]
        for worker in workers:
            worker.start()
        deadline = time.monotonic() + START_SECONDS
        while len(acknowledged) < 200:
            assert process.poll() is None
            assert time.monotonic() < deadline, f"{len(acknowledged)} events in {START_SECONDS} s"
            time.sleep(0.01)
        process.kill()
        for worker in workers:
            worker.join()
    with service(tmp_path) as (_, url):
        found = get(url, "/events/lineage?limit=10000")
        times = [event["eventTime"] for event in found["events"]]
        assert len(times) == len(set(times)) == found["totalCount"] == get(url, "/stats")["logged"]
        assert {body("RUNNING", second)["eventTime"] for second in acknowledged} <= set(times)


@pytest.mark.parametrize("signal_number", [signal.SIGTERM, signal.SIGINT])
def test_signal_shuts_down_gracefully_with_all_events_on_disk(tmp_path, signal_number):
    with service(tmp_path) as (process, url):
        assert post(url, body(outputs=[dataset("t")])) == 201
        process.send_signal(signal_number)
        assert process.wait(START_SECONDS) == 0
        output = process.stdout.read()
        assert "Traceback" not in output
    assert not (tmp_path / "lineage.db-wal").exists()
    with service(tmp_path) as (_, url):
        assert get(url, f"/namespaces/{NAMESPACE}/jobs/job")["outputs"][0]["name"] == "t"


def start_error(*arguments):
    process = launch(*arguments)
    output, _ = process.communicate(timeout=START_SECONDS)
    return process.returncode, output


def test_start_errors_are_one_line(tmp_path):
    rules = tmp_path / "rules.json"
    rules.write_text('{"version": 1, "hosts": []}')
    (tmp_path / "file").write_text("")
    with socket.create_server(("127.0.0.1", 0)) as busy:
        port = busy.getsockname()[1]
        cases = [
            (["--data", tmp_path, "--rules", rules], "hosts: unknown key"),
            (["--data", tmp_path, "--rules", tmp_path / "none.json"], "cannot read rules file"),
            (["--data", tmp_path / "file" / "x", "--port", 0], "cannot write to data directory"),
            (["--data", tmp_path, "--port", port], f"cannot listen on 127.0.0.1:{port}: Address already in use"),
        ]
        for arguments, message in cases:
            code, output = start_error(*arguments)
            assert code == 2
            assert message in output
            assert output.count("\n") == 1, output


def test_directory_in_use_is_rejected(tmp_path):
    with service(tmp_path):
        code, output = start_error("--port", 0, "--data", tmp_path)
    assert (code, output.count("\n")) == (2, 1)
    assert "in use by another lineage service" in output


@pytest.mark.skipif(os.geteuid() == 0, reason="root ignores file permissions")
def test_directory_without_permission_is_rejected(tmp_path):
    tmp_path.chmod(0o500)
    code, output = start_error("--port", 0, "--data", tmp_path / "data")
    tmp_path.chmod(0o700)
    assert code == 2
    assert "Permission denied" in output


def test_marquez_python_client_reads_the_service(tmp_path):
    client_module = pytest.importorskip("marquez_client", reason="marquez-python is not installed")
    with service(tmp_path) as (_, url):
        fields = {"a": {"inputFields": [{"namespace": "s3://w", "name": "in", "field": "b"}]}}
        output = dataset("dir/out", "s3://w", columnLineage={"fields": fields})
        content = body(inputs=[dataset("in", "s3://w")], outputs=[output])
        post(url, content)
        client = client_module.MarquezClient(url)
        assert len(client.list_namespaces()["namespaces"]) == 2
        assert client.get_namespace("s3://w")["name"] == "s3://w"
        assert client.list_jobs(NAMESPACE)["totalCount"] == 1
        assert client.get_job(NAMESPACE, "job")["outputs"] == [{"namespace": "s3://w", "name": "dir/out"}]
        assert client.list_job_runs(NAMESPACE, "job")["totalCount"] == 1
        assert client.get_job_run(content["run"]["runId"])["state"] == "RUNNING"
        assert client.list_datasets("s3://w")["totalCount"] == 2
        assert client.get_dataset("s3://w", "dir/out")["columnLineage"][0]["name"] == "a"
        assert len(client.get_column_lineage_by_dataset("s3://w", "dir/out")["graph"]) == 2
        assert len(client.get_column_lineage_by_dataset_field("s3://w", "dir/out", "a")["graph"]) == 2
        assert len(client.get_column_lineage_by_job(NAMESPACE, "job")["graph"]) == 2


def test_listener_receives_events_and_does_not_delay_shutdown(tmp_path):
    with service(tmp_path) as (process, url):
        with httpx.stream("GET", f"{url}/api/v1/changes", timeout=60, trust_env=False) as stream:
            lines = stream.iter_lines()
            assert next(lines) == "event: resync"
            post(url, body("START"))
            received = [next(lines) for _ in range(4)]
            assert received[:3] == ["data: {}", "", "event: event"]
            assert json.loads(received[3].removeprefix("data: "))["job"] == {"namespace": NAMESPACE, "name": "job"}
            process.send_signal(signal.SIGTERM)
            assert [line for line in lines if line] == []
        assert process.wait(START_SECONDS) == 0


def test_damaged_log_is_reported_in_one_line(tmp_path):
    with service(tmp_path) as (process, url):
        for second in range(200):
            post(url, body("RUNNING", second, run_facets={"big": {"text": "x" * 5000}}))
        process.send_signal(signal.SIGTERM)
        process.wait(START_SECONDS)
    file = tmp_path / "lineage.db"
    with file.open("r+b") as log:
        for page in range(5, file.stat().st_size // 4096, 3):
            log.seek(page * 4096)
            log.write(b"\xff" * 4096)
    process = launch("--port", 0, "--data", tmp_path)
    said = process.communicate(timeout=30)[0]
    assert process.returncode == 2, said
    assert said.count("\n") == 1
    assert "restore a backup" in said
