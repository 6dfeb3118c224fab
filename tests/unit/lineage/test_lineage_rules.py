# SPDX-License-Identifier: Apache-2.0
"""Naming rules: canonical names in every part of an event that names a dataset."""

import json

import pytest
from lineage_events import CATALOG_URI, body, dataset, encode, facet, read

from infra.namespaces import lineage_service_rules
from lineage.events import InvalidEvent
from lineage.rules import Names, RulesError, TableName, canonical_event, load_rules

FILE = {
    "version": 1,
    "namespaces": [
        {"canonical": "kafka://kafka:9092", "hosts": ["localhost:19192", "127.0.0.1:19192"]},
        {"canonical": "s3://warehouse", "patterns": ["^s3[an]?://warehouse/?$"]},
    ],
    "catalogs": [{"name": "lake", "uri": "http://localhost:8181/", "warehouse": "s3://warehouse/root"}],
}


@pytest.mark.parametrize(
    ("spelling", "canonical"),
    [
        ("kafka://kafka:9092", "kafka://kafka:9092"),
        ("kafka://localhost:19192", "kafka://kafka:9092"),
        ("kafka://LOCALHOST:19192/", "kafka://kafka:9092"),
        ("kafka://elsewhere:1,127.0.0.1:19192", "kafka://kafka:9092"),
        ("kafka://elsewhere:1,kafka://127.0.0.1:19192", "kafka://kafka:9092"),
        ("kafka://localhost:1919", "kafka://localhost:1919"),
        ("postgres://localhost:19192", "postgres://localhost:19192"),
        ("s3a://warehouse", "s3://warehouse"),
        ("s3://warehouse/", "s3://warehouse"),
        ("s3://warehouse2", "s3://warehouse2"),
        ("localhost:19192", "localhost:19192"),
    ],
)
def test_namespace_spellings_are_canonicalised(spelling, canonical):
    assert load_rules(json.dumps(FILE)).namespace(spelling) == canonical


def names(**change):
    return Names(load_rules(json.dumps({**FILE, **change})))


def test_table_is_named_by_its_alias_and_lies_at_its_default_location():
    found = names()
    alias = ("s3://warehouse/root", "lake.sales.orders")
    assert found.dataset("", "lake.sales.orders") == alias
    assert found.locations == {alias: ("s3://warehouse", "root/sales/orders")}
    assert found.tables == {TableName("lake", "sales.orders"): alias}
    assert names().symlink("http://localhost:8181", "sales.orders") == alias
    assert names().dataset("", "other.sales.orders") == ("", "other.sales.orders")


def test_table_with_catalog_uri_maps_to_the_named_table():
    by_name = names().dataset("", "lake.sales.orders")
    assert names().dataset("http://localhost:8181/", "sales.orders") == by_name
    assert names().dataset("http://localhost:8182", "sales.orders") == ("http://localhost:8182", "sales.orders")
    named = [{"namespace": CATALOG_URI, "name": "a.b"}, {"namespace": "", "name": "lake.a.b"}]
    first, second = read(body(outputs=named)).body["outputs"]
    assert first == second


def mounted(*aliases):
    (catalog,) = FILE["catalogs"]
    return names(catalogs=[{**catalog, "aliases": list(aliases)}])


@pytest.mark.parametrize(
    ("namespace", "name", "path"),
    [
        ("duckdb://:memory:", "lake.sales.orders", "sales.orders"),
        ("duckdb://:memory:/", "lake.eu.sales.orders", "eu.sales.orders"),
        ("trino://trino:8080", "lake.sales.orders", "sales.orders"),
        ("trino://localhost:18080", "iceberg.sales.orders", "sales.orders"),
        ("trino://trino:8080", "lake.orders", None),  # table of a schema of that name
        ("trino://trino:8080", "lake.sales..orders", None),
        ("trino://trino:8080", "postgres.sales.orders", None),
        ("duckdb://:memory:", "iceberg.sales.orders", None),
        ("duckdb://lake.db", "lake.sales.orders", None),
        ("mysql://trino:8080", "lake.sales.orders", None),
    ],
)
def test_engine_that_mounts_the_catalog_names_its_tables(namespace, name, path):
    found = mounted(
        {"namespaces": ["duckdb://:memory:"], "patterns": ["^trino://"]},
        {"name": "iceberg", "patterns": ["^trino://"]},
    )
    expected = (namespace, name) if path is None else ("s3://warehouse/root", f"lake.{path}")
    assert found.dataset(namespace, name) == expected
    assert found.symlink(namespace, name) == expected


def test_engine_is_known_by_the_canonical_spelling_of_its_namespace():
    (catalog,) = FILE["catalogs"]
    found = names(
        namespaces=[{"canonical": "trino://trino:8080", "hosts": ["localhost:18080"]}],
        catalogs=[{**catalog, "aliases": [{"namespaces": ["trino://trino:8080"]}]}],
    )
    assert found.dataset("trino://localhost:18080", "lake.a.b") == found.dataset("", "lake.a.b")


