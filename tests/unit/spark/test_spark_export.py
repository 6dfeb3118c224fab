# SPDX-License-Identifier: Apache-2.0
"""`lab export spark`: the script is submitted from another directory, locally and to a cluster of two workers."""

import os
import re
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from urllib.request import urlopen

import pyarrow.parquet
import pyspark
import pytest

from infra.catalog import LabSettings, build_lab
from infra.cli.export import write_submission
from infra.errors import LabError
from infra.services.spark.submission import SCRIPT, SOURCES, Submission, main_program, script
from infra.toolchain import Artifacts
from tests.unit.infra.test_services import FakeSite
from tests.unit.integrations.lineage_endpoint import TAKEN, answering, free_port

SPARK_HOME = Path(pyspark.__file__).parent
TOTALS = {supplier: sum(range(supplier, 10_000, 7)) for supplier in range(7)}


@pytest.fixture(scope="module")
def lab():
    return build_lab(FakeSite(), LabSettings())


def part(lab, name):
    return next(part for part in (*lab.services, *lab.tasks) if part.name == name)


def test_script_has_neither_secrets_nor_paths_of_this_machine(lab):
    submitted = Submission.of(part(lab, "supplier_stats"))
    text = script(submitted, "yarn", ("org.example:one:1", "org.example:two:2"))
    assert '--master "${SPARK_MASTER:-yarn}"' in text
    assert "--packages org.example:one:1,org.example:two:2 " in text
    assert "--conf spark.sql.catalog.lake.uri=http://" in text
    assert '"${AWS_SECRET_ACCESS_KEY:?' in text
    assert not re.search(r"SPARK_CONF_DIR|extraJavaOptions|defaultJavaOptions|driver\.host|log4j|/var/|/opt/", text)


def test_batch_job_is_observed_and_streaming_job_is_not(lab):
    assert Submission.of(part(lab, "supplier_stats")).modules == (
        "lineagelab_spark.observed",
        "jobs.spark.supplier_stats",
    )
    assert Submission.of(part(lab, "orders_etl")).modules == ("jobs.spark.orders_etl",)
    live = Submission.of(part(lab, "supplier_stats_live"))
    assert live.arguments[0] == "--source"
    assert repr(live.arguments[1]) in main_program(live)


def test_periodic_job_is_submitted_for_one_run(lab):
    assert Submission.of(part(lab, "maintenance")).modules == ("jobs.spark.lake_maintenance",)


def test_part_that_is_no_spark_job_is_refused(lab):
    with pytest.raises(LabError, match="kafka is not a Spark job"):
        Submission.of(part(lab, "kafka"))


def test_sources_hold_the_imports_of_the_job(lab, tmp_path):
    write_submission(Submission.of(part(lab, "supplier_stats")), "yarn", tmp_path)
    names = set(zipfile.ZipFile(tmp_path / SOURCES).namelist())
    assert {"jobs/spark/supplier_stats.py", "infra/namespaces.py", "lineagelab_spark/observed.py"} <= names
    assert "lineagelab_common/spool.py" in names


def submit(lab, folder, master):
    """Export a job, submit it from another directory; return its totals and the columns of its last event."""
    exported = replace(
        Submission.of(part(lab, "supplier_stats")),
        modules=("lineagelab_spark.observed", "tests.unit.spark.exported_job"),
        arguments=(str(folder / "data"),),
    )
    with answering(TAKEN) as receiver:
        exported = replace(exported, variables={**exported.variables, "LINEAGE_URL": receiver.url})
        write_submission(exported, master, folder / "job")
        (folder / "elsewhere").mkdir()
        done = subprocess.run(
            [folder / "job" / SCRIPT, "--conf", "spark.cores.max=2", "--conf", "spark.executor.cores=1"],
            cwd=folder / "elsewhere",
            env=environment(),
            capture_output=True,
            text=True,
            timeout=300,
        )
    assert done.returncode == 0, done.stdout + done.stderr
    table = pyarrow.parquet.read_table(folder / "data" / "totals").to_pylist()
    events = [event for event in receiver.taken if event["eventType"] == "COMPLETE"]
    assert len(events) == 2, [event["job"]["name"] for event in events]
    (output,) = events[-1]["outputs"]
    assert output["name"] == f"{folder}/data/totals"
    fields = output["facets"]["columnLineage"]["fields"]
    edges = {
        (column, source["field"], transformation["subtype"])
        for column, field in fields.items()
        for source in field["inputFields"]
        for transformation in source["transformations"]
    }
    return {row["supplier"]: row["total"] for row in table}, edges


def environment():
    class_path = f"{Artifacts.open().component('spark') / 'lib'}/*"
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "SPARK", "PYSPARK"))}
    return {
        **kept,
        "SPARK_HOME": str(SPARK_HOME),
        "SPARK_CLASS_PATH": class_path,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": sys.executable,
        "AWS_ACCESS_KEY_ID": "none",
        "AWS_SECRET_ACCESS_KEY": "none",
    }


EDGES = {("supplier", "supplier", "IDENTITY"), ("total", "id", "AGGREGATION")}


@pytest.mark.slow
def test_exported_job_runs_locally_from_another_directory(lab, tmp_path):
    assert submit(lab, tmp_path, "local[1]") == (TOTALS, EDGES)


@pytest.mark.slow
def test_exported_job_gives_the_same_on_a_cluster_of_two_workers(lab, tmp_path):
    with cluster(tmp_path) as (master, workers):
        assert submit(lab, tmp_path, master) == (TOTALS, EDGES)
        assert all(list(worker.glob("app-*/*")) for worker in workers), "a worker ran no executor"


@contextmanager
def cluster(folder: Path) -> Iterator[tuple[str, list[Path]]]:
    """Run a standalone cluster of two workers with one core each; return its URL and the workers' folders."""
    port, web = free_port(), free_port()
    url = f"spark://127.0.0.1:{port}"
    workers = [folder / "worker_1", folder / "worker_2"]
    with ExitStack() as stack:
        options = ("--host", "127.0.0.1", "--port", str(port), "--webui-port", str(web))
        stack.enter_context(daemon("master.Master", *options, log=folder / "master.log"))
        for worker in workers:
            options = ("--host", "127.0.0.1", "--webui-port", str(free_port()), "--work-dir", str(worker))
            log = folder / f"{worker.name}.log"
            size = ("--cores", "1", "--memory", "1g")
            stack.enter_context(daemon("worker.Worker", *options, *size, url, log=log))
        wait_until(lambda: alive_workers(web) == 2)
        yield url, workers


@contextmanager
def daemon(main: str, *options: str, log: Path) -> Iterator[None]:
    command = [SPARK_HOME / "bin" / "spark-class", f"org.apache.spark.deploy.{main}", *options]
    with log.open("wb") as output:
        variables = {**environment(), "SPARK_DAEMON_MEMORY": "192m"}
        process = subprocess.Popen(command, env=variables, stdout=output, stderr=output)
    try:
        yield
    finally:
        process.terminate()
        process.wait(30)


def alive_workers(port: int) -> int:
    try:
        with urlopen(f"http://127.0.0.1:{port}/json/", timeout=5) as response:
            return response.read().decode().count('"state" : "ALIVE"')
    except OSError:
        return 0


def wait_until(condition):
    deadline = time.monotonic() + 240
    while not condition():
        assert time.monotonic() < deadline, "the cluster did not become ready within 240 s"
        time.sleep(0.2)
