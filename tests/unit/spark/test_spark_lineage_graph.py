# SPDX-License-Identifier: Apache-2.0
"""The lineage graph that Spark makes of the events in the lake equals that of the lineage service."""

import json
from collections import defaultdict

import pytest
from lineage_events import body, dataset, dataset_event, read, recorded_lines, schema
from lineage_partitions import comparable
from lineage_run_histories import RunHistories
from pyspark.sql import DataFrame, SparkSession

from jobs.spark.transformations.lineage_graph import graph_rows
from lineage.egress.event_record import record_value
from lineage.events import Event
from lineage.events.own_facets import CATALOG_FACET, CATALOG_NAMESPACE, DELETED_FACET, own_facet_schema
from lineage.graph import Graph, export_graph, fold_events

TYPES = {"string": "string", "int64": "long"}
ACCEPTED = 1_800_000_000 * 10**9


def table(spark: SparkSession, events: list[Event]) -> DataFrame:
    """Return events as they are in the lake, in partitions of the order of arrival."""
    records = [json.loads(record_value(event, at, ACCEPTED)) for at, event in enumerate(events, 1)]
    columns = ", ".join(f"{field['field']} {TYPES[field['type']]}" for field in records[0]["schema"]["fields"])
    rows = [tuple(record["payload"].values()) for record in records]
    names = ", ".join(f"{name} {columns.split(name + ' ')[1].split(',')[0]}" for name in records[0]["payload"])
    return spark.createDataFrame(rows, names).repartition(3)


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


@pytest.mark.parametrize("partitions", [1, 4])
def test_graph_of_recorded_events(spark: SparkSession, partitions: int) -> None:
    events = [read(json.loads(line)) for line in recorded_lines()]
    assert exported(graph_rows(table(spark, events), partitions)) == expected(events)


def test_graph_of_generated_histories(spark: SparkSession) -> None:
    events = [event for seed in range(3) for event in RunHistories(seed).make()]
    assert exported(graph_rows(table(spark, events), 2)) == expected(events)
