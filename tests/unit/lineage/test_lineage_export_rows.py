# SPDX-License-Identifier: Apache-2.0
"""Rows of a graph export as text: sorted, canonical, of the stated size."""

import random
import tracemalloc

import pytest

from lineage.events import canonical_json
from lineage.graph.export_rows import EXPORT_VERSION, KINDS, ExportRows
from lineage.store.packed_answer import PackedText


def rows_of(count: int) -> dict[str, list[dict]]:
    """Rows of every second kind, in random order, some of them equal."""
    chance = random.Random(count)
    return {
        kind: [{"name": f'n{chance.randrange(count)} \u00e4"', "at": chance.random()} for _ in range(count)]
        if number % 2
        else []
        for number, kind in enumerate(KINDS)
    }


@pytest.mark.parametrize("count", [0, 1, 1_999, 2_000, 2_001, 4_000, 9_000])
def test_text_is_the_canonical_json_of_the_sorted_rows(count):
    wanted, rows = rows_of(count), ExportRows()
    for kind, found in wanted.items():
        for row in found:
            rows.add(kind, row)
    size, packing = rows.size, PackedText(rows.size)
    blocks = list(rows.blocks())
    for block in blocks:
        packing.add(block)
    text = b"".join(blocks)
    ordered = {kind: sorted(found, key=canonical_json) for kind, found in wanted.items()}
    assert text == canonical_json({**ordered, "version": EXPORT_VERSION})
    assert len(text) == size
    answer = packing.answer()
    assert (answer.text, answer.size) == (text, size)
    assert b"".join(answer.blocks(1_000)) == text
    assert all(len(block) < 2**18 for block in blocks)


def test_rows_take_less_than_their_text():
    rows = ExportRows()
    tracemalloc.start()
    try:
        for number in range(20_000):
            rows.add("columns", {"input": {"name": f"table_{number}", "field": "price"}, "type": "DIRECT"})
        used = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert used < rows.size / 2
