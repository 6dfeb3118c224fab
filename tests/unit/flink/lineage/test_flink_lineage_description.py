# SPDX-License-Identifier: Apache-2.0
"""Tests of converting the planner's output to OpenLineage. `orders.json` is the recorded output for `orders.sql`."""

import json
from pathlib import Path
from typing import Any

import pytest

from lineagelab_flink.columns import Description, description
from lineagelab_flink.columns.naming import Dataset, datasets, field_name, written_names
from lineagelab_flink.columns.planned import Edge, Field, Origins, PlannedScript, Table, Write, parse_planner_output
from tests.openlineage_schemas import conformance_errors

RECORDED = Path(__file__).with_name("orders.json")

TOPIC = {"namespace": "kafka://127.0.0.1:9092", "name": "orders"}
TABLE = {"namespace": "", "name": "lake.live.orders"}
TOTALS = {"namespace": "kafka://127.0.0.1:9092", "name": "totals"}


@pytest.fixture(scope="module")
def recorded() -> Description:
    return description(parse_planner_output(json.loads(RECORDED.read_text(encoding="utf-8"))))


def spelled(inputs: list[dict[str, Any]]) -> list[str]:
    """Render input fields of a facet as `TABLE#COLUMN SUBTYPE`, with `!` for masking."""
    return [
        f"{source['name']}#{source['field']} {way['subtype']}{'!' if way['masking'] else ''}"
        for source in inputs
        for way in source["transformations"]
    ]


def columns(dataset: dict[str, Any]) -> dict[str, list[str]]:
    fields = dataset["facets"]["columnLineage"]["fields"]
    return {name: spelled(made["inputFields"]) for name, made in fields.items()}


def rows(dataset: dict[str, Any]) -> list[str]:
    return spelled(dataset["facets"]["columnLineage"]["dataset"])


def identity(dataset: dict[str, Any]) -> dict[str, str]:
    return {"namespace": dataset["namespace"], "name": dataset["name"]}


def schema(dataset: dict[str, Any]) -> dict[str, str]:
    return {field["name"]: field["type"] for field in dataset["facets"]["schema"]["fields"]}


def test_inputs_and_outputs(recorded: Description) -> None:
    assert [identity(dataset) for dataset in recorded.inputs] == [TABLE, TOPIC]
    assert [identity(dataset) for dataset in recorded.outputs] == [TABLE, TOTALS]
    assert recorded.unknown == []


def test_schemas_omit_computed_columns(recorded: Description) -> None:
    table, topic = recorded.inputs
    assert schema(topic) == {
        "order_id": "STRING",
        "item": "STRING",
        "price": "STRING",
        "supplier": "STRING",
        "bid_time": "TIMESTAMP(3)",
        "_partition": "INT",
        "_offset": "BIGINT",
    }
    assert schema(table)["price"] == "DECIMAL(10, 2)"


def test_columns(recorded: Description) -> None:
    table, totals = recorded.outputs
    assert columns(table) == {
        "order_id": ["orders#order_id IDENTITY"],
        "item": ["orders#item IDENTITY"],
        "price": ["orders#price TRANSFORMATION"],
        "supplier": ["orders#supplier IDENTITY"],
        "bid_time": ["orders#bid_time IDENTITY"],
        "place": ["orders#_offset TRANSFORMATION", "orders#_partition TRANSFORMATION"],
    }
    assert rows(table) == ["orders#order_id FILTER", "orders#price FILTER", "orders#supplier FILTER"]
    assert columns(totals) == {
        "_key": ["lake.live.orders#supplier IDENTITY"],
        "n": ["lake.live.orders#price AGGREGATION!"],
        "total": ["lake.live.orders#price AGGREGATION"],
    }
    assert rows(totals) == ["lake.live.orders#supplier GROUP_BY"]


