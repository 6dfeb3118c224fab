# SPDX-License-Identifier: Apache-2.0
"""The lineage graph that Spark makes of the events in the lake equals that of the lineage service."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator

import pytest
from lineage_events import body, dataset, dataset_event, read, recorded_lines, schema
from lineage_partitions import comparable
from lineage_run_histories import RunHistories
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from infra.namespaces import TABLE_LINEAGE_EVENTS, qualified_table_name
from jobs.spark import lineage_history, tables
from jobs.spark.runtime import SettingError
from jobs.spark.transformations.job_reliability import job_reliability
from jobs.spark.transformations.lineage_graph import graph_rows
from lineage.egress.event_record import record_value
from lineage.events import Event
from lineage.events.own_facets import CATALOG_FACET, CATALOG_NAMESPACE, DELETED_FACET, own_facet_schema
from lineage.graph import Graph, export_graph, fold_events

TYPES = {"string": "string", "int64": "long"}
ACCEPTED = 1_800_000_000 * 10**9


def table(spark: SparkSession, events: list[Event]) -> DataFrame:
    """Return events as the Iceberg sink stores them."""
    records = [json.loads(record_value(event, at, ACCEPTED)) for at, event in enumerate(events, 1)]
    fields = {field["field"]: field for field in records[0]["schema"]["fields"]}
    rows = [tuple(record["payload"][name] for name in fields) for record in records]
    found = spark.createDataFrame(rows, ", ".join(f"{name} {TYPES[field['type']]}" for name, field in fields.items()))
    times = {name: F.timestamp_millis(name) for name, field in fields.items() if "Timestamp" in field.get("name", "")}
    return found.withColumns(times).repartition(3)


def exported(rows: DataFrame) -> dict[str, list[object]]:
    export = defaultdict(list)
    for row in sorted(rows.collect()):
        export[row["kind"]].append(json.loads(row["content"]))
    return dict(export)


def expected(events: list[Event]) -> dict[str, list[object]]:
    lineage = fold_events(events)
    return comparable(export_graph(lineage, Graph(lineage)))


def linked_histories() -> list[Event]:
    """Return events with aliases, a dropped table, and a deleted namespace and job."""
    alias = {"identifiers": [{"namespace": "hive://metastore:9083", "name": "sales.orders", "type": "TABLE"}]}
    orders = dataset("sales/orders", symlinks=alias, schema=schema("a"))
    gone = dataset("sales/gone", lifecycleStateChange={"lifecycleStateChange": "DROP"})
    entry = {"kind": "NAMESPACE", "name": "s3://old", "deleted": True}
    job = body(None, 9, job="deleted", run=None)
    job["job"]["facets"] = {
        DELETED_FACET: {"_producer": "https://example.org/t", "_schemaURL": own_facet_schema(DELETED_FACET)}
    }
    return [
        read(content)
        for content in (
            body("COMPLETE", 0, run=1, job="writer", outputs=[orders]),
            body("COMPLETE", 1, run=2, job="reader", inputs=[dataset("sales.orders", "hive://metastore:9083")]),
            body("COMPLETE", 2, run=3, job="reader", inputs=[dataset("sales/gone"), dataset("x", "s3://old")]),
            body("COMPLETE", 3, run=4, job="cleaner", outputs=[gone]),
            body("COMPLETE", 4, run=5, job="deleted", inputs=[orders]),
            dataset_event(5, dataset("plain", schema=schema("a", "b"))),
            dataset_event(6, dataset("table", CATALOG_NAMESPACE, **{CATALOG_FACET: entry})),
            job,
        )
    ]


def test_graph_with_aliases_and_deletions(spark: SparkSession) -> None:
    events = linked_histories()
    found = exported(graph_rows(table(spark, events), 3))
    assert found == expected(events)
    names = {row["name"] for row in found["datasets"]}
    assert names == {"sales/orders", "plain"}
    assert {job["name"] for job in found["jobs"]} == {"writer", "reader", "cleaner"}


@pytest.mark.slow
@pytest.mark.parametrize("partitions", [1, 4])
def test_graph_of_recorded_events(spark: SparkSession, partitions: int) -> None:
    events = [read(json.loads(line)) for line in recorded_lines()]
    assert exported(graph_rows(table(spark, events), partitions)) == expected(events)


@pytest.mark.slow
def test_graph_of_generated_histories(spark: SparkSession) -> None:
    events = [event for seed in range(3) for event in RunHistories(seed).make()]
    assert exported(graph_rows(table(spark, events), 2)) == expected(events)


@pytest.fixture
def lake(spark: SparkSession) -> Iterator[SparkSession]:
    spark.sql("CREATE NAMESPACE IF NOT EXISTS lake.lineage")
    yield spark
    written = (
        *(tables.lineage_edges(), tables.lineage_column_edges(), tables.lineage_job_reliability()),
        *(tables.lineage_column_reach(), tables.lineage_chains()),
    )
    for name in (EVENTS, *(each.name for each in written)):
        spark.sql(f"DROP TABLE IF EXISTS {name} PURGE")


EVENTS = qualified_table_name(TABLE_LINEAGE_EVENTS)


def stored_edges(spark: SparkSession) -> list[tuple[str, ...]]:
    return sorted(tuple(row) for row in spark.table(tables.lineage_edges().name).collect())


def expected_edges(events: list[Event]) -> list[tuple[str, ...]]:
    lineage = fold_events(events)
    return sorted(
        (*identity(edge["job"]), edge["direction"], *identity(edge["dataset"]))
        for edge in export_graph(lineage, Graph(lineage))["edges"]
    )


def identity(row: dict[str, str]) -> tuple[str, str]:
    return row["namespace"], row["name"]


def test_the_tables_have_the_graph_as_of_a_time(lake: SparkSession) -> None:
    """A second run replaces the rows, also with those of an earlier time."""
    events = sorted((read(json.loads(line)) for line in recorded_lines()), key=lambda event: event.order)
    table(lake, events).writeTo(EVENTS).create()
    half = events[len(events) // 2].order.time
    for at in (events[-1].order.time, half):
        lineage_history.load(lake, at)
        known = [event for event in events if event.order.time <= at]
        assert stored_edges(lake) == expected_edges(known) != []
    lineage = fold_events(known)
    export = export_graph(lineage, Graph(lineage))
    columns = lake.table(tables.lineage_column_edges().name)
    fields = columns.select("output_name", "output_field", "input_name", "input_field", "type", "subtype")
    assert Counter(tuple(row) for row in fields.collect()) == Counter(
        (
            *(edge["output"]["name"], edge["output"].get("field")),
            *(edge["input"]["name"], edge["input"]["field"]),
            *(edge["type"], edge["subtype"]),
        )
        for edge in (*export["columns"], *export["datasetColumns"])
    )
    reach = lake.table(tables.lineage_column_reach().name).where("jobs = 1")
    assert {
        tuple(row) for row in reach.select("output_name", "output_field", "input_name", "input_field").collect()
    } == {
        (*(edge["output"]["name"], edge["output"]["field"]), *(edge["input"]["name"], edge["input"]["field"]))
        for edge in export["columns"]
    }
    chains = lake.table(tables.lineage_chains().name).select("dataset_name", "jobs").collect()
    assert {row["dataset_name"] for row in chains} == {edge["dataset"]["name"] for edge in export["edges"]}
    assert max(row["jobs"] for row in chains) > 1


def test_a_time_of_the_graph_that_is_none_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LINEAGE_HISTORY_AT", "yesterday")
    with pytest.raises(SettingError, match="environment variable LINEAGE_HISTORY_AT is 'yesterday'"):
        lineage_history.time_of_graph()


def test_the_end_of_a_run_is_its_strongest_terminal_event(spark: SparkSession) -> None:
    """Spark sends COMPLETE after FAIL; a run is counted once, whatever the number of its events."""
    events = [
        read(content)
        for content in (
            *(body(kind, second, run=1, job="a") for kind, second in (("START", 0), ("FAIL", 4), ("COMPLETE", 6))),
            *(body(kind, second, run=2, job="a") for kind, second in (("START", 10), ("COMPLETE", 12))),
            *(body(kind, second, run=3, job="a") for kind, second in (("START", 20), ("RUNNING", 30))),
            body("ABORT", 5, run=4, job="b"),
            body(None, 6, run=None, job="declared"),
        )
    ]
    rows = {row["job_name"]: row.asDict() for row in table(spark, events).transform(job_reliability).collect()}
    assert rows.keys() == {"a", "b"}
    counts = ("runs", "completed", "failed", "aborted", "without_end")
    assert [rows["a"][name] for name in counts] == [3, 1, 1, 0, 1]
    assert [rows["b"][name] for name in counts] == [1, 0, 0, 1, 0]
    assert (rows["a"]["median_seconds"], rows["a"]["p95_seconds"]) == pytest.approx((3, 3.9))
    accepted = ACCEPTED / 1e9 - events[0].order.time / 1e9
    assert rows["a"]["p95_event_delay"] == pytest.approx(accepted, abs=31)
