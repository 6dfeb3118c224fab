# SPDX-License-Identifier: Apache-2.0
"""State of a run after its driver, or the driver's JVM, was killed."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from infra.project import python_path
from lineage.checks.recorder import Recorder, recording

pytestmark = pytest.mark.slow

REPOSITORY = Path(__file__).resolve().parents[3]

DRIVER = """
import os, sys
from pathlib import Path
from pyspark.sql import SparkSession
from lineagelab_spark import QueryLineage
from tests.unit.spark.conftest import settings, spark_jars

home = Path(sys.argv[1])
os.environ["PYSPARK_SUBMIT_ARGS"] = f"--driver-class-path {':'.join(map(str, spark_jars()))} pyspark-shell"
spark = SparkSession.builder.appName("killed").master("local[1]").config(map=settings(home)).getOrCreate()
spark.sql("CREATE NAMESPACE lake.killed")
spark.sql("CREATE TABLE lake.killed.target (value bigint) USING iceberg")
lineage = QueryLineage(spark, "lineage-lab", sys.argv[2])
stream = spark.readStream.format("rate").load().select("value")
writer = stream.writeStream.queryName("killed").option("checkpointLocation", str(home / "checkpoint"))
query = lineage.to_table(writer, "lake.killed.target")
print("jvm", spark._jvm.java.lang.ProcessHandle.current().pid(), flush=True)
try:
    query.awaitTermination()
finally:
    lineage.close()
"""


@pytest.fixture
def recorder() -> Iterator[Recorder]:
    with recording() as recorder:
        yield recorder


@pytest.fixture
def driver(tmp_path: Path, recorder: Recorder) -> Iterator[subprocess.Popen]:
    (tmp_path / "conf").mkdir()
    environment = {
        **os.environ,
        "PYTHONPATH": python_path(REPOSITORY),
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_CONF_DIR": str(tmp_path / "conf"),
        "LINEAGE_OPEN_RUNS": str(tmp_path / "open.json"),
    }
    command = [sys.executable, "-c", DRIVER, str(tmp_path), recorder.url]
    with subprocess.Popen(command, env=environment, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as process:
        yield process
        process.kill()


def jvm_of(driver: subprocess.Popen, recorder: Recorder) -> int:
    """Return the process id of the JVM after the run has started."""
    assert driver.stdout is not None
    word, _, number = driver.stdout.readline().partition(" ")
    assert word == "jvm", "the driver did not start"
    assert recorder.wait_for(lambda: kinds(recorder) == ["START"], 300), "no START event"
    return int(number)


def kinds(recorder: Recorder) -> list[str]:
    return [json.loads(body)["eventType"] for body in recorder.bodies]


def test_driver_reports_the_loss_of_its_jvm(driver: subprocess.Popen, recorder: Recorder, tmp_path: Path) -> None:
    os.kill(jvm_of(driver, recorder), signal.SIGKILL)

    assert driver.wait(60) != 0
    assert kinds(recorder) == ["START", "FAIL"]
    reason = json.loads(recorder.bodies[-1])["run"]["facets"]["errorMessage"]
    assert reason["message"].startswith("the JVM of the driver is gone")
    assert json.loads((tmp_path / "open.json").read_text(encoding="utf-8")) == {}


def test_killed_driver_leaves_its_run_on_disk(driver: subprocess.Popen, recorder: Recorder, tmp_path: Path) -> None:
    jvm_of(driver, recorder)
    driver.kill()

    assert driver.wait(60) == -signal.SIGKILL
    (left,) = json.loads((tmp_path / "open.json").read_text(encoding="utf-8")).values()
    start = json.loads(recorder.bodies[0])
    assert left == {key: value for key, value in start.items() if key not in {"eventType", "eventTime"}}
