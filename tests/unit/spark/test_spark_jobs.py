# SPDX-License-Identifier: Apache-2.0
"""Job `supplier_stats` with real Iceberg tables, during ETL commits and with failing lineage services.

Also settings of the jobs, and errors of Kafka and checkpoints.
"""

import json
import socket
import threading
from collections.abc import Iterator
from datetime import date
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from infra.namespaces import JOB_NAMESPACE
from jobs.spark import checkpoint, kafka, runtime, supplier_stats, tables
from jobs.spark.kafka import TopicIdentity
from jobs.spark.tables import Table
from jobs.spark.transformations.supplier_totals import supplier_totals
from lineagelab_spark import SparkLineage, batch_observer
from lineagelab_spark.batch_lineage import observe
from lineagelab_spark.plan import PlanLineage
from lineagelab_spark.plan_json import Node


@pytest.fixture
def lake(spark: SparkSession) -> Iterator[SparkSession]:
    made = [tables.orders(), tables.supplier_stats()]
    for table in made:
        table.create(spark)
    yield spark
    for table in made:
        spark.sql(f"DROP TABLE {table.name} PURGE")


def order(spark: SparkSession, order_id: str, day: int = 20, supplier: str = "alder") -> None:
    """Commit one order."""
    row = f"'{order_id}', 'anvil', 12.50, '{supplier}', TIMESTAMP '2026-11-{day} 12:30:00'"
    spark.sql(f"INSERT INTO {tables.orders().name} VALUES ({row})")


def statistics(spark: SparkSession) -> list[tuple[date, str, int]]:
    """Run the job and return day, supplier and number of orders of each resulting row."""
    target = tables.supplier_stats()
    supplier_stats.load(spark, tables.orders().name, target)
    return sorted(
        tuple(row) for row in spark.table(target.name).select("bid_date", "supplier", "total_count").collect()
    )


@pytest.mark.slow
def test_second_run_changes_nothing(lake: SparkSession) -> None:
    order(lake, "a")
    order(lake, "b")

    assert statistics(lake) == statistics(lake) == [(date(2026, 11, 20), "alder", 2)]


def test_statistics_of_days_without_new_orders_are_kept(lake: SparkSession) -> None:
    order(lake, "a", day=19)
    statistics(lake)
    lake.sql(f"DELETE FROM {tables.orders().name}")
    order(lake, "b")

    assert [day.day for day, _, _ in statistics(lake)] == [19, 20]