def test_dataset_edges(recorded: Description) -> None:
    entries = recorded.job_facets["lineage"]["entries"]
    whole = {
        entry["name"]: [source["name"] for source in entry["inputs"] if "field" not in source] for entry in entries
    }
    assert whole == {"lake.live.orders": ["orders"], "totals": ["lake.live.orders"]}
    by_name = {entry["name"]: entry for entry in entries}
    for output in recorded.outputs:
        entry = by_name[output["name"]]
        assert spelled([source for source in entry["inputs"] if "field" in source]) == rows(output)
        assert {name: spelled(made["inputs"]) for name, made in entry["fields"].items()} == columns(output)


def test_the_sql_facet_includes_views(recorded: Description) -> None:
    assert recorded.sql.startswith("CREATE TEMPORARY VIEW typed AS")
    assert recorded.job_facets["sql"]["query"] == recorded.sql


def test_events_are_valid(recorded: Description) -> None:
    event = {
        "eventType": "START",
        "eventTime": "2026-11-21T12:00:00Z",
        "producer": "urn:lineage-lab:jobs:flink",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "run": {"runId": "0190f0c4-6f3e-7b3a-9f3b-0c1d2e3f4a5b"},
        "job": {"namespace": "lineage-lab", "name": "orders", "facets": recorded.job_facets},
    }
    for converted in (recorded, description(PlannedScript("SELECT 1", (unknown_write(),)))):
        assert conformance_errors({**event, "inputs": converted.inputs, "outputs": converted.outputs}) == []


def table(connector: str, location: str = "", called: str = "lake.live.t", **options: str) -> Table:
    fields = (Field("k", "STRING"), Field("v", "INT"), Field("m", "BIGINT", "METADATA", "offset"))
    named = {name.replace("_", "."): value for name, value in options.items()}
    return Table(tuple(called.split(".")), connector, named, location, fields)


def topic(**options: str) -> Table:
    return table("kafka", topic="t", properties_bootstrap_servers="b:1", **options)


def unknown_write() -> Write:
    made = Origins(
        (Edge(source=0, column="v", path=(), subtype="TRANSFORMATION", masking=False),), ("the table function f",)
    )
    plain = Origins((Edge(source=0, column="k", path=(), subtype="IDENTITY", masking=False),), ())
    return Write(table("iceberg", "s3://warehouse/live/t"), (topic(),), (("k", plain), ("v", made)), Origins((), ()))


def test_unknown_lineage_is_omitted_and_reported() -> None:
    converted = description(PlannedScript("", (unknown_write(),)))
    (output,) = converted.outputs
    assert columns(output) == {"k": ["t#k IDENTITY"]}
    assert output["facets"]["columnLineage"]["unknownFields"] == ["v"]
    assert output["facets"]["columnLineage"]["unknownBecause"] == ["the table function f"]
    assert converted.unknown == ["the table function f"]
    assert "lineage" not in converted.job_facets


def test_columns_of_an_unnamed_source_are_unknown() -> None:
    made = Origins((Edge(source=0, column="v", path=(), subtype="IDENTITY", masking=False),), ())
    sources = (table("strange", called="c.d.s"), topic())
    write = Write(topic(), sources, (("k", Origins((), ())), ("v", made)), Origins((), ()))
    converted = description(PlannedScript("", (write,)))
    assert [identity(dataset)["name"] for dataset in converted.inputs] == ["t"]
    assert columns(converted.outputs[0]) == {"k": []}
    assert converted.unknown == ["which dataset the table c.d.s of connector strange is"]


def test_generated_rows_are_not_a_dataset() -> None:
    made = Origins((Edge(source=0, column="v", path=(), subtype="IDENTITY", masking=False),), ())
    write = Write(table("blackhole"), (table("datagen"),), (("v", made),), made)
    assert description(PlannedScript("", (write,))) == Description(
        [], [], description(PlannedScript("", ())).job_facets, "", []
    )


