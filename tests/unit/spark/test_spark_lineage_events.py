# SPDX-License-Identifier: Apache-2.0
"""Recorded plans of the jobs, parsed without Spark, and the resulting events."""

import json
from pathlib import Path
from typing import Any

import pytest

from lineagelab_spark import datasets, events
from lineagelab_spark.datasets import Dataset
from lineagelab_spark.plan import PlanLineage, derive
from lineagelab_spark.plan_json import parse
from tests.unit.spark.lineage_dsl import columns, rows

TOPIC = Dataset("kafka://kafka:9092", "orders", is_topic=True)
TABLE = Dataset("s3://warehouse", "sales/orders")
SINK = events.Sink(TABLE, [("order_id", "string"), ("price", "decimal(10,2)")])


def recorded(name: str) -> PlanLineage:
    return derive((Path(__file__).parent / "plans" / f"{name}.json").read_text(encoding="utf-8"))


def event_of(lineage: PlanLineage, *, complete: bool = True) -> dict[str, Any]:
    described = events.describe(lineage, [(TOPIC,)], SINK, complete=complete)
    event = events.job_event("lineage-lab", "orders_etl.append_data.lake_sales_orders", "BATCH", described)
    made: dict[str, Any] = json.loads(json.dumps(event))
    return made


def test_accepted_orders_from_kafka() -> None:
    lineage = recorded("orders_etl_accepted")

    assert columns(lineage) == {
        "order_id": {"order_id IDENTITY"},
        "item": {"item IDENTITY"},
        "price": {"price TRANSFORMATION"},
        "supplier": {"supplier IDENTITY"},
        "bid_time": {"bid_time IDENTITY"},
    }
    filters = ("order_id", "price", "supplier", "bid_time", "key", "partition", "offset")
    assert rows(lineage) == {f"{column} FILTER" for column in filters}
    assert lineage.unknown == frozenset()


def test_supplier_totals_from_iceberg() -> None:
    lineage = recorded("supplier_stats")

    assert columns(lineage)["total_price"] == {"price AGGREGATION"}
    assert columns(lineage)["total_count"] == set()
    assert [leaf.kind for leaf in lineage.leaves] == ["DataSourceV2Relation"]


def test_job_event_has_complete_datasets_and_no_run() -> None:
    event = event_of(recorded("orders_etl_accepted"))

    assert "run" not in event
    assert event["job"]["name"] == "orders_etl.append_data.lake_sales_orders"
    assert event["job"]["facets"]["jobType"]["processingType"] == "BATCH"
    assert [(i["namespace"], i["name"]) for i in event["inputs"]] == [("kafka://kafka:9092", "orders")]
    assert [(o["namespace"], o["name"]) for o in event["outputs"]] == [("s3://warehouse", "sales/orders")]


def test_topic_fields_are_those_of_message_and_record() -> None:
    (topic,) = event_of(recorded("orders_etl_accepted"))["inputs"]

    fields = [(field["name"], field["type"]) for field in topic["facets"]["schema"]["fields"]]
    assert fields[:6] == [
        ("order_id", "string"),
        ("item", "string"),
        ("price", "string"),
        ("supplier", "string"),
        ("bid_time", "timestamp-millis"),
        ("currency", "string"),
    ]
    assert ("_key", "binary") in fields
    assert ("_offset", "long") in fields


def test_every_source_column_is_a_field_of_its_input() -> None:
    event = event_of(recorded("orders_etl_accepted"))

    fields = {field["name"] for field in event["inputs"][0]["facets"]["schema"]["fields"]}
    facet = event["outputs"][0]["facets"]["columnLineage"]
    origins = [o for made in facet["fields"].values() for o in made["inputFields"]] + facet["dataset"]
    assert {origin["field"] for origin in origins} <= fields
    assert facet["fields"]["price"]["inputFields"] == [
        {
            "namespace": "kafka://kafka:9092",
            "name": "orders",
            "field": "price",
            "transformations": [{"type": "DIRECT", "subtype": "TRANSFORMATION", "masking": False}],
        }
    ]


def test_columns_with_incomplete_lineage_are_named_with_reasons() -> None:
    (output,) = event_of(recorded("orders_etl_accepted"), complete=False)["outputs"]

    lineage = output["facets"]["columnLineage"]
    assert lineage["fields"] == {}
    assert lineage["unknownFields"] == ["bid_time", "item", "order_id", "price", "supplier"]
    assert "price: a source without a dataset name" in lineage["unknownBecause"]


def test_plan_of_a_thousand_projections() -> None:
    text = (Path(__file__).parent / "plans" / "supplier_stats.json").read_text(encoding="utf-8")
    flat = json.loads(text)
    attributes = flat[-1]["output"]
    projection = {"class": "a.Project", "num-children": 1, "projectList": attributes, "child": 0}

    lineage = derive(json.dumps([projection] * 1000 + flat[-1:]))

    assert columns(lineage) == {a[0]["name"]: {f"{a[0]['name']} IDENTITY"} for a in attributes}
    assert lineage.unknown == frozenset()


@pytest.mark.parametrize(
    ("location", "namespace", "name"),
    [
        ("s3://warehouse/sales/orders", "s3://warehouse", "sales/orders"),
        ("s3a://warehouse/sales/orders/", "s3://warehouse", "sales/orders"),
        ("file:/tmp/lake/orders", "file", "/tmp/lake/orders"),
        ("/tmp/lake/orders", "file", "/tmp/lake/orders"),
        ("hdfs://name:8020/lake/orders", "hdfs://name:8020", "lake/orders"),
    ],
)
def test_location_maps_to_a_dataset(location: str, namespace: str, name: str) -> None:
    assert datasets.of_location(location) == Dataset(namespace, name)


def test_topic_namespace_is_the_first_server() -> None:
    options = {"kafka.bootstrap.servers": "a:1,b:2", "subscribe": "orders, bids", "assign": None}

    assert datasets.of_topics(options).datasets == (
        Dataset("kafka://a:1", "orders", is_topic=True),
        Dataset("kafka://a:1", "bids", is_topic=True),
    )


def test_topic_pattern_has_no_dataset() -> None:
    assert (
        datasets.of_topics({"kafka.bootstrap.servers": "a:1", "subscribe": None, "assign": None}).unnamed
        == "a topic pattern at a:1"
    )


@pytest.mark.parametrize("text", ["{}", "[]", '[{"class": "a.B"}]', '"plan"'])
def test_invalid_plan_is_rejected(text: str) -> None:
    with pytest.raises(ValueError, match="not the JSON of"):
        parse(text)