@pytest.mark.parametrize(
    ("namespace", "is_catalog"),
    [
        ("duckdb://:memory:", True),
        ("duckdb://data/analysis.duckdb", True),
        ("duckdb:///data/lakehouse.duckdb", True),
        ("duckdb://lake.duckdb", False),  # `lake` is the database of this file
        ("duckdb:///data/lake.db", False),
        ("duckdb:///data/lake", False),
        ("trino://trino:8080", True),
        ("clickhouse://host:9000", False),
    ],
)
def test_rules_of_the_lab_know_the_engines_that_mount_its_catalog(namespace, is_catalog):
    found = Names(load_rules(json.dumps(lineage_service_rules(["kafka:9092"], "http://catalog:8181"))))
    table = found.dataset(namespace, "lake.sales.orders")
    assert table == (("s3://warehouse", "lake.sales.orders") if is_catalog else (namespace, "lake.sales.orders"))
    assert found.locations.get(table) == (("s3://warehouse", "sales/orders") if is_catalog else None)


def test_alias_maps_to_its_dataset():
    rule = {
        "namespace": "s3://warehouse",
        "name": "sales/orders",
        "aliases": [{"namespace": "hive://metastore:9083", "name": "sales.orders"}],
    }
    found = names(symlinks=[rule])
    assert found.dataset("hive://metastore:9083", "sales.orders") == ("s3://warehouse", "sales/orders")
    chain = {"namespace": "hive://metastore:9083", "name": "sales.orders", "aliases": [{"namespace": "x", "name": "y"}]}
    assert names(symlinks=[rule, chain]).dataset("x", "y") == ("s3://warehouse", "sales/orders")
    local = {"namespace": "kafka://localhost:19192", "name": "t", "aliases": [{"namespace": "x", "name": "y"}]}
    assert names(symlinks=[local]).dataset("x", "y") == ("kafka://kafka:9092", "t")
    assert found.dataset("hive://metastore:9083", "sales.bids") == ("hive://metastore:9083", "sales.bids")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 2}, "version: 2 is unknown"),
        ({"colour": 1}, "colour: unknown key"),
        ({"namespaces": {}}, "namespaces: must be an array"),
        ({"namespaces": [{"hosts": ["a:1"]}]}, r"namespaces\[0\].canonical: is missing"),
        ({"namespaces": [{"canonical": "kafka://k:1"}]}, "needs hosts or patterns"),
        ({"namespaces": [{"canonical": "k", "hosts": ["a:1"]}]}, "has no scheme"),
        ({"namespaces": [{"canonical": "k://a", "hosts": [1]}]}, "array of non-empty strings"),
        ({"namespaces": [{"canonical": "k://a", "patterns": ["("]}]}, "is not a regular expression"),
        ({"namespaces": [{"canonical": "k://a", "host": ["a:1"]}]}, r"namespaces\[0\].host: unknown key"),
        ({"catalogs": [{"name": "a", "uri": "b"}]}, r"catalogs\[0\].warehouse: is missing"),
        ({"catalogs": [{"name": "", "uri": "b", "warehouse": "s3://c"}]}, "non-empty string"),
        ({"catalogs": [{**FILE["catalogs"][0], "aliases": {}}]}, r"catalogs\[0\].aliases: must be an array"),
        ({"catalogs": [{**FILE["catalogs"][0], "aliases": [{}]}]}, "needs namespaces or patterns"),
        ({"catalogs": [{**FILE["catalogs"][0], "aliases": [{"name": ""}]}]}, "non-empty string"),
        (
            {"catalogs": [{**FILE["catalogs"][0], "aliases": [{"patterns": ["("]}]}]},
            r"catalogs\[0\].aliases\[0\].patterns\[0\]: '\(' is not a regular expression",
        ),
        ({"catalogs": ["lake"]}, r"catalogs\[0\]: must be an object"),
        (
            {"symlinks": [{"namespace": "a", "name": "b", "aliases": []}]},
            r"symlinks\[0\].aliases: must be a non-empty array",
        ),
        ({"symlinks": [{"namespace": "a", "aliases": [{}]}]}, r"symlinks\[0\].name: is missing"),
        (
            {"symlinks": [{"namespace": "a", "name": "b", "aliases": [{"namespace": "c"}]}]},
            r"symlinks\[0\].aliases\[0\].name: is missing",
        ),
        (
            {"symlinks": [{"namespace": "a", "name": "b", "aliases": [{"namespace": "a", "name": "b"}]}]},
            "symlinks: a b is an alias of itself",
        ),
    ],
)
def test_invalid_rules_file_is_rejected(change, message):
    with pytest.raises(RulesError, match=message):
        load_rules(json.dumps({**FILE, **change}))


@pytest.mark.parametrize("text", ["", "[]", "{", "null"])
def test_rules_file_must_be_an_object(text):
    with pytest.raises(RulesError):
        load_rules(text)