def test_a_table_written_twice_is_one_output() -> None:
    first = Write(
        topic(),
        (topic(),),
        (("k", Origins((Edge(source=0, column="k", path=(), subtype="IDENTITY", masking=False),), ())),),
        Origins((), ()),
    )
    second = Write(
        topic(),
        (topic(),),
        (("k", Origins((Edge(source=0, column="v", path=(), subtype="TRANSFORMATION", masking=False),), ())),),
        Origins((), ()),
    )
    (output,) = description(PlannedScript("", (first, second))).outputs
    assert columns(output) == {"k": ["t#k IDENTITY", "t#v TRANSFORMATION"]}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (topic(), (Dataset("kafka://b:1", "t"),)),
        (
            table("kafka", topic="a; b", properties_bootstrap_servers="b:1,c:2"),
            (Dataset("kafka://b:1", "a"), Dataset("kafka://b:1", "b")),
        ),
        (table("kafka", properties_bootstrap_servers="b:1"), None),
        (table("iceberg"), (Dataset("", "lake.live.t"),)),
        (table("iceberg", "s3a://warehouse/live/t/"), (Dataset("s3://warehouse", "live/t", "lake.live.t"),)),
        (table("iceberg", "file:/tmp/lake/live/t"), (Dataset("file", "/tmp/lake/live/t", "lake.live.t"),)),
        (table("filesystem", path="s3://bucket/a/b"), (Dataset("s3://bucket", "a/b"),)),
        (table("filesystem"), None),
        (table("blackhole"), ()),
        (table("hive"), None),
        (table("paimon", path="s3://lake/live.db/t"), (Dataset("s3://lake", "live.db/t", "lake.live.t"),)),
        (table("", path="s3://lake/live.db/t"), (Dataset("s3://lake", "live.db/t", "lake.live.t"),)),
        (table(""), None),
    ],
)
def test_datasets(given: Table, expected: tuple[Dataset, ...] | None) -> None:
    assert datasets(given) == expected


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("jdbc:postgresql://db/shop", (Dataset("postgres://db:5432", "shop.public.orders"),)),
        ("jdbc:mysql://db:13306/shop?useSSL=false", (Dataset("mysql://db:13306", "shop.public.orders"),)),
        ("jdbc:oracle:thin:@db", None),
    ],
)
def test_databases(url: str, expected: tuple[Dataset, ...] | None) -> None:
    given = Table(("c", "d", "t"), "jdbc", {"url": url, "table-name": "public.orders"}, "", ())
    assert datasets(given) == expected


@pytest.mark.parametrize(
    ("url", "table_name", "expected"),
    [
        ("jdbc:postgresql://db/shop", "orders", "shop.public.orders"),
        ("jdbc:postgresql://db/shop?ssl=true&currentSchema=sales,public", "orders", "shop.sales.orders"),
        ("jdbc:postgresql://db/shop?currentSchema=sales", "public.orders", "shop.public.orders"),
        ("jdbc:mysql://db/shop?useSSL=false", "orders", "shop.orders"),
    ],
)
def test_postgres_tables_have_a_schema_as_in_debezium(url: str, table_name: str, expected: str) -> None:
    found = datasets(Table(("c", "d", "t"), "jdbc", {"url": url, "table-name": table_name}, "", ()))
    assert found is not None
    assert [dataset.name for dataset in found] == [expected]


CDC = {"hostname": "db", "database-name": "shop", "schema-name": "public", "table-name": "orders", "port": "1"}


