# SPDX-License-Identifier: Apache-2.0
"""The lineage service and its checks, installed from the wheel and run outside the checkout."""

import json
import re
import signal
import subprocess
import time
import zipfile
from contextlib import contextmanager
from datetime import UTC, datetime
from urllib.error import URLError
from urllib.parse import quote
from urllib.request import Request, urlopen

import pytest

from infra.toolchain import Artifacts
from tests.packages.conftest import REPOSITORY
from tests.unit.shop.postgres_server import PostgresServer

SCHEMA = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent"
START_SECONDS = 90
RUN = "01890a5d-ac96-774b-bcce-b302099a8057"

PLUGIN_TEST = """
import os
from urllib.request import Request, urlopen

def test_lineage_of_a_job(lineage_events):
    for line in open("events.ndjson", "rb"):
        url = os.environ["OPENLINEAGE_URL"] + "/api/v1/lineage"
        urlopen(Request(url, line, {"Content-Type": "application/json"})).close()
    lineage_events.assert_valid()
"""


def event(event_type, second, **changes):
    return {
        "eventType": event_type,
        "eventTime": datetime(2026, 1, 1, 0, 0, second, tzinfo=UTC).isoformat(),
        "producer": "urn:test",
        "schemaURL": SCHEMA,
        "run": {"runId": RUN},
        "job": {"namespace": "jobs", "name": "copy"},
        "inputs": [{"namespace": "kafka://kafka:9092", "name": "orders"}],
        "outputs": [{"namespace": "s3://warehouse", "name": "sales/orders"}],
        **changes,
    }


def events():
    return [event("START", 0), event("COMPLETE", 1)]


@pytest.fixture(scope="module")
def wheel(build_wheel):
    return build_wheel("lineage")


@pytest.fixture(scope="module")
def service_environment(wheel, empty_environment):
    environment = empty_environment()
    environment.install(f"{wheel}[service]")
    return environment


@pytest.fixture(scope="module")
def checks_environment(wheel, empty_environment):
    environment = empty_environment()
    environment.install(f"{wheel}[pytest]")
    (environment.folder / "events.ndjson").write_text("".join(json.dumps(row) + "\n" for row in events()))
    return environment


@contextmanager
def service(environment, *arguments, **variables):
    process = subprocess.Popen(
        [environment.command("lineage-service"), "--port", "0", *map(str, arguments)],
        cwd=environment.folder,
        env={**environment.variables, **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        lines = []
        while not (url := re.search(r"lineage service on (http://\S+?:\d+)", lines[-1] if lines else "")):
            lines.append(process.stdout.readline())
            assert lines[-1], "".join(lines)
        wait_until_healthy(url[1])
        yield url[1]
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def wait_until_healthy(url):
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            return get(f"{url}/health")
        except URLError:
            assert time.monotonic() < deadline
            time.sleep(0.05)


def get(url):
    with urlopen(url, timeout=30) as response:
        return json.load(response)


def test_wheel_holds_the_package_and_the_version_of_the_repository(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    version = (REPOSITORY / "VERSION").read_text().strip()
    installed = {name for name in names if ".dist-info/" not in name}
    assert installed == {str(path.relative_to(REPOSITORY)) for path in (REPOSITORY / "lineage").rglob("*.py")}
    assert f"lineage_lab_service-{version}.dist-info/METADATA" in names


@pytest.fixture
def postgres_server(tmp_path):
    if not Artifacts.open().has("postgres"):
        pytest.skip("component postgres is not installed; run bin/lab setup")
    server = PostgresServer(tmp_path)
    server.start()
    yield server
    server.stop()


def test_service_stores_an_event_in_postgres(wheel, empty_environment, postgres_server):
    environment = empty_environment()
    environment.install(f"{wheel}[postgres]")
    place = ("--store", f"postgresql://postgres@{postgres_server.address}/postgres")
    password = {"LINEAGE_STORE_PASSWORD": postgres_server.password}
    with service(environment, "--data", environment.folder / "data", *place, **password) as url:
        post_events(url)
        assert get(f"{url}/api/v1/stats")["logged"] == 2
        # Answered by a process that the service starts: it must have the password too.
        assert get(f"{url}/api/v1/graph?asOf={quote('2026-01-02T00:00:00Z')}") == get(f"{url}/api/v1/graph")
    checked = environment.run("python", "-m", "lineage.maintenance", "check", *place, **password)
    assert (checked.returncode, checked.stdout.split(" are in ")[0]) == (0, "2 events and 0 snapshots")


def test_postgres_requires_its_extra(service_environment):
    options = ("--data", service_environment.folder / "other", "--store", "postgresql://lineage@localhost/lineage")
    done = service_environment.run("lineage-service", "--port", "0", *options)
    assert done.returncode == 2
    assert "requires the extra `postgres`: pip install 'lineage-lab-service[postgres]'" in done.stderr


def post_events(url):
    for row in events():
        body = json.dumps(row).encode()
        with urlopen(Request(f"{url}/api/v1/lineage", body, {"Content-Type": "application/json"})) as response:
            assert response.status == 201


def test_service_stores_an_event_and_serves_its_graph(service_environment):
    data = service_environment.folder / "data"
    with service(service_environment, "--data", data) as url:
        post_events(url)
        graph = get(f"{url}/api/v1/graph")
        assert [(edge["direction"], edge["dataset"]["name"]) for edge in graph["edges"]] == [
            ("input", "orders"),
            ("output", "sales/orders"),
        ]
        # Answered by a process that the service starts: it must find the installed package too.
        assert get(f"{url}/api/v1/graph?asOf={quote('2026-01-02T00:00:00Z')}") == graph
        assert "/api/v1/graph" in get(f"{url}/openapi.json")["paths"]
    checked = service_environment.run("python", "-m", "lineage.maintenance", "check", "--data", data)
    assert (checked.returncode, checked.stdout.split(" are in ")[0]) == (0, "2 events and 0 snapshots")


def test_check_command_validates_a_file(checks_environment):
    good = checks_environment.run("lineage-check", "events.ndjson", "--json", "report.json")
    assert good.returncode == 0, good.stdout + good.stderr
    assert json.loads((checks_environment.folder / "report.json").read_text())["events"] == 2
    (checks_environment.folder / "broken.json").write_text(json.dumps(event("START", 0, run={"runId": "not-a-uuid"})))
    broken = checks_environment.run("lineage-check", "broken.json")
    assert broken.returncode == 1
    assert "not-a-uuid" in broken.stdout
    missing = checks_environment.run("lineage-check", "missing.json")
    assert (missing.returncode, missing.stdout) == (2, "")
    assert "no such file" in missing.stderr


@pytest.mark.parametrize("options", [(), ("-p", "lineage.checks.pytest_plugin")])
def test_pytest_plugin_is_loaded(checks_environment, options):
    (checks_environment.folder / "test_job.py").write_text(PLUGIN_TEST)
    done = checks_environment.run("python", "-m", "pytest", "-q", "test_job.py", *options)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout
