# SPDX-License-Identifier: Apache-2.0
"""Tools of the Spark benchmarks: processes, partial labs, and arithmetic of the figures."""

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
from tests.bench.confidence_intervals import paired_difference, paired_ratio, student_quantile
from tests.bench.expected_runs import expect_ended_runs
from tests.bench.figures import Figures, Goal
from tests.bench.measured_process import measured_process, run_measured
from tests.bench.partial_lab import PartialLab, count_rows, read_table, with_folder_catalog
from tests.bench.service_process import running_service
from tests.bench.spark_batch import spark_submit_command
from tests.bench.spark_freshness import first_commits, row_ages
from tests.bench.spark_overhead import FULL, SINGLE, SMALL, StreamingCase, add_case, cost_remark, pair_trials
from tests.bench.spark_rates import Load, add_load
from tests.bench.spark_trials import SparkTrial, lineage_order
from tests.bench.stream_services import order_encoder
from tests.unit.spark.schemas import FIRST, SCHEMAS

BURN = "import time\nwhile time.process_time() < 0.5: pass"
LINEAGE_API = (lineage.NAME, lineage.API.name)


@pytest.mark.parametrize(("freedom", "quantile"), [(1, 12.706), (2, 4.303), (6, 2.447), (9, 2.262), (30, 2.042)])
def test_student_quantile_agrees_with_published_tables(freedom, quantile):
    assert student_quantile(freedom) == pytest.approx(quantile, abs=1e-3)


def test_paired_ratio_cancels_disturbances_of_both_values():
    found = paired_ratio([(1.1, 1.0), (11.0, 10.0), (110.0, 100.0)])
    assert (found.mean, found.low, found.high) == pytest.approx((1.1, 1.1, 1.1))


def test_the_interval_of_a_ratio_grows_with_the_spread_of_the_pairs():
    found = paired_ratio([(1.0, 1.0), (math.e, 1.0), (math.e**2, 1.0)])
    assert math.log(found.mean) == pytest.approx(1)
    assert math.log(found.high) - 1 == pytest.approx(4.3027 / math.sqrt(3), abs=1e-3)
    assert found.low * found.high == pytest.approx(found.mean**2)


def test_paired_difference_has_an_interval():
    found = paired_difference([(3.0, 1.0), (4.0, 1.0)])
    assert found.mean == 2.5
    assert found.high - found.mean == pytest.approx(12.706 * math.sqrt(0.5) / math.sqrt(2), abs=1e-3)
    assert found.transformed(lambda seconds: seconds * 10).mean == 25


def test_one_pair_is_not_enough_for_an_interval():
    with pytest.raises(ValueError, match="at least two pairs"):
        paired_ratio([(1.0, 1.0)])


def test_figures_of_a_rate_are_per_order_and_per_hour():
    figures = Figures()
    add_load(figures, 500, Load(lags=[0.5, 2.0, 4.0], cpu_seconds=6.0, orders=2000, events=2, seconds=60.0))
    assert {name.partition(": ")[2]: figure.values for name, figure in figures.by_name.items()} == {
        "lag, median": [2.0],
        "lag, highest": [4.0],
        "CPU per 1,000 orders": [3.0],
        "CPU cores in use": [0.1],
        "lineage events per hour": [120.0],
    }


def test_the_costs_of_a_run_and_of_a_micro_batch_are_told_apart():
    records = {SINGLE: SINGLE.batch_size, SMALL: 11 * SMALL.batch_size, FULL: 4 * FULL.batch_size}
    measured = {
        SINGLE: [(trial(True, 1.5, observer=0.3), trial(False, 1.0))] * 2,
        SMALL: [
            (trial(True, 5.5, observer=0.5), trial(False, 4.0)),
            (trial(True, 6.5, observer=0.5), trial(False, 5.0)),
        ],
        FULL: [(trial(True, 44.0), trial(False, 40.0))],
    }
    text = cost_remark(records, measured)
    assert "a run of one micro-batch: 0.500, 95 % interval 0.500 to 0.500, n = 2" in text
    assert "each of 10 more: 100.000, 95 % interval 100.000 to 100.000, n = 2" in text
    assert "JVM: 0.300 s, then 20.000, 95 % interval 20.000 to 20.000, n = 2: ratio 1.002" in text
    assert "(10.0 s): ratio 1.010" in text