@pytest.mark.parametrize(
    ("connector", "options", "expected"),
    [
        ("postgres-cdc", CDC, Dataset("postgres://db:1", "shop.public.orders")),
        ("postgres-cdc", {**CDC, "schema-name": ""}, None),
        ("mysql-cdc", {**CDC, "schema-name": ""}, Dataset("mysql://db:1", "shop.orders")),
        ("mysql-cdc", {**CDC, "table-name": "orders_.*"}, None),
        ("sqlserver-cdc", {**CDC, "table-name": "dbo.orders"}, Dataset("mssql://db:1", "shop.dbo.orders")),
        ("oracle-cdc", CDC, Dataset("oracle://db:1", "shop.public.orders")),
        ("db2-cdc", CDC, Dataset("db2://db:1", "shop.public.orders")),
        (
            "mongodb-cdc",
            {"hosts": "a:1,b:2", "database": "shop", "collection": "orders"},
            Dataset("mongodb://a:1", "shop.orders"),
        ),
        (
            "mongodb",
            {"uri": "mongodb://db/admin", "database": "shop", "collection": "orders"},
            Dataset("mongodb://db:27017", "shop.orders"),
        ),
        (
            "elasticsearch-7",
            {"hosts": "http://a:9200;http://b:9200", "index": "orders"},
            Dataset("elasticsearch://a:9200", "orders"),
        ),
        ("elasticsearch-7", {"hosts": "http://a:9200", "index": "orders-{day|yyyy}"}, None),
        ("opensearch", {"hosts": "https://a", "index": "orders"}, Dataset("opensearch://a:9200", "orders")),
    ],
)
def test_tables_of_stores(connector: str, options: dict[str, str], expected: Dataset | None) -> None:
    found = datasets(Table(("c", "d", "t"), connector, options, "", ()))
    assert found == (None if expected is None else (expected,))


@pytest.mark.parametrize(
    ("connector", "options", "names"),
    [
        ("kafka", {}, ("k",)),
        ("kafka", {"key.fields": "k", "key.format": "raw"}, ("k", "_key")),
        ("kafka", {"key.fields": "k", "key.format": "json"}, ("k", "_key.k")),
        ("kafka", {"key.fields": "v", "key.format": "json"}, ("k",)),
        ("kafka", {"key.fields": "k", "key.format": "raw", "value.fields-include": "EXCEPT_KEY"}, ("_key",)),
        ("upsert-kafka", {"key.format": "json"}, ("k", "_key.k")),
        ("iceberg", {"key.fields": "k"}, ("k",)),
    ],
)
def test_key_columns_are_written_to_the_key_and_to_the_value(
    connector: str, options: dict[str, str], names: tuple[str, ...]
) -> None:
    given = topic()
    assert written_names(Table(given.path, connector, options, "", given.fields, ("k",)), "k") == names


def test_a_key_column_has_column_lineage_in_the_key_too() -> None:
    made = Origins((Edge(source=0, column="k", path=(), subtype="IDENTITY", masking=False),), ())
    write = Write(topic(key_fields="k", key_format="raw"), (topic(),), (("k", made),), Origins((), ()))
    (output,) = description(PlannedScript("", (write,))).outputs
    assert columns(output) == {"k": ["t#k IDENTITY"], "_key": ["t#k IDENTITY"]}
    assert schema(output) == {"k": "STRING", "_key": "STRING"}


@pytest.mark.parametrize(
    ("options", "column", "name"),
    [
        ({}, "v", "v"),
        ({}, "m", "_offset"),
        ({"key.fields": "k", "key.format": "raw"}, "k", "k"),
        ({"key.fields": "k", "key.format": "raw", "value.fields-include": "EXCEPT_KEY"}, "k", "_key"),
        ({"key.fields": "k", "key.format": "json", "value.fields-include": "EXCEPT_KEY"}, "k", "_key.k"),
        ({"key.fields": "k;v", "key.format": "json", "value.fields-include": "EXCEPT_KEY"}, "v", "_key.v"),
        ({"value.format": "raw"}, "v", "_value"),
        ({"format": "raw"}, "v", "_value"),
    ],
)
def test_columns_of_topics(options: dict[str, str], column: str, name: str) -> None:
    given = topic()
    given = Table(given.path, given.connector, {**given.options, **options}, "", given.fields)
    assert field_name(given, column) == name


def test_nested_fields() -> None:
    assert field_name(topic(), "v", ("a", "b")) == "v.a.b"
    assert field_name(table("iceberg"), "v", ("a",)) == "v.a"
