# SPDX-License-Identifier: Apache-2.0
"""OpenLineage's agent with a spool: what it reports while the lineage service is down arrives later.

Driver, Spark, agent, transport and lineage service are real; properties and variables are those of the lab's drivers.
"""

import json
import os
import signal
import socket
import sys

import httpx
import psutil
import pytest

from infra import credentials
from infra.model import Address
from infra.namespaces import JOB_NAMESPACE
from infra.services.spark import agent
from infra.services.spark.job import COMPONENT, Driver
from infra.toolchain import Artifacts
from lineage.access.keys import Scope, add_key
from tests.bench.service_process import running_service
from tests.stack.polling import until
from tests.unit.infra.test_services import FakeSite
from tests.unit.spark.launchers import ended, launchers

pytestmark = pytest.mark.slow

COPY = """
import json, os, time
from pathlib import Path
from pyspark.sql import SparkSession

home = os.environ["HOME_OF_TEST"]
spark = SparkSession.builder.appName("copy").master("local[1]").config(
    map={
        "spark.driver.host": "127.0.0.1",
        "spark.sql.shuffle.partitions": "1",
        "spark.ui.enabled": "false",
        **json.loads(os.environ["AGENT"]),
    }
).getOrCreate()
spark.range(5).selectExpr("id", "id * 2 AS price").write.mode("overwrite").parquet(f"{home}/orders")
# With a schema: the agent does not end the run in which Spark infers one.
orders = spark.read.schema("id LONG, price LONG").parquet(f"{home}/orders")
orders.selectExpr("id", "price + 1 AS total").write.mode("overwrite").parquet(f"{home}/totals")
"""

ENDS = "spark.stop()\n"

WAITS = """
Path(f"{home}/written").touch()
time.sleep(3600)
"""


class Site(FakeSite):
    """Site whose lineage service listens on a port of the test, and whose files are in a folder of it."""

    def __init__(self, folder, port):
        self._folder = folder
        self._port = port

    def address(self, service, endpoint, seen_from="inside"):
        return Address("127.0.0.1", self._port, "http")

    def scratch(self, service):
        return str(self._folder / "scratch")

    def built_jar(self, component):
        return str(next((Artifacts.open().component(component) / "lib").glob(f"{component}-*.jar")))


@pytest.fixture
def port():
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


@pytest.fixture
def keys(tmp_path):
    """Keys file, and the keys that emitters and readers present."""
    file = tmp_path / "keys.json"
    return file, add_key(file, "emitter", [Scope.INGEST]), add_key(file, "reader", [Scope.READ])


@pytest.fixture
def start(tmp_path, port, keys):
    """Return a function that starts a driver with the agent."""
    driver = Driver("copy", 512, lineage="agent")
    site = Site(tmp_path, port)
    jar = next((Artifacts.open().component(COMPONENT) / "lib").glob("openlineage-spark*.jar"))
    secrets = dict.fromkeys(agent.secrets(driver), keys[1])
    assert set(agent.secrets(driver).values()) == {credentials.LINEAGE_INGEST_KEY}
    with launchers(tmp_path, f"http://127.0.0.1:{port}") as made:

        def start(source):
            return made.start(
                source,
                *("--application", "copy"),
                PYSPARK_PYTHON=sys.executable,
                PYSPARK_SUBMIT_ARGS=f"--driver-class-path {jar} pyspark-shell",
                SPARK_LOCAL_IP="127.0.0.1",
                HOME_OF_TEST=str(tmp_path),
                AGENT=json.dumps(agent.properties(driver, site)),
                LINEAGE_API_KEY=keys[1],
                **agent.environment(driver),
                **secrets,
            )

        yield start


@pytest.fixture
def service(tmp_path, port, keys):
    """Return a function that runs the lineage service, which demands keys."""
    return lambda: running_service(tmp_path / "lineage", "--port", port, "--keys", keys[0])


@pytest.fixture
def read(port, keys):
    """Return a function that reads a path of the service."""

    def read(path):
        answer = httpx.get(f"http://127.0.0.1:{port}/api/v1{path}", headers={"authorization": f"Bearer {keys[2]}"})
        return answer.raise_for_status().json()

    return read


def unsent(tmp_path):
    """Return the files of stored events. That of an event being stored has another suffix until it is on the disk."""
    return list((tmp_path / "scratch" / "unsent-events").rglob("*.json"))


def succeed(process):
    code, output, errors = ended(process)
    assert code == 0, output + errors


def states(read):
    jobs = {job["name"] for job in read(f"/namespaces/{JOB_NAMESPACE}/jobs?limit=100")["jobs"]}
    return {
        name: [run["state"] for run in read(f"/namespaces/{JOB_NAMESPACE}/jobs/{name}/runs?limit=100")["runs"]]
        for name in jobs
    }


def columns(read):
    return {
        f"{edge['input']['name'].rpartition('/')[2]}.{edge['input']['field']}"
        f" -> {edge['output']['name'].rpartition('/')[2]}.{edge['output']['field']}"
        for edge in read("/graph")["columns"]
    }


COLUMNS = {"orders.id -> totals.id", "orders.price -> totals.total"}


def test_events_arrive_at_once_while_the_service_is_up(tmp_path, start, service, read):
    with service():
        succeed(start(COPY + ENDS))
        assert columns(read) == COLUMNS
        assert {state for found in states(read).values() for state in found} == {"COMPLETED"}
    assert unsent(tmp_path) == []


def test_runs_during_an_outage_arrive_with_the_next_run(tmp_path, start, service, read):
    succeed(start(COPY + ENDS))
    assert len(unsent(tmp_path)) > 1
    with service():
        succeed(start(COPY + ENDS))
        until(lambda: len(states(read).get("copy", ())) == 2)
        until(lambda: not unsent(tmp_path))
        assert columns(read) == COLUMNS
        found = states(read)
        assert {state for ends in found.values() for state in ends} == {"COMPLETED"}
        assert {len(ends) for ends in found.values()} == {2}


def test_events_of_a_killed_driver_arrive_with_the_next_run(tmp_path, start, service, read):
    process = start(COPY + WAITS)
    until((tmp_path / "written").exists)
    until(
        lambda: any(b'"COMPLETE"' in file.read_bytes() and b"totals" in file.read_bytes() for file in unsent(tmp_path))
    )
    for killed in [*psutil.Process(process.pid).children(recursive=True), psutil.Process(process.pid)]:
        os.kill(killed.pid, signal.SIGKILL)
    process.communicate()
    with service():
        succeed(start(COPY + ENDS))
        until(lambda: not unsent(tmp_path))
        found = states(read)
        assert sorted(found["copy"]) == ["COMPLETED", "FAILED"]
        assert columns(read) == COLUMNS
        assert {name: ends for name, ends in found.items() if name != "copy" and ends != ["COMPLETED"] * 2} == {}