def trial(lineage, cpu=1.0, rows=10, observer=0.0):
    return SparkTrial(lineage, jvm=cpu, python=0.0, wall=1.0, rows=rows, observer=observer)


def test_alternating_trials_cancel_linear_drift():
    order = [lineage for pair in range(4) for lineage in lineage_order(pair)]
    seconds = [10.0 - number for number in range(8)]  # a JVM that becomes faster
    pairs = pair_trials([trial(lineage, cpu) for lineage, cpu in zip(order, seconds, strict=True)])
    assert [on.lineage and not off.lineage for on, off in pairs] == [True] * 4
    assert sum(on.cpu for on, _ in pairs) == sum(off.cpu for _, off in pairs)


def test_trials_with_different_row_counts_are_rejected():
    with pytest.raises(RuntimeError, match=r"different numbers of rows: \[9, 10\]"):
        pair_trials([trial(True), trial(False, rows=9)])


def test_add_case_scales_to_a_million_records():
    figures = Figures()
    case = StreamingCase("q", orders=500, batch_size=200, goal=Goal(1.02))
    add_case(figures, case, 500, [(trial(True, 1.0), trial(False, 0.5)), (trial(True, 1.2), trial(False, 0.6))])
    name = "q, 500 orders in micro-batches of 200 records"
    assert figures.by_name[f"{name}, lineage on: CPU per 1,000,000 records"].values == [2000, 2400]
    assert figures.by_name[f"{name}, on / off: CPU"].to_json()["met"] is False
    assert "3 micro-batches" in figures.remarks[0]
    assert "2.000, 95 % interval 2.000 to 2.000, n = 2" in figures.remarks[1]


def test_orphaned_processes_are_waited_for_and_counted(tmp_path):
    orphan = f"{sys.executable} -c '{BURN}' & exit 0"
    usage = run_measured(["sh", "-c", orphan], os.environ, tmp_path / "log")
    assert usage.cpu_seconds >= 0.5


def test_the_error_of_a_failed_command_has_the_end_of_its_log(tmp_path):
    with pytest.raises(RuntimeError, match=r"(?s)failed with exit status 3.*no such table"):
        run_measured(["sh", "-c", "echo no such table >&2; exit 3"], os.environ, tmp_path / "log")


def test_leaving_the_block_kills_all_processes_of_the_command(tmp_path):
    log = tmp_path / "log"
    with measured_process(["sh", "-c", "sleep 61 & sleep 62 & echo ready; wait"], os.environ, log) as subreaper:
        while "ready" not in log.read_text():
            assert subreaper.poll() is None
            threading.Event().wait(0.02)
        started = psutil.Process(subreaper.pid).children(recursive=True)
    assert len(started) == 3
    assert [process for process in started if process.is_running()] == []


def test_a_command_is_stopped_after_its_timeout(tmp_path):
    with pytest.raises(subprocess.TimeoutExpired):
        run_measured(["sleep", "61"], os.environ, tmp_path / "log", seconds=0.1)


@pytest.fixture
def partial_lab(tmp_path):
    return PartialLab(tmp_path, Artifacts.open(), {LINEAGE_API: 21399})


def test_a_driver_gets_the_given_ports_of_running_services(partial_lab):
    job = partial_lab.part(JOB_SUPPLIER_STATS)
    assert job.env["LINEAGE_URL"] == "http://127.0.0.1:21399"
    listening = [endpoint.port for known in partial_lab.site.endpoints.values() for endpoint in known]
    assert len(set(listening)) == len(listening)


