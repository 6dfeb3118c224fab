# SPDX-License-Identifier: Apache-2.0
"""Load generation and statistics of the Spark benchmarks."""

import io
import json
import math
import os
import subprocess
import sys
import threading
from itertools import pairwise
from pathlib import Path
from urllib.parse import urlsplit

import fastavro
import httpx
import psutil
import pytest

from infra.namespaces import CATALOG_NAME, JOB_NAMESPACE, JOB_SUPPLIER_STATS
from infra.services import lineage
from infra.services.spark.driver import PROPERTIES
from infra.toolchain import Artifacts
from jobs.shop.orders import Mix, order
from tests.bench.figures import Figures, Goal
from tests.bench.service_process import running_service
from tests.bench.spark_batch import plain_words
from tests.bench.spark_events import Heard
from tests.bench.spark_freshness import ages, first_commits
from tests.bench.spark_intervals import paired_difference, paired_ratio, student
from tests.bench.spark_place import Place, on_folder, rows, table_in
from tests.bench.spark_process import run, watched
from tests.bench.spark_streaming import FULL, SMALL, Case, cost_of_micro_batches, pairs_of, tell
from tests.bench.spark_topic import encoder
from tests.bench.spark_turns import Turn, order_of
from tests.unit.spark.schemas import FIRST, SCHEMAS

BURN = "import time\nwhile time.process_time() < 0.5: pass"
LINEAGE_API = (lineage.NAME, lineage.API.name)


@pytest.mark.parametrize(("freedom", "quantile"), [(1, 12.706), (2, 4.303), (6, 2.447), (9, 2.262), (30, 2.042)])
def test_student_quantiles_match_published_tables(freedom, quantile):
    assert student(freedom) == pytest.approx(quantile, abs=1e-3)


def test_ratio_of_pairs_cancels_common_disturbances():
    found = paired_ratio([(1.1, 1.0), (11.0, 10.0), (110.0, 100.0)])
    assert (found.mean, found.low, found.high) == pytest.approx((1.1, 1.1, 1.1))


def test_interval_grows_with_the_spread_of_pairs():
    found = paired_ratio([(1.0, 1.0), (math.e, 1.0), (math.e**2, 1.0)])
    assert math.log(found.mean) == pytest.approx(1)
    assert math.log(found.high) - 1 == pytest.approx(4.3027 / math.sqrt(3), abs=1e-3)
    assert found.low * found.high == pytest.approx(found.mean**2)


def test_difference_has_an_interval():
    found = paired_difference([(3.0, 1.0), (4.0, 1.0)])
    assert found.mean == 2.5
    assert found.high - found.mean == pytest.approx(12.706 * math.sqrt(0.5) / math.sqrt(2), abs=1e-3)
    assert found.each(lambda seconds: seconds * 10).mean == 25


def test_one_pair_has_no_interval():
    with pytest.raises(ValueError, match="two pairs"):
        paired_ratio([(1.0, 1.0)])


def test_small_micro_batch_is_compared_with_a_full_one():
    records = {SMALL: 10 * SMALL.at_once, FULL: 4 * FULL.at_once}
    told = {
        SMALL: [(turn(True, 5.0), turn(False, 4.0)), (turn(True, 6.0), turn(False, 5.0))],
        FULL: [(turn(True, 44.0), turn(False, 40.0))],
    }
    text = cost_of_micro_batches(records, told)
    assert "100.000, 95 % interval 100.000 to 100.000, n = 2 ms" in text
    assert "which takes 10.0 s, that is a ratio of 1.010" in text


def turn(lineage, cpu=1.0, rows=10):
    return Turn(lineage, jvm=cpu, python=0.0, wall=1.0, rows=rows)


def test_paired_turns_cancel_drift():
    order = [lineage for pair in range(4) for lineage in order_of(pair)]
    seconds = [10.0 - number for number in range(8)]  # JVM warm-up
    pairs = pairs_of([turn(lineage, cpu) for lineage, cpu in zip(order, seconds, strict=True)])
    assert [on.lineage and not off.lineage for on, off in pairs] == [True] * 4
    assert sum(on.cpu for on, _ in pairs) == sum(off.cpu for _, off in pairs)


def test_turns_with_different_work_are_not_compared():
    with pytest.raises(RuntimeError, match=r"\[9, 10\] rows"):
        pairs_of([turn(True), turn(False, rows=9)])


def test_figures_are_scaled_to_a_million_records():
    figures = Figures()
    case = Case("q", orders=500, at_once=200, goal=Goal(1.02))
    tell(figures, case, 500, [(turn(True, 1.0), turn(False, 0.5)), (turn(True, 1.2), turn(False, 0.6))])
    name = "q, 200 records at once"
    assert figures.by_name[f"{name}, lineage on: CPU per 1,000,000 records"].values == [2000, 2400]
    assert figures.by_name[f"{name}, on / off: CPU"].to_json()["met"] is False
    assert "3 micro-batches" in figures.remarks[0]
    assert "2.000, 95 % interval 2.000 to 2.000, n = 2" in figures.remarks[1]


def test_child_processes_are_waited_for_and_measured(tmp_path):
    orphan = f"{sys.executable} -c '{BURN}' & exit 0"
    usage = run(["sh", "-c", orphan], os.environ, tmp_path / "log")
    assert usage.cpu_seconds >= 0.5


def test_failed_command_reports_its_output(tmp_path):
    with pytest.raises(RuntimeError, match=r"(?s)failed \(3\).*no such table"):
        run(["sh", "-c", "echo no such table >&2; exit 3"], os.environ, tmp_path / "log")