def test_statistics_read_one_snapshot_of_the_orders(lake: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """The ETL may commit at any time: here between the plan and the write."""
    write = tables.overwrite_partitions

    def after_commits(frame: DataFrame, table: Table) -> None:
        order(lake, "b")
        order(lake, "c", supplier="birch")
        write(frame, table)

    order(lake, "a")
    day = date(2026, 11, 20)

    with monkeypatch.context() as patch:
        patch.setattr(tables, "overwrite_partitions", after_commits)
        first = statistics(lake)
    assert first in ([(day, "alder", 1)], [(day, "alder", 2), (day, "birch", 1)])
    assert statistics(lake) == [(day, "alder", 2), (day, "birch", 1)]


class Service:
    """Fake lineage service on loopback; `answer` None never responds."""

    def __init__(self, answer: int | None) -> None:
        self.events: list[dict[str, Any]] = []
        self._release = threading.Event()
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if answer is None:
                    service._release.wait()
                    return
                service.events.append(json.loads(body))
                self.send_response(answer)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Log nothing."""

        self._server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever)

    def __enter__(self) -> "Service":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._release.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def test_each_write_is_reported_once(lake: SparkSession) -> None:
    with Service(201) as service:
        lineage = SparkLineage(lake, JOB_NAMESPACE, service.url)
        frame = supplier_totals(lake.table(tables.orders().name))
        lineage.describe(frame, tables.supplier_stats().name, "overwrite_partitions_dynamic")
        lineage.close()

    (event,) = service.events
    assert event["job"] == event["job"] | {
        "namespace": JOB_NAMESPACE,
        "name": "tests.overwrite_partitions_dynamic.lake_sales_supplier_stats",
    }
    assert [i["name"].rpartition("/")[2] for i in event["inputs"]] == ["orders"]
    total = event["outputs"][0]["facets"]["columnLineage"]["fields"]["total_price"]["inputFields"]
    assert [(origin["field"], origin["transformations"][0]["subtype"]) for origin in total] == [
        ("price", "AGGREGATION")
    ]


@pytest.mark.parametrize("answer", [500, None], ids=["error", "hangs"])
def test_broken_lineage_service_neither_fails_nor_delays_the_job(lake: SparkSession, answer: int | None) -> None:
    order(lake, "a")
    with Service(answer) as service:
        lineage = observe(lake, JOB_NAMESPACE, service.url)
        assert statistics(lake)
        lineage.close()


def test_frame_without_derivable_lineage_is_still_written(
    lake: SparkSession, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: Node) -> PlanLineage:
        raise ValueError("no such plan")

    order(lake, "a")
    with Service(201) as service:
        lineage = observe(lake, JOB_NAMESPACE, service.url)
        monkeypatch.setattr(batch_observer, "summary", broken)
        assert statistics(lake)
        lineage.close()

    # Spark may announce the end of the first write after the session is observed: its event comes then, too.
    ends = [event for event in service.events if event["eventType"] == "COMPLETE"]
    (end,) = [event for event in ends if event["job"]["name"].endswith("supplier_stats")]
    assert [read["name"].rpartition("/")[2] for read in end["inputs"]] == ["orders"]
    assert "cannot derive a plan" in caplog.text
    assert "no such plan" in caplog.text


def test_unreachable_kafka_is_named(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kafka, "TIMEOUT_MS", 500)
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{unused.getsockname()[1]}"
        with pytest.raises(runtime.JobError, match=f"topic 'orders' at {address}.*[Tt]imeout"):
            kafka.identity(spark, address, "orders")


def test_checkpoint_belongs_to_one_topic(spark: SparkSession, tmp_path: Path) -> None:
    location = f"file://{tmp_path}/new/orders_etl"
    first, second = TopicIdentity("cluster", "topic-1"), TopicIdentity("cluster", "topic-2")
    checkpoint.claim(spark, location, "orders", first)
    checkpoint.claim(spark, location, "orders", first)

    with pytest.raises(
        runtime.JobError, match=f"checkpoint {location}: .*topic-1.*topic-2.*Delete the query's checkpoint"
    ):
        checkpoint.claim(spark, location, "orders", second)


def test_partly_written_checkpoint_is_adopted(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "topic.json").write_text('{"clus')
    found = TopicIdentity("cluster", "topic")

    for _ in range(2):
        checkpoint.claim(spark, f"file://{tmp_path}", "orders", found)

    assert json.loads((tmp_path / "topic.json").read_text()) == {"cluster": "cluster", "topic": "topic"}


def test_missing_setting_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KAFKA_BOOTSTRAP", raising=False)

    with pytest.raises(runtime.SettingError, match="KAFKA_BOOTSTRAP is not set: host:port"):
        runtime.setting("KAFKA_BOOTSTRAP", "host:port of a broker")


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", 5), ("7", 7), ("90s", 90), ("5 seconds", 5), ("2 min", 120), ("1h", 3600), ("1 Hour", 3600), ("1d", 86400)],
)
def test_duration_is_parsed(monkeypatch: pytest.MonkeyPatch, text: str, expected: int) -> None:
    monkeypatch.setenv("PAUSE", text)

    assert runtime.seconds("PAUSE", "5 seconds") == expected


@pytest.mark.parametrize("text", ["0", "-1", "5 ms", "1.5h", "soon", "1h30m", "9" * 12])
def test_invalid_duration_is_named(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("PAUSE", text)

    with pytest.raises(runtime.SettingError, match=r"PAUSE is .* not a duration such as '5 seconds'"):
        runtime.seconds("PAUSE", "1")


def test_number_is_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert runtime.number("MOST", 5) == 5
    monkeypatch.setenv("MOST", "7")
    assert runtime.number("MOST", 5) == 7
    monkeypatch.setenv("MOST", "0")
    with pytest.raises(runtime.SettingError, match="MOST is '0', not a positive integer"):
        runtime.number("MOST", 5)


def test_root_cause_of_a_failed_action_is_found(spark: SparkSession) -> None:
    failing = spark.sql("SELECT raise_error('the reason') FROM range(1)")

    with pytest.raises(Exception, match="the reason") as caught:
        failing.collect()

    cause = runtime.root_cause(caught.value)
    assert "the reason" in cause
    assert "\n\tat " not in cause