def test_the_folder_catalog_overrides_the_catalog_of_the_lab(partial_lab, tmp_path):
    job = with_folder_catalog(partial_lab.part(JOB_SUPPLIER_STATS), tmp_path / "lake", LINEAGE_URL=None, EXTRA="1")
    last = dict(line.split("=", 1) for line in job.files[PROPERTIES].splitlines())
    assert last["spark.sql.catalog.lake.type"] == "hadoop"
    assert last["spark.sql.catalog.lake.warehouse"] == f"file://{tmp_path}/lake"
    assert "LINEAGE_URL" not in job.env
    assert job.env["EXTRA"] == "1"


def test_the_script_of_a_part_is_valid_shell(partial_lab):
    script = partial_lab.write_script(partial_lab.part(JOB_SUPPLIER_STATS))
    assert subprocess.run(["sh", "-n", script], check=False).returncode == 0
    assert "21399" in script.read_text()


def test_plain_spark_submit_has_the_agent_and_shares_only_the_catalog_with_the_lab(partial_lab, tmp_path):
    words = spark_submit_command(
        partial_lab, with_folder_catalog(partial_lab.part(JOB_SUPPLIER_STATS), tmp_path / "lake")
    )
    settings = dict(word.split("=", 1) for option, word in pairwise(words) if option == "--conf")
    assert settings["spark.openlineage.transport.url"] == "http://127.0.0.1:21399"
    assert settings["spark.extraListeners"].endswith("OpenLineageSparkListener")
    assert settings["spark.sql.catalog.lake.type"] == "hadoop"
    assert not {"spark.ui.enabled", "spark.master", "spark.sql.shuffle.partitions"} & settings.keys()
    assert not any("JavaOptions" in name for name in settings)


def test_encoded_orders_have_confluents_header():
    made = order(Mix(), 1, 1_795_000_000_000)
    framed = order_encoder()(made)
    assert framed[:5] == bytes([0, 0, 0, 0, FIRST])
    schema = fastavro.parse_schema(json.loads(SCHEMAS[FIRST]))
    read = fastavro.schemaless_reader(io.BytesIO(framed[5:]), schema, None)
    assert (read["order_id"], read["price"]) == (made.order_id, made.price)


@pytest.mark.slow
def test_first_commits_returns_the_commit_of_each_appended_row(spark):
    warehouse = Path(urlsplit(spark.conf.get(f"spark.sql.catalog.{CATALOG_NAME}.warehouse")).path)
    spark.sql("CREATE TABLE lake.bench.fresh (order_id string, day int) USING iceberg PARTITIONED BY (day)")
    assert count_rows(warehouse, "bench.fresh") == 0
    spark.sql("INSERT INTO lake.bench.fresh VALUES ('a', 1), ('b', 2)")
    spark.sql("INSERT INTO lake.bench.fresh VALUES ('c', 3)")
    table = read_table(warehouse, "bench.fresh")
    first, second = (snapshot.timestamp_ms for snapshot in table.metadata.snapshots)
    assert first_commits(table) == {"a": first, "b": first, "c": second}
    spark.sql("INSERT OVERWRITE lake.bench.fresh PARTITION (day = 3) VALUES ('c')")
    table = read_table(warehouse, "bench.fresh")
    assert count_rows(warehouse, "bench.fresh") == 3
    assert first_commits(table) == {"a": first, "b": first}, "rewritten rows are excluded"


def test_row_ages_exclude_earlier_records_and_orders_without_a_row():
    written = {"early": 900, "a": 1_000, "b": 1_500, "rejected": 1_600}
    visible = {"early": 5_000, "a": 3_000, "b": 3_000}
    assert row_ages(written, visible, since=1_000) == [2.0, 1.5]


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


def test_expect_ended_runs_rejects_another_number_of_runs(tmp_path):
    with running_service(tmp_path / "data") as service:

        def send(run, state):
            httpx.post(f"{service.url}/api/v1/lineage", json=event(run, state), trust_env=False).raise_for_status()

        with expect_ended_runs(service.url, "etl", 0):
            pass
        with expect_ended_runs(service.url, "etl", 2):
            send(1, "COMPLETE")
            send(2, "FAIL")
        message = "expected 1 ended runs of etl at .*, found 0"
        with pytest.raises(RuntimeError, match=message), expect_ended_runs(service.url, "etl", 1):
            send(3, "START")
