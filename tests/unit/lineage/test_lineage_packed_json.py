# SPDX-License-Identifier: Apache-2.0
"""Packed facets: equal when unpacked, told apart where they differ, and small."""

import tracemalloc

import pytest

from lineage.graph.dataset_statements import PackedColumns
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
    assert PackedColumns.of([dict(reversed(field.items())) for field in FIELDS], [first]) is first
    assert PackedColumns.of(FIELDS[1:], [first]) is not first
