# SPDX-License-Identifier: Apache-2.0
"""Segments of the log: the same events, in less space."""

from contextlib import closing

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lineage_events import RULES, dataset, original, schema

from lineage.rules.event_reader import EventReader
from lineage.store import EventQuery
from lineage.store import segments as segments_module
from lineage.store.horizons import Horizon, Horizons

FAR = 2**62
READER = EventReader(RULES)


@pytest.fixture(autouse=True)
def small_segments(monkeypatch):
    monkeypatch.setattr(segments_module, "SEGMENT_EVENTS", 4)
    monkeypatch.setattr(segments_module, "SEGMENTS_PER_SEAL", 2)


def no_damage(content_hash, error):
    raise AssertionError(f"{content_hash.hex()}: {error}")


def rows(store, table):
    return store.execute(f"SELECT count(*) FROM {table}")[0][0]


def events(count, first=0):
    return [original("RUNNING", second, outputs=[dataset("t", schema=schema("a"))]) for second in range(first, count)]


class Reopened:
    """Log that can be closed and opened again."""

    def __init__(self, store):
        self._store = store
        self._log = store.open()

    def __getattr__(self, name):
        return getattr(self._log, name)

    def reopen(self):
        self._log.close()
        self._log = self._store.open()


STEPS = st.lists(st.sampled_from(["append", "seal", "compact", "reopen"]), min_size=1, max_size=30)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS, chance=st.randoms(use_true_random=False))
def test_events_are_equal_in_and_out_of_segments(store, steps, chance):
    made = events(60)
    chance.shuffle(made)
    kept = []
    store.fresh()
    with closing(Reopened(store)) as log:
        for step in steps:
            if step == "append":
                added = [made.pop() for _ in range(min(len(made), chance.randrange(5)))]
                log.append(added)
                kept += added
            elif step == "seal":
                log.seal()
            elif step == "compact" and kept:
                before = chance.choice(kept).time
                while log.compact(READER, Horizons(Horizon(before))):
                    pass
                kept = [item for item in kept if item.time >= before]
            elif step == "reopen":
                log.reopen()
            assert [stored.original for stored in log.events(no_damage)] == kept
            by_time = sorted(kept, key=lambda item: item.time)
            page = EventQuery(newest_first=False, offset=len(kept) // 2)
            assert log.run_events(page) == ([item.data for item in by_time[len(kept) // 2 :]], len(kept))
            for item in kept[:3]:
                assert log.event(item.hash).original == item


def test_only_full_segments_are_sealed(store):
    with closing(store.open()) as log:
        log.append(events(3))
        assert log.seal() == 0
        log.append(events(13, first=3))
        assert (log.seal(), log.seal(), log.seal()) == (8, 4, 0)
        assert (rows(store, "segments"), rows(store, "bodies")) == (3, 1)


def test_large_events_end_a_segment_early(store, monkeypatch):
    monkeypatch.setattr(segments_module, "SEGMENT_BYTES", 1)
    with closing(store.open()) as log:
        log.append(events(3))
        assert (log.seal(), log.seal(), log.seal()) == (2, 1, 0)
        assert rows(store, "segments") == 3


def test_a_segment_is_dropped_with_its_last_event(store):
    with closing(store.open()) as log:
        made = events(8)
        log.append(made)
        assert log.seal() == 8
        log.compact(READER, Horizons(Horizon(made[3].time)))
        assert rows(store, "segments") == 2
        log.compact(READER, Horizons(Horizon(made[4].time)))
        assert rows(store, "segments") == 1
        log.compact(READER, Horizons(Horizon(FAR)))
        assert rows(store, "segments") == 0


def test_a_damaged_segment_is_reported_for_each_of_its_events(store):
    with closing(store.open()) as log:
        made = events(8)
        log.append(made)
        assert log.seal() == 8
        store.execute("UPDATE segments SET body = substr(body, 1, 50) WHERE first = 1")
        damaged = []
        found = [stored.original for stored in log.events(lambda content_hash, _error: damaged.append(content_hash))]
        assert found == made[4:]
        assert damaged == [item.hash for item in made[:4]]


def test_a_damaged_event_does_not_keep_others_from_their_segment(store):
    with closing(store.open()) as log:
        made = events(4)
        log.append(made)
        store.execute("UPDATE bodies SET body = substr(body, 1, 50) WHERE seq = 2")
        assert log.seal() == 4
        damaged = []
        found = [stored.original for stored in log.events(lambda content_hash, _error: damaged.append(content_hash))]
        assert found == [made[0], *made[2:]]
        assert damaged == [made[1].hash]
