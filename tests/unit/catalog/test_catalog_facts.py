# SPDX-License-Identifier: Apache-2.0
"""Facts about datasets as properties, and the changes that make a table say them."""

import json
import random

import pytest

from lineage.checks.metadata import TaggedColumn, carried_tags, catalog_facts
from lineage.events import DatasetId
from lineagelab_catalog.changes import changes_of, with_changes
from lineagelab_catalog.facts import FactsError, FactsIndex, TableFacts, dataset_of_location, read_facts

PREFIX = "lineage-lab."
SHOP = {"namespace": "postgres://db:5432", "name": "shop.orders"}
LAKE = {"namespace": "s3://warehouse", "name": "sales/orders"}
JOB = {"namespace": "lab", "name": "etl"}


def facets(**changes):
    return {
        "documentation": {"description": "Größe, each once"},
        "ownership": {"owners": [{"name": "ann", "type": "STEWARD"}, {"name": "team"}]},
        "tags": {"tags": [{"key": "gold", "value": "true"}, {"key": "unit", "value": "EUR", "field": "price"}]},
        "symlinks": {"identifiers": [{"namespace": "x", "name": "lake.sales.orders", "type": "TABLE"}]},
        "lineageLab_columnDescriptions": {"fields": [{"name": "price", "description": "net"}]},
        **changes,
    }


def document(**changes):
    edge = {"job": JOB, "type": "DIRECT", "subtype": "IDENTITY", "masking": False}
    column = {**edge, "input": {**SHOP, "field": "mail"}, "output": {**LAKE, "field": "email"}}
    graph = {"flows": [{"job": JOB, "input": SHOP, "output": LAKE}], "columns": [column]}
    carried = carried_tags([TaggedColumn(DatasetId(**SHOP), "mail", "pii")], graph["columns"])
    return catalog_facts([{**SHOP, "facets": {}}, {**LAKE, "facets": facets(**changes)}], graph, carried)


def properties(**changes):
    return {key.removeprefix(PREFIX): text for key, text in document(**changes)["tables"][1]["properties"].items()}


def test_facts_are_properties_in_json():
    found = properties()
    assert found.pop("description") == "Größe, each once"
    assert {key: json.loads(text) for key, text in found.items()} == {
        "owners": [{"name": "ann", "type": "STEWARD"}, {"name": "team"}],
        "tags": {"gold": "true"},
        "inputs": ["postgres://db:5432/shop.orders"],
        "jobs": ["lab/etl"],
        "column.price": {"description": "net", "tags": {"unit": "EUR"}},
        "column.email": {"carriedTags": {"pii": ["postgres://db:5432/shop.orders#mail"]}},
    }


@pytest.mark.parametrize("junk", [None, 7, "x", [7], {"owners": 7}, {"owners": [7, {"type": "x"}]}])
def test_facets_that_are_no_lists_of_objects_state_nothing(junk):
    assert "owners" not in properties(ownership=junk if isinstance(junk, dict) else None)
    assert "owners" not in properties(ownership={"owners": junk})


def test_a_document_is_read_again():
    facts = read_facts(json.dumps(document()))
    index = FactsIndex.of(facts)
    (lake,) = [found for found in facts.tables if found.name == "sales/orders"]
    assert index.find("s3a://warehouse/sales/orders/", ()) is lake
    assert index.find("", ("lake.sales.orders",)) is lake
    assert index.find("s3://other/sales/orders", ("sales.orders",)) is None


def test_a_name_of_two_datasets_is_none_of_them():
    rows = document()["tables"]
    rows[0]["tables"] = rows[1]["tables"]
    index = FactsIndex.of(read_facts(json.dumps({"version": 1, "prefix": PREFIX, "tables": rows})))
    assert index.find("", ("lake.sales.orders",)) is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not a document"),
        ("[]", "not a document"),
        ('{"version": 1, "prefix": "x", "tables": [1]}', "not a document"),
        ('{"version": 2, "prefix": "x", "tables": []}', "version 2"),
        (json.dumps({**document(), "prefix": "other."}), "must begin with 'other.'"),
        (json.dumps({**document(), "prefix": ""}), "must begin with"),
    ],
)
def test_other_documents_are_refused(text, words):
    with pytest.raises(FactsError, match=words):
        read_facts(text)


@pytest.mark.parametrize(
    ("location", "dataset"),
    [
        ("s3://bucket/a/b", ("s3://bucket", "a/b")),
        ("s3n://bucket/a/b/", ("s3://bucket", "a/b")),
        ("hdfs://node:8020/a/b", ("hdfs://node:8020", "/a/b")),
        ("file:/tmp/x", ("file", "/tmp/x")),
        ("/tmp/x/", ("file", "/tmp/x")),
        ("", None),
    ],
)
def test_the_dataset_of_a_location(location, dataset):
    assert dataset_of_location(location) == dataset


@pytest.mark.parametrize("seed", range(50))
def test_changes_make_a_table_say_the_facts_and_nothing_else_changes(seed):
    """Random histories of facts, and of users who edit the comment and their own properties."""
    dice = random.Random(seed)
    table, comment, edited = {}, "", False
    for _ in range(20):
        if dice.random() < 0.2:
            table[dice.choice(["owner", "lineage", "x"])] = str(dice.random())
        if dice.random() < 0.1:
            comment, edited = dice.choice(["", "by hand"]), True
        names = [f"{PREFIX}{name}" for name in "abc" if dice.random() < 0.5]
        stated = TableFacts("n", "t", (), dice.choice(["", "one", "two"]), {name: dice.choice("xy") for name in names})
        foreign = {key: text for key, text in table.items() if not key.startswith(PREFIX)}
        before = comment
        changes = changes_of(stated, PREFIX, table, comment)
        table = with_changes(table, changes)
        comment = comment if changes.comment is None else changes.comment
        own = {key: text for key, text in table.items() if key.startswith(PREFIX)}
        own.pop(f"{PREFIX}own-comment", None)
        assert own == stated.properties
        assert {key: text for key, text in table.items() if not key.startswith(PREFIX)} == foreign
        if before == "by hand":
            assert comment == before, "a comment of a user stays"
        elif not edited:
            assert comment == stated.comment
        assert not changes_of(stated, PREFIX, table, comment), "a second time there is nothing to do"