def test_timed_out_command_leaves_no_process(tmp_path):
    log = tmp_path / "log"
    with watched(["sh", "-c", "sleep 61 & sleep 62 & echo ready; wait"], os.environ, log) as watcher:
        while "ready" not in log.read_text():
            assert watcher.poll() is None
            threading.Event().wait(0.02)
        started = psutil.Process(watcher.pid).children(recursive=True)
    assert len(started) == 3
    assert [process for process in started if process.is_running()] == []


def test_command_has_a_timeout(tmp_path):
    with pytest.raises(subprocess.TimeoutExpired):
        run(["sleep", "61"], os.environ, tmp_path / "log", seconds=0.1)


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path, Artifacts.open(), {LINEAGE_API: 21399})


def test_driver_receives_the_service_addresses(place):
    job = place.part(JOB_SUPPLIER_STATS)
    assert job.env["LINEAGE_URL"] == "http://127.0.0.1:21399"
    listening = [endpoint.port for known in place.site.endpoints.values() for endpoint in known]
    assert len(set(listening)) == len(listening)


def test_driver_uses_a_catalog_in_a_folder(place, tmp_path):
    job = on_folder(place.part(JOB_SUPPLIER_STATS), tmp_path / "lake", LINEAGE_URL=None, EXTRA="1")
    last = dict(line.split("=", 1) for line in job.files[PROPERTIES].splitlines())
    assert last["spark.sql.catalog.lake.type"] == "hadoop"
    assert last["spark.sql.catalog.lake.warehouse"] == f"file://{tmp_path}/lake"
    assert "LINEAGE_URL" not in job.env
    assert job.env["EXTRA"] == "1"


def test_launch_script_is_a_valid_shell_script(place):
    script = place.script(place.part(JOB_SUPPLIER_STATS))
    assert subprocess.run(["sh", "-n", script], check=False).returncode == 0
    assert "21399" in script.read_text()


def test_plain_spark_has_only_the_agent_and_catalog_of_the_lab(place, tmp_path):
    words = plain_words(place, on_folder(place.part(JOB_SUPPLIER_STATS), tmp_path / "lake"))
    settings = dict(word.split("=", 1) for option, word in pairwise(words) if option == "--conf")
    assert settings["spark.openlineage.transport.url"] == "http://127.0.0.1:21399"
    assert settings["spark.extraListeners"].endswith("OpenLineageSparkListener")
    assert settings["spark.sql.catalog.lake.type"] == "hadoop"
    assert not {"spark.ui.enabled", "spark.master", "spark.sql.shuffle.partitions"} & settings.keys()
    assert not any("JavaOptions" in name for name in settings)


def test_orders_have_the_wire_format_of_the_registry_converter():
    made = order(Mix(), 1, 1_795_000_000_000)
    framed = encoder()(made)
    assert framed[:5] == bytes([0, 0, 0, 0, FIRST])
    schema = fastavro.parse_schema(json.loads(SCHEMAS[FIRST]))
    read = fastavro.schemaless_reader(io.BytesIO(framed[5:]), schema, None)
    assert (read["order_id"], read["price"]) == (made.order_id, made.price)


@pytest.mark.slow
def test_row_is_visible_from_its_first_commit(spark):
    warehouse = Path(urlsplit(spark.conf.get(f"spark.sql.catalog.{CATALOG_NAME}.warehouse")).path)
    spark.sql("CREATE TABLE lake.bench.fresh (order_id string, day int) USING iceberg PARTITIONED BY (day)")
    assert rows(warehouse, "bench.fresh") == 0
    spark.sql("INSERT INTO lake.bench.fresh VALUES ('a', 1), ('b', 2)")
    spark.sql("INSERT INTO lake.bench.fresh VALUES ('c', 3)")
    table = table_in(warehouse, "bench.fresh")
    first, second = (snapshot.timestamp_ms for snapshot in table.metadata.snapshots)
    assert first_commits(table) == {"a": first, "b": first, "c": second}
    spark.sql("INSERT OVERWRITE lake.bench.fresh PARTITION (day = 3) VALUES ('c')")
    table = table_in(warehouse, "bench.fresh")
    assert rows(warehouse, "bench.fresh") == 3
    assert first_commits(table) == {"a": first, "b": first}, "a rewritten file does not count as a commit"


def test_ages_exclude_late_records():
    written = {"early": 900, "a": 1_000, "b": 1_500, "rejected": 1_600}
    visible = {"early": 5_000, "a": 3_000, "b": 3_000}
    assert ages(written, visible, since=1_000) == [2.0, 1.5]


def event(run, state):
    return {
        "eventType": state,
        "eventTime": "2026-11-20T12:00:00Z",
        "producer": "https://example.org/tests",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "run": {"runId": f"0193f3c0-0000-7000-8000-{run:012}"},
        "job": {"namespace": JOB_NAMESPACE, "name": "etl"},
        "inputs": [],
        "outputs": [],
    }


def test_lineage_figure_requires_received_events(tmp_path):
    with running_service(tmp_path / "data") as service:
        heard = Heard(service.url)

        def send(run, state):
            httpx.post(f"{service.url}/api/v1/lineage", json=event(run, state), trust_env=False).raise_for_status()

        with heard.expect("etl", ends=0):
            pass
        with heard.expect("etl", ends=2):
            send(1, "COMPLETE")
            send(2, "FAIL")
        with pytest.raises(RuntimeError, match="1 runs of etl were to end, and 0 did"), heard.expect("etl", ends=1):
            send(3, "START")
