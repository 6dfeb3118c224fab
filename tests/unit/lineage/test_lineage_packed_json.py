# SPDX-License-Identifier: Apache-2.0
"""Packed facets: equal when unpacked, different where they differ, and small."""

import tracemalloc

import pytest

from lineage.graph.dataset_statements import PackedColumns, columns_digest, schema_digest
from lineage.graph.memo import Memo
from lineage.graph.packed_json import PackedJson, digest_of, packed_facet

FIELDS = [
    {"name": f"column_{number:02d}", "type": "string", "description": "of the warehouse"} for number in range(200)
]


@pytest.mark.parametrize(
    "value", [{}, {"a": [1, 2.5, None, True, "\u00e4\U0001f600"], "b": {"c": 2**63 - 1}}, {"fields": FIELDS}]
)
def test_value_is_unpacked_as_it_was(value):
    packed = PackedJson(value)
    assert packed.value == value
    assert PackedJson.of_bytes(bytes(packed)).value == value
    assert packed.digest == digest_of(value) == PackedJson.of_bytes(bytes(packed)).digest


def test_digests_tell_types_apart():
    assert len({digest_of({"a": value}) for value in (1, True, 1.0, "1", None)}) == 5


def test_tombstones_and_other_facets_are_not_packed():
    for name, value in (("schema", {"_deleted": True}), ("jobType", {"processingType": "BATCH"})):
        assert packed_facet(name, value) is value


def test_packed_values_take_little_memory():
    value = {"fields": FIELDS}
    tracemalloc.start()
    try:
        kept = [PackedJson(value) for _ in range(100)]
        used = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert len(kept) == 100
    assert used < 100 * 2_000


def test_equal_columns_are_one_object():
    first = PackedColumns.of(FIELDS)
    assert PackedColumns.of_schema({"fields": [dict(reversed(field.items())) for field in FIELDS]}, [first]) is first
    assert PackedColumns.of_schema({"fields": FIELDS[1:]}, [first]) is not first


@pytest.mark.parametrize("fields", [FIELDS, [], [{"name": "a"}]], ids=["many", "none", "one"])
def test_the_digest_of_a_schema_is_that_of_its_columns(fields):
    facet = {"_producer": "https://example.org", "fields": fields}
    packed = PackedJson(facet)
    digests = {schema_digest(facet), schema_digest(packed), schema_digest(packed), columns_digest(fields)}
    assert digests == {PackedColumns.of(fields).digest}


def test_a_schema_without_columns_has_no_digest():
    facet = {"_producer": "https://example.org"}
    assert schema_digest(facet) is schema_digest(PackedJson(facet)) is None
    assert PackedColumns.of_schema(facet) is None


def test_a_memo_makes_a_result_once_and_forgets_the_first():
    made = []
    memo: Memo[int, int] = Memo(2)
    results = [memo.get(key, lambda key=key: made.append(key) or key * 10) for key in (1, 2, 1, 3, 2, 1)]
    assert results == [10, 20, 10, 30, 20, 10]
    assert made == [1, 2, 3, 1]
