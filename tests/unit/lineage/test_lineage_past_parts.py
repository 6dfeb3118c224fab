# SPDX-License-Identifier: Apache-2.0
"""Copies of the checkpoint that are compressed against an earlier one."""

import random
from contextlib import closing

import pytest

from lineage.rules import Rules
from lineage.store import past_parts, past_states
from lineage.store.past_parts import read_parts
from lineage.store.past_states import PastRecords, past_state
from lineage.store.state_file import new_state
from lineage.store.state_records import packed_content

EVER = 2**62


@pytest.fixture
def state(tmp_path):
    with closing(new_state(tmp_path, Rules())) as state:
        yield state


class Tables:
    """Random records and lineages in a state file; `change` changes some, and adds and removes others."""

    def __init__(self, connection, seed, incompressible=0):
        self._connection = connection
        self._chance = random.Random(seed)
        self._incompressible = incompressible

    def change(self, share=0.2, added=10):
        rows = self._connection.execute("SELECT kind, key FROM records").fetchall()
        for kind, key in rows:
            if self._chance.random() < share:
                self._connection.execute("DELETE FROM records WHERE kind = ? AND key = ?", (kind, key))
                if self._chance.random() < 0.8:
                    self._add(kind, key)
        for _ in range(added):
            self._add(self._chance.choice(("dataset", "job", "run")), f'["n","{self._chance.random()}"]')

    def content(self):
        """Return records with their content, and lineages."""
        records = self._connection.execute("SELECT kind, key, body FROM records ORDER BY kind, key").fetchall()
        lineages = self._connection.execute("SELECT * FROM lineages ORDER BY namespace, name").fetchall()
        return [(kind, key, past_parts.decompressed_content(body)) for kind, key, body in records], lineages

    def _add(self, kind, key):
        body = packed_content({"facet": self._chance.randbytes(self._incompressible), "text": "x" * 99})
        insert = "INSERT INTO records (kind, key, body, kept) VALUES (?, ?, ?, 0)"
        self._connection.execute(insert, (kind, key, body))
        lineage = self._chance.randbytes(self._incompressible)
        self._connection.execute("INSERT OR REPLACE INTO lineages VALUES (?, ?, ?)", (kind, key, lineage))


def stored(state, position):
    """Return what a past state has."""
    parts = list(read_parts(state.connection, position))
    assert all(len(part.rows) <= 2 * past_parts.ROWS_PER_PART for part in parts)
    return tuple([row for part in parts if part.is_lineages is kind for row in part.rows] for kind in (False, True))


def bytes_of(state, position):
    query = "SELECT sum(length(body)) FROM past_parts WHERE position = ?"
    return state.connection.execute(query, (position,)).fetchone()[0]


@pytest.mark.parametrize("seed", range(6))
def test_every_copy_is_what_the_state_was(state, monkeypatch, seed):
    monkeypatch.setattr(past_parts, "ROWS_PER_PART", 5)
    monkeypatch.setattr(past_states, "_AFTER_ANCHOR", seed)
    tables = Tables(state.connection, seed, incompressible=20)
    expected = {}
    for position in range(1, 15):
        tables.change(added=60 if position % 5 == 1 else 4)
        state.past_states.keep(position, position)
        expected[position] = tables.content()
    for position, content in expected.items():
        assert stored(state, position) == content
    anchors = state.connection.execute("SELECT anchor FROM past_states").fetchall()
    assert len(set(anchors)) == -(-14 // (seed + 1))

    # Old ones go; those that stay need their anchor.
    state.past_states.remove_before(9)
    for position in range(9, 15):
        assert stored(state, position) == expected[position]
    assert past_state(state.connection, 8, 0) is None
    kept = state.connection.execute("SELECT DISTINCT position FROM past_parts WHERE position < 9").fetchall()
    assert kept == ([] if anchors[8] == (9,) else [anchors[8]])

    # Single records are found in parts of all sizes.
    found = past_state(state.connection, EVER, 0)
    records = PastRecords(state.connection, found)
    for kind, key, _ in expected[14][0]:
        assert records.record(kind, key) is not None
    assert records.record("job", '["n","none"]') is None


def test_what_an_anchor_has_takes_no_space_again(state, monkeypatch):
    monkeypatch.setattr(past_states, "_AFTER_ANCHOR", 1)
    tables = Tables(state.connection, 1, incompressible=1000)
    tables.change(added=300)
    for position in range(1, 4):
        tables.change(share=0.01, added=1)
        state.past_states.keep(position, position)
    anchor, after, next_anchor = (bytes_of(state, position) for position in range(1, 4))
    assert after < 0.1 * anchor
    assert next_anchor > 0.9 * anchor


def test_a_damaged_copy_is_no_anchor(state):
    tables = Tables(state.connection, 1, incompressible=20)
    tables.change(added=300)
    state.past_states.keep(1, 1)
    state.connection.execute("UPDATE past_parts SET body = x'00' WHERE part = 1")
    state.past_states.keep(2, 2)
    assert stored(state, 2) == tables.content()
    with pytest.raises(ValueError, match="a past state is damaged"):
        stored(state, 1)
