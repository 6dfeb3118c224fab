# SPDX-License-Identifier: Apache-2.0
"""Types under one spelling, columns of Avro schemas, and compatibility: what it permits, an Avro reader can read."""

import io
import json

import fastavro
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lineage.checks.columns import Column, Compatibility, SchemaError, canonical_type, incompatibilities, read_avro

AVRO = {"int32": "int", "int64": "long", "float32": "float", "float64": "double", "string": "string", "bytes": "bytes"}
VALUES = {"int32": 7, "int64": 2**40, "float32": 0.5, "float64": 0.25, "string": "x", "bytes": b"x"}

columns = st.dictionaries(
    st.sampled_from("abc"), st.tuples(st.sampled_from(sorted(AVRO)), st.booleans()), min_size=1
).map(lambda found: [Column(name, kind, nullable) for name, (kind, nullable) in found.items()])


def record(fields):
    rows = [
        {"name": each.name, "type": ["null", AVRO[each.type]], "default": None}
        if each.nullable
        else {"name": each.name, "type": AVRO[each.type]}
        for each in fields
    ]
    return {"type": "record", "name": "row", "fields": rows}


def can_read(writer, reader):
    """Return whether a reader gets all rows: one with values, and one with nulls where the writer permits them."""
    rows = [{each.name: VALUES[each.type] for each in writer}]
    rows.append({each.name: None if each.nullable else VALUES[each.type] for each in writer})
    for row in rows:
        data = io.BytesIO()
        fastavro.schemaless_writer(data, record(writer), row)
        data.seek(0)
        try:
            fastavro.schemaless_reader(data, record(writer), record(reader))
        except (fastavro.read.SchemaResolutionError, TypeError, ValueError):
            return False
    return True


@settings(max_examples=400, deadline=None)
@given(columns, columns)
def test_what_is_compatible_can_be_read(agreed, found):
    """The expected result is that of an Avro implementation, which resolves the two schemas."""
    reads = {
        Compatibility.BACKWARD: can_read(agreed, found),
        Compatibility.FORWARD: can_read(found, agreed),
        Compatibility.FULL: can_read(agreed, found) and can_read(found, agreed),
    }
    for mode, readable in reads.items():
        assert (not list(incompatibilities(agreed, found, mode))) is readable, mode
    equal = {each.name: each for each in agreed} == {each.name: each for each in found}
    assert (not list(incompatibilities(agreed, found, Compatibility.EXACT))) is equal


def test_unknown_types_and_nullability_claim_nothing():
    agreed = [Column("a", "int64", nullable=False), Column("b", "string", nullable=True)]
    graph = [Column("a", ""), Column("b", "string"), Column("new", "string")]
    for mode in (Compatibility.BACKWARD, Compatibility.FORWARD, Compatibility.FULL):
        assert list(incompatibilities(agreed, graph, mode)) == []
    assert [each.column for each in incompatibilities(agreed, graph, Compatibility.EXACT)] == ["new"]


@pytest.mark.parametrize(
    ("spellings", "kind"),
    [
        (("bigint", "long", "INT64"), "int64"),
        (("DECIMAL(10, 2)", "decimal(10,2)", "numeric(10,2)"), "decimal(10,2)"),
        (("decimal(5)",), "decimal(5,0)"),
        (("timestamp", "TIMESTAMP(6)", "timestamp-millis", "timestamp with time zone", "timestamptz"), "timestamp"),
        (("TIMESTAMP_LTZ(3)", "local-timestamp-micros", "TIMESTAMP(3) WITH LOCAL TIME ZONE"), "timestamp"),
        (("VARCHAR(20)", "character varying", "text"), "string"),
        (("double precision", "DOUBLE"), "float64"),
        ((" Array<Int> ",), "array<int>"),
        (("timestamps",), "timestamps"),
        (("",), ""),
    ],
)
def test_types_have_one_spelling(spellings, kind):
    assert {canonical_type(each) for each in spellings} == {kind}


def test_avro_fields_have_type_nullability_and_aliases():
    fields = [
        {"name": "id", "type": "long", "aliases": ["key"]},
        {"name": "price", "type": ["null", {"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2}]},
        {"name": "at", "type": [{"type": "long", "logicalType": "timestamp-millis"}, "null"]},
        {"name": "day", "type": {"type": "int", "logicalType": "date"}},
        {"name": "tags", "type": {"type": "array", "items": "string"}},
        {"name": "either", "type": ["int", "string"]},
        {"name": "nothing", "type": "null"},
    ]
    assert read_avro(json.dumps({"type": "record", "name": "r", "fields": fields})) == [
        Column("id", "int64", False, ("key",)),
        Column("price", "decimal(10,2)", True),
        Column("at", "timestamp", True),
        Column("day", "date", False),
        Column("tags", "", False),
        Column("either", "", False),
        Column("nothing", "null", True),
    ]


@pytest.mark.parametrize("text", ["", "[]", '"string"', '{"type": "record"}', '{"type": "record", "fields": [{}]}'])
def test_other_schemas_are_refused(text):
    with pytest.raises(SchemaError):
        read_avro(text)
