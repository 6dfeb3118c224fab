# SPDX-License-Identifier: Apache-2.0
"""The jobs against real Iceberg tables, lineage services that work or not, and a Kafka that is not there."""

import json
import socket
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from pyspark.sql import SparkSession

from infra.namespaces import JOBS
from jobs.spark import kafka, orders_etl, runtime, supplier_stats, tables
from jobs.spark.lineage import NoLineage, SparkLineage, report
from jobs.spark.lineage.plan import PlanLineage
from jobs.spark.registry import Registry
from jobs.spark.transformations.decode import NOT_FRAMED, UNKNOWN_SCHEMA
from tests.unit.spark.records import Record, frame, header, of
from tests.unit.spark.registry_stand_in import RegistryStandIn
from tests.unit.spark.schemas import FIRST, SCHEMAS, SECOND, UNKNOWN

DAY_MS = 24 * 60 * 60 * 1000


@pytest.fixture
def lake(spark: SparkSession) -> Iterator[SparkSession]:
    made = [tables.orders(), tables.orders_rejected(), tables.supplier_stats()]
    for table in made:
        table.create(spark)
    yield spark
    for table in made:
        spark.sql(f"DROP TABLE {table.name} PURGE")


@pytest.fixture
def registry() -> Iterator[Registry]:
    with RegistryStandIn(SCHEMAS) as stand_in:
        yield Registry(stand_in.url)


def contents(spark: SparkSession, table: tables.Table) -> list[tuple[Any, ...]]:
    return sorted((tuple(row) for row in spark.table(table.name).collect()), key=repr)


def test_a_second_run_changes_nothing(lake: SparkSession, registry: Registry) -> None:
    records = frame(lake, of("a"), of("b", offset=1, price="free"), of("a", offset=2))

    runs = []
    for _ in range(2):
        orders_etl.load(lake, records, registry, NoLineage())
        supplier_stats.load(lake, tables.orders().name, tables.supplier_stats(), NoLineage())
        runs.append([contents(lake, t()) for t in (tables.orders, tables.orders_rejected, tables.supplier_stats)])

    assert runs[0] == runs[1]
    assert [len(rows) for rows in runs[0]] == [1, 1, 1]


def test_an_order_that_changes_sides_leaves_its_old_table(lake: SparkSession, registry: Registry) -> None:
    orders_etl.load(lake, frame(lake, of("a"), of("b", offset=1)), registry, NoLineage())
    orders_etl.load(lake, frame(lake, of("a", price="free"), of("b", offset=1)), registry, NoLineage())

    assert [row[0] for row in contents(lake, tables.orders())] == ["b"]
    assert [row[0] for row in contents(lake, tables.orders_rejected())] == ["a"]


def test_statistics_of_days_without_orders_stay(lake: SparkSession, registry: Registry) -> None:
    stats = tables.supplier_stats()
    yesterday = of("a", bid_time=Record().order.bid_time - DAY_MS)
    orders_etl.load(lake, frame(lake, yesterday), registry, NoLineage())
    supplier_stats.load(lake, tables.orders().name, stats, NoLineage())
    orders_etl.load(lake, frame(lake, of("b")), registry, NoLineage())
    supplier_stats.load(lake, tables.orders().name, stats, NoLineage())

    assert len({row[1] for row in contents(lake, stats)}) == 2