def test_rules_apply_to_every_name_in_an_event():
    topic = {"namespace": "kafka://localhost:9092", "name": "orders"}
    table = {"namespace": "", "name": "lake.sales.orders"}
    columns = facet(fields={"a": {"inputFields": [{**topic, "field": "a"}]}}, dataset=[{**table, "field": "b"}])
    lineage = facet(
        inputs=[{**topic, "type": "DATASET"}],
        fields={"a": {"inputs": [{**topic, "type": "DATASET", "field": "a"}]}},
    )
    symlinks = facet(identifiers=[{"namespace": CATALOG_URI, "name": "sales.orders", "type": "TABLE"}])
    entry = {**table, "type": "DATASET", **{key: lineage[key] for key in ("inputs", "fields")}}
    output = {**table, "facets": {"columnLineage": columns, "lineage": lineage, "symlinks": symlinks}}
    job_lineage = {"entries": [entry, {"type": "JOB", "inputs": [{"type": "JOB"}]}]}

    event = read(body(inputs=[topic], outputs=[output], job_facets={"lineage": job_lineage})).body

    text = json.dumps(event)
    assert "localhost" not in text
    assert CATALOG_URI not in text
    assert '"namespace": ""' not in text
    assert event["outputs"][0]["name"] == "lake.sales.orders"
    identifiers = event["outputs"][0]["facets"]["symlinks"]["identifiers"]
    assert identifiers == [{"namespace": "s3://warehouse", "name": "lake.sales.orders", "type": "TABLE"}]


def test_original_event_is_not_modified():
    content = body(inputs=[dataset("orders", namespace="kafka://localhost:9092")])
    before = encode(content)
    read(content)
    assert encode(content) == before


def test_canonical_names_are_unchanged():
    content = body(inputs=[dataset("t", namespace="kafka://broker-1")], outputs=[{"namespace": "", "name": "lake.a.b"}])
    once = read(content)
    assert read(once.body).body == once.body


def unnamed_event():
    """An event of Flink's listener: a generator and a table of the catalog have no namespace."""
    columns = {
        "id": {
            "inputFields": [
                {"namespace": "", "name": "default_catalog.default_database.generated", "field": "id"},
                {"namespace": "", "name": "lake.sales.orders", "field": "id"},
            ]
        }
    }
    column_lineage = facet(fields=columns)
    return body(
        inputs=[
            {"namespace": "", "name": "default_catalog.default_database.generated"},
            {"namespace": "", "name": "lake.sales.orders"},
        ],
        outputs=[
            dataset("orders", "kafka://kafka:9092", columnLineage=column_lineage),
            {"namespace": " ", "name": "default_catalog.default_database.printed"},
        ],
    )


def test_dataset_without_a_namespace_is_refused():
    with pytest.raises(InvalidEvent, match=r"inputs\[0\]\.namespace: is empty, and no naming rule resolves it"):
        canonical_event(unnamed_event(), names())
    assert names(emptyNamespaces="refuse").dataset("", "x") == ("", "x")


def test_dataset_without_a_namespace_is_left_out_if_the_rules_say_so():
    found = names(emptyNamespaces="omit")
    event = canonical_event(unnamed_event(), found)
    alias = {"namespace": "s3://warehouse/root", "name": "lake.sales.orders"}
    assert event["inputs"] == [alias]
    (output,) = event["outputs"]
    assert output["facets"]["columnLineage"]["fields"]["id"]["inputFields"] == [{**alias, "field": "id"}]
    assert found.omitted == {
        "default_catalog.default_database.generated",
        "default_catalog.default_database.printed",
    }


def test_names_without_a_namespace_are_left_out_of_every_facet_that_names_datasets():
    other = {"namespace": "", "name": "generated"}
    kept = {"namespace": "s3://warehouse", "name": "a"}
    lineage = {"inputs": [{"type": "DATASET", **other}, {"type": "DATASET", **kept}], "fields": {}}
    facets = {
        "symlinks": facet(identifiers=[{**other, "type": "TABLE"}, {**kept, "type": "TABLE"}]),
        "lifecycleStateChange": facet(lifecycleStateChange="RENAME", previousIdentifier=other),
        "lineage": facet(**lineage),
        "columnLineage": facet(fields={}, dataset=[{**other, "field": "x"}]),
    }
    event = body(outputs=[dataset("b", **facets)])
    event["job"]["facets"] = {
        "lineage": facet(entries=[{"type": "DATASET", **other, "inputs": []}, {"type": "JOB", **kept}])
    }
    found = canonical_event(event, names(emptyNamespaces="omit"))
    assert "generated" not in json.dumps(found)
    (output,) = found["outputs"]
    assert [each["name"] for each in output["facets"]["symlinks"]["identifiers"]] == ["a"]
    assert [each["name"] for each in output["facets"]["lineage"]["inputs"]] == ["a"]
    assert [each["name"] for each in found["job"]["facets"]["lineage"]["entries"]] == ["a"]


def test_value_for_empty_namespaces_is_checked():
    with pytest.raises(RulesError, match="emptyNamespaces: 'drop' is neither 'refuse' nor 'omit'"):
        names(emptyNamespaces="drop")
