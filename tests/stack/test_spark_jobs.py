# SPDX-License-Identifier: Apache-2.0
"""User-supplied Spark jobs as in jobs/spark/README.md, with a catalog, an object store and a lineage service."""

import re
import shutil

import httpx
import psutil
import pytest

from infra.cli.tasks import run_task
from infra.errors import ServiceError
from infra.namespaces import JOB_NAMESPACE, WAREHOUSE_NAMESPACE
from infra.project import PROJECT
from tests.stack.partial_lab import PartialLab
from tests.stack.polling import until

pytestmark = [pytest.mark.stack, pytest.mark.slow]


FAILS = """# lab: task

from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
spark.sql("CREATE NAMESPACE IF NOT EXISTS lake.mine")
spark.sql("CREATE TABLE IF NOT EXISTS lake.mine.broken (n int) USING iceberg")
try:
    spark.sql("SELECT CAST(raise_error('planned') AS int) AS n FROM range(3)").writeTo("lake.mine.broken").append()
except Exception as error:
    raise SystemExit(3) from error
"""
WAITS = """# lab: task

import time

from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
print("waiting", flush=True)
spark.range(1).rdd.map(lambda row: time.sleep(600)).collect()
"""


def examples():
    """Return the complete files of the README: name -> source."""
    blocks = re.findall(r"```python\n(.*?)```", (PROJECT / "jobs" / "spark" / "README.md").read_text(), re.DOTALL)
    task, service = (block for block in blocks if "import" in block)
    return {"totals": task, "arrivals": service}


def project_with(folder, files):
    """Return a copy of the checkout's packages with additional Spark jobs."""
    for name in ("infra", "integrations", "jobs", "lineage"):
        shutil.copytree(PROJECT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "target"))
    for name, text in files.items():
        (folder / "jobs" / "spark" / f"{name}.py").write_text(text)
    return folder


@pytest.fixture(scope="module")
def part(tmp_path_factory, free_offset):
    folder = tmp_path_factory.mktemp("own")
    files = examples() | {"fails": FAILS, "waits": WAITS}
    keys = ["totals", "fails", "waits", "arrivals"]
    with PartialLab(folder / "lab", free_offset, keys, project_with(folder / "project", files)).running() as made:
        yield made


def api(part, path, **query):
    return httpx.get(f"http://{part.address(5000)}{path}", params=query, timeout=60).raise_for_status().json()


def runs(part, job):
    return api(part, f"/api/v1/namespaces/{JOB_NAMESPACE}/jobs/{job}/runs")["runs"]


def jobs(part):
    return {job["name"] for job in api(part, f"/api/v1/namespaces/{JOB_NAMESPACE}/jobs", limit=100)["jobs"]}


def column_edges(part, job):
    """Return (output column, input column) of a job's edges in the graph."""
    edges = api(part, "/api/v1/graph")["columns"]
    return {(e["output"]["field"], e["input"]["field"]) for e in edges if e["job"]["name"] == job}


def test_script_without_lab_imports_emits_lineage(part):
    run_task(part.supervisor, "totals")
    (application,) = runs(part, "totals")
    assert application["state"] == "COMPLETED"
    (job,) = {name for name in jobs(part) if name.startswith("totals.") and name.endswith("lake_mine_totals")}
    (run,) = runs(part, job)
    assert run["state"] == "COMPLETED"
    parent = api(part, f"/api/v1/jobs/runs/{run['id']}/facets", type="run")["facets"]["parent"]
    assert parent["run"]["runId"] == application["id"]
    assert parent["job"] == {"namespace": JOB_NAMESPACE, "name": "totals"}


def test_write_has_schema_and_columns(part):
    (job,) = {name for name in jobs(part) if name.startswith("totals.") and name.endswith("lake_mine_totals")}
    dataset = api(part, f"/api/v1/namespaces/{WAREHOUSE_NAMESPACE.replace('/', '%2F')}/datasets/mine%2Ftotals")
    assert [field["name"] for field in dataset["fields"]] == ["group", "total"]
    assert {("group", "group"), ("total", "id")} <= column_edges(part, job)


def test_each_write_is_one_job_that_knows_its_columns(part):
    writes = {f"totals.create_table_as_select.lake_mine_{table}" for table in ("numbers", "totals")}
    assert {name for name in jobs(part) if name.startswith("totals")} == {"totals"} | writes
    assert {name for name in writes if not column_edges(part, name)} == {
        "totals.create_table_as_select.lake_mine_numbers"
    }


def test_failed_action_fails_its_application(part):
    with pytest.raises(ServiceError, match="exit status 3"):
        run_task(part.supervisor, "fails")
    (application,) = runs(part, "fails")
    assert application["state"] == "FAILED"
    (action,) = [run for name in jobs(part) if name.startswith("fails.") for run in runs(part, name)]
    assert action["state"] == "FAILED"


@pytest.mark.parametrize("victim", ["python", "jvm"])
def test_killed_job_leaves_no_open_run_and_no_process(part, victim):
    before = {run["id"] for run in jobs(part) & {"waits"} and runs(part, "waits")}
    log = part.supervisor.log_path("waits")
    log.unlink(missing_ok=True)
    part.supervisor.run("waits")
    until(lambda: log.exists() and "waiting" in log.read_text())
    launcher = psutil.Process(part.supervisor.state("waits").pid)
    (python,) = launcher.children()
    family = [launcher, *launcher.children(recursive=True)]
    victims = {"python": python, "jvm": next(child for child in python.children() if child.name() == "java")}
    victims[victim].kill()
    assert psutil.wait_procs(family, 60)[1] == []
    assert part.supervisor.state("waits").exit_status == (137 if victim == "python" else 1)
    (run,) = [run for run in runs(part, "waits") if run["id"] not in before]
    assert run["state"] == "FAILED"


def test_streaming_service_has_one_run_with_columns_per_start(part):
    until(lambda: "arrivals" in jobs(part) and runs(part, "arrivals"))
    (first,) = runs(part, "arrivals")
    assert first["state"] == "RUNNING"
    made_of = {("order_id", "_key"), ("place", "_partition"), ("place", "_offset"), ("at", "_timestamp")}
    until(lambda: column_edges(part, "arrivals") == made_of)
    part.supervisor.stop("arrivals")
    assert [run["state"] for run in runs(part, "arrivals")] == ["ABORTED"]
    part.supervisor.run("arrivals")
    until(lambda: len(runs(part, "arrivals")) == 2)
    assert sorted(run["state"] for run in runs(part, "arrivals")) == ["ABORTED", "RUNNING"]
    assert not {name for name in jobs(part) if name.startswith("arrivals.")}


def test_jvm_uses_the_class_data_archive(part):
    """The driver maps the archive of the toolchain, so the archive matches JDK and class path."""
    launcher = psutil.Process(part.supervisor.state("arrivals").pid)
    jvm = until(lambda: next((p for p in launcher.children(recursive=True) if p.name() == "java"), None))
    until(lambda: any(mapped.path.endswith("classes.jsa") for mapped in jvm.memory_maps()))


def test_second_up_changes_nothing(part):
    up = part.up()
    assert up.status == 0
    assert "unchanged" in up.text
    assert "updated" not in up.text