def test_schemas_are_asked_for_by_the_ids_that_are_there(lake: SparkSession, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    records = frame(
        lake,
        of("a"),
        of("b", offset=1, schema_id=SECOND),
        of("c", offset=2),
        Record(key=b"d", offset=3, value=header(UNKNOWN)),
        Record(key=b"e", offset=4, value=b"{}"),
        Record(key=b"a", offset=5, is_tombstone=True),
    )
    with RegistryStandIn(SCHEMAS) as stand_in:
        orders_etl.load(lake, records, Registry(stand_in.url), NoLineage())

    assert stand_in.asked == sorted([FIRST, SECOND, UNKNOWN])
    assert [row[0] for row in contents(lake, tables.orders())] == ["a", "b", "c"]
    assert [row[:2] for row in contents(lake, tables.orders_rejected())] == [
        ("d", UNKNOWN_SCHEMA),
        ("e", NOT_FRAMED),
    ]
    assert f"schema {UNKNOWN} is not in the registry at {stand_in.url}, or no Avro record: 1 records" in caplog.text
    assert "1 records without a value" in caplog.text


def test_an_order_is_accepted_once_the_registry_knows_its_schema(lake: SparkSession) -> None:
    records = frame(lake, of("a"), of("b", offset=1, schema_id=SECOND))
    sound = []
    for schemas in ({FIRST: SCHEMAS[FIRST]}, SCHEMAS):
        with RegistryStandIn(schemas) as stand_in:
            orders_etl.load(lake, records, Registry(stand_in.url), NoLineage())
        sound.append([[row[0] for row in contents(lake, t())] for t in (tables.orders, tables.orders_rejected)])

    assert sound == [[["a"], ["b"]], [["a", "b"], []]]


def test_a_registry_that_is_away_fails_the_job_before_it_writes(lake: SparkSession, registry: Registry) -> None:
    orders_etl.load(lake, frame(lake, of("a")), registry, NoLineage())

    with pytest.raises(runtime.JobError, match="cannot get schema 1 from the registry"):
        orders_etl.load(lake, frame(lake, of("b")), Registry("http://127.0.0.1:9"), NoLineage())

    assert [row[0] for row in contents(lake, tables.orders())] == ["a"]


def test_a_topic_full_of_something_else_fails_the_job(lake: SparkSession, registry: Registry) -> None:
    garbage = [Record(offset=n, value=header(1000 + n)) for n in range(orders_etl.MOST_SCHEMAS + 1)]

    with pytest.raises(runtime.JobError, match=r"topic 'orders' begin with more than 100 schema ids, as 1, 1000, 1001"):
        orders_etl.writers_schemas(frame(lake, *garbage, of("a", offset=999)), registry)


class Service:
    """A lineage service on loopback: `answer` None never answers."""

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
                """Tests are quiet."""

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


def test_each_write_is_described_once(lake: SparkSession) -> None:
    with Service(201) as service:
        lineage = SparkLineage(lake, JOBS, service.url)
        supplier_stats.load(lake, tables.orders().name, tables.supplier_stats(), lineage)
        lineage.close()

    (event,) = service.events
    assert event["job"] == event["job"] | {
        "namespace": JOBS,
        "name": "tests.overwrite_partitions_dynamic.lake_sales_supplier_stats",
    }
    assert [i["name"].rpartition("/")[2] for i in event["inputs"]] == ["orders"]
    total = event["outputs"][0]["facets"]["columnLineage"]["fields"]["total_price"]["inputFields"]
    assert [(origin["field"], origin["transformations"][0]["subtype"]) for origin in total] == [
        ("price", "AGGREGATION")
    ]


@pytest.mark.parametrize("answer", [500, None], ids=["refuses", "hangs"])
def test_a_broken_lineage_service_neither_fails_nor_holds_the_job(
    lake: SparkSession, registry: Registry, answer: int | None, caplog: pytest.LogCaptureFixture
) -> None:
    with Service(answer) as service:
        lineage = SparkLineage(lake, JOBS, service.url)
        orders_etl.load(lake, frame(lake, of("a")), registry, lineage)
        started = time.monotonic()
        lineage.close()
        assert time.monotonic() - started < 2.5

    assert contents(lake, tables.orders())
    assert service.url in caplog.text


def test_frames_that_cannot_be_described_are_still_written(
    lake: SparkSession, registry: Registry, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: str) -> PlanLineage:
        raise ValueError("no such plan")

    monkeypatch.setattr(report, "derive", broken)
    lineage = SparkLineage(lake, JOBS, "http://127.0.0.1:9")
    orders_etl.load(lake, frame(lake, of("a"), of("b", offset=1, price="free")), registry, lineage)
    lineage.close()

    for table in (tables.orders(), tables.orders_rejected()):
        assert len(contents(lake, table)) == 1
        assert f"lineage of {table.name} could not be derived" in caplog.text
    assert "no such plan" in caplog.text


def test_a_kafka_that_is_not_there_is_named(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kafka, "TIMEOUT_MS", 500)
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{unused.getsockname()[1]}"
        with pytest.raises(runtime.JobError, match=f"topic 'orders' at {address}.*[Tt]imeout"):
            kafka.whole_topic(spark, address, "orders")


def test_a_range_knows_what_is_empty_and_what_is_lost() -> None:
    empty = kafka.TopicRange("k:1", "orders", {0: 3, 1: 0}, {0: 3, 1: 0})
    whole = kafka.TopicRange("k:1", "orders", {0: 0, 1: 0}, {0: 3, 1: 0})

    assert (empty.is_empty, empty.lost) == (True, 3)
    assert (whole.is_empty, whole.lost) == (False, 0)


def test_a_missing_setting_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KAFKA_BOOTSTRAP", raising=False)

    with pytest.raises(runtime.SettingError, match="KAFKA_BOOTSTRAP is not set: host:port"):
        runtime.setting("KAFKA_BOOTSTRAP", "host:port of a broker")


def test_the_root_cause_of_a_failed_action_is_found(spark: SparkSession) -> None:
    failing = spark.sql("SELECT raise_error('the reason') FROM range(1)")

    with pytest.raises(Exception, match="the reason") as caught:
        failing.collect()

    cause = runtime.root_cause(caught.value)
    assert "the reason" in cause
    assert "\n\tat " not in cause
