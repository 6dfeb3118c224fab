# SPDX-License-Identifier: Apache-2.0
"""Retention: compaction removes events from the log and keeps their effect on the graph."""

import json
import random
import time
from random import randbytes

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lineage_events import (
    RECORDED,
    RULES,
    body,
    dataset,
    dataset_event,
    event,
    original,
    originals,
    read,
    recorded_lines,
    schema,
)
from lineage_run_histories import RunHistories

from lineage.events import canonical_json
from lineage.events.event import ORDER_HASH_BYTES
from lineage.graph import SETTLED, Graph, LineageRecords, export_graph, run_outcome
from lineage.graph.snapshot import Snapshot, restore, snapshots_of
from lineage.rules.event_reader import EventReader
from lineage.settings import parse_arguments
from lineage.store import DeadLetterKind, EventLog
from lineage.store.horizons import Horizon, Horizons
from lineage.store.projection import Projection

FAR = 2**62
READER = EventReader(RULES)


def full_state(lineage):
    """Return the graph and every record, including the order of events."""
    graph = canonical_json(export_graph(lineage, Graph(lineage)))
    records = sorted((key, canonical_json(content)) for key, content in snapshots_of(lineage))
    outcomes = [
        run_outcome(lineage, run, SETTLED) for job in sorted(lineage.jobs) for run in lineage.jobs[job].runs.values()
    ]
    histories = [(job, list(lineage.jobs[job].history.runs.backwards())) for job in sorted(lineage.jobs)]
    return graph, records, sorted(map(repr, outcomes)), histories


def lineage_of(events):
    lineage = LineageRecords()
    for item in events:
        lineage.apply(item)
    return lineage


def restored(lineage, whole_hashes=()):
    """Return a lineage restored from its JSON snapshot, in which orders have the `whole_hashes` of their events."""
    copy = LineageRecords()
    for key, content in sorted(snapshots_of(lineage)):
        text = canonical_json(content)
        for content_hash in whole_hashes:
            text = text.replace(content_hash[:ORDER_HASH_BYTES].hex().encode(), content_hash.hex().encode())
        restore(copy, [Snapshot(key, json.loads(text))])
    return copy


NAMES = st.sampled_from(["a", "b", "c"])


@st.composite
def events(draw):
    second = draw(st.integers(0, 40))
    outputs = [dataset(draw(NAMES), **({"schema": schema(draw(NAMES))} if draw(st.booleans()) else {}))]
    if draw(st.booleans()):
        outputs[0]["facets"]["symlinks"] = {"_deleted": True}
    if draw(st.integers(0, 9)) == 0:
        return read(dataset_event(second, outputs[0]))
    return read(
        body(
            draw(st.sampled_from(["START", "RUNNING", "COMPLETE", "FAIL", "ABORT", "OTHER", None])),
            second,
            run=draw(st.sampled_from([1, 2, 3, None])),
            job=draw(NAMES),
            inputs=[dataset(draw(NAMES), schema=schema("x"))] if draw(st.booleans()) else [],
            outputs=outputs if draw(st.booleans()) else [],
            streaming=draw(st.booleans()),
            parent=draw(st.sampled_from([None, (1, "a"), (2, "b")])),
            run_facets=draw(st.sampled_from([None, {"tags": {"tags": [1]}}])),
        )
    )


@settings(max_examples=300, deadline=None)
@given(st.lists(events(), max_size=12), st.integers(0, 12), st.lists(events(), max_size=3))
def test_snapshot_replaces_the_events_it_contains(made, cut, later):
    whole = lineage_of([*made, *later])
    part = restored(lineage_of(made[:cut]))
    for item in [*made[cut:], *later]:
        part.apply(item)
    assert full_state(part) == full_state(whole)


@pytest.mark.parametrize("seed", range(20))
def test_snapshot_replaces_any_part_of_a_generated_run_history(seed):
    made, chance = RunHistories(seed).make(), random.Random(seed)
    expected = full_state(lineage_of(made))
    for _ in range(5):
        chance.shuffle(made)
        cut = chance.randint(0, len(made))
        part = restored(lineage_of(made[:cut]))
        for item in made[cut:]:
            part.apply(item)
        assert full_state(part) == expected


def test_snapshots_of_older_services_have_orders_with_whole_hashes():
    made = RunHistories(0).make()
    cut = len(made) // 2
    part = restored(lineage_of(made[:cut]), {item.hash for item in made[:cut]})
    for item in (*made[:2], *made[cut:]):
        part.apply(item)
    assert full_state(part) == full_state(lineage_of(made))


def built(log):
    state = Projection(log, READER)
    for _ in state.build():
        pass
    assert not state.unapplied
    return state


@pytest.mark.parametrize("file", sorted(RECORDED.glob("*.ndjson")) if RECORDED.is_dir() else [], ids=lambda f: f.stem)
def test_recorded_run_is_equal_after_compaction_in_any_slices(file, log, monkeypatch):
    made = [read(json.loads(line)) for line in recorded_lines(file.name)]
    log.append(originals(made))
    expected = full_state(built(log).lineage)
    for module in ("lineage.store.snapshots", "lineage.store.postgres.snapshots"):
        monkeypatch.setattr(f"{module}.SLICE", 3)
    for before in sorted({item.order.time for item in made})[:: max(1, len(made) // 5)]:
        while log.compact(READER, Horizons(Horizon(before))) or log.compact(READER, Horizons(Horizon(before + 1))):
            assert full_state(built(log).lineage) == expected
    while log.compact(READER, Horizons(Horizon(FAR))):
        pass
    assert log.count() == 0
    assert full_state(built(log).lineage) == expected
    assert log.append(originals(made)) == [False] * len(made), "a compacted event is still known as a duplicate"


def test_recent_unapplied_and_dead_events_are_kept(log, store):
    old, young = event("START", 0), event("COMPLETE", 1)
    log.append(originals([old, young]))
    assert log.compact(READER, Horizons(Horizon(old.order.time))) == 0
    assert log.compact(READER, Horizons(Horizon(FAR, arrived=time.time_ns() - 3600 * 10**9))) == 0, "recently arrived"
    log.set_position("reader", 0)
    assert log.compact(READER, Horizons(Horizon(FAR))) == 0
    log.set_position("reader", 1)
    log.dead_letters.park(DeadLetterKind.FOLD, old.hash, "a defect")
    assert log.compact(READER, Horizons(Horizon(FAR))) == 0
    log.dead_letters.release(DeadLetterKind.FOLD, old.hash)
    assert log.compact(READER, Horizons(Horizon(FAR))) == 1
    assert store.known_since() == old.order.time
    assert [item.original for item in log.after(0, 10)] == [young.original]


def of_namespace(namespace, second):
    content = body("START", second, run=second, outputs=[dataset(f"d{second}")])
    return read({**content, "job": {**content["job"], "namespace": namespace}})


def test_namespaces_have_horizons_of_their_own(log):
    names = ["short", "kept", "other", 'with "quotes"']
    made = [of_namespace(names[second % 4], second) for second in range(16)]
    assert all(log.append(originals(made)))
    expected = full_state(built(log).lineage)
    times = [item.order.time for item in made]
    horizons = Horizons(Horizon(times[4]), {"short": Horizon(times[12]), "kept": None, "unknown": Horizon(FAR)})
    while log.compact(READER, horizons):
        pass
    left = [(item.original.namespace, times.index(item.original.time)) for item in log.after(0, 99)]
    assert left == [(names[second % 4], second) for second in range(1, 16) if second not in (2, 3, 4, 8)]
    assert full_state(built(log).lineage) == expected
    while log.compact(READER, Horizons(None, {'with "quotes"': Horizon(FAR)})):
        pass
    assert {item.original.namespace for item in log.after(0, 99)} == {"short", "kept", "other"}
    assert full_state(built(log).lineage) == expected


def test_events_of_an_older_version_have_the_longest_retention(log, store):
    made = [of_namespace("noisy", second) for second in range(3)]
    log.append(originals(made))
    store.execute("UPDATE events SET namespace = NULL")
    later = made[2].order.time
    assert log.compact(READER, Horizons(Horizon(FAR), {"audit": None})) == 0
    assert log.compact(READER, Horizons(Horizon(later), {"noisy": Horizon(FAR)})) == 2
    assert log.compact(READER, Horizons(Horizon(FAR))) == 1


def test_two_ages_of_one_namespace_are_refused(capsys):
    with pytest.raises(SystemExit):
        parse_arguments(["--data", "x", *["--retain-namespace", "a=1d"], *["--retain-namespace", "a=2d"]])
    assert "given twice for 'a'" in capsys.readouterr().err


def test_ages_give_horizons():
    horizons = Horizons.of_ages(10**9 * 100, 30, {"short": 1.5, "kept": None})
    assert horizons.others == Horizon(70 * 10**9, 70 * 10**9)
    assert horizons.namespaces == {"short": Horizon(98_500_000_000, 98_500_000_000), "kept": None}
    assert Horizons.of_ages(0, None, {}).others is None


def test_retention_of_namespaces_is_given_by_options():
    given = ["--retain-namespace", "kafka://a:1=7d", "--retain-namespace", "a=b=never"]
    parsed = parse_arguments(["--data", "x", "--retain", "30d", *given])
    assert (parsed.retain, parsed.retain_namespaces) == (30 * 86400, {"kafka://a:1": 7 * 86400, "a=b": None})


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("7d", "has no namespace; write it as NAMESPACE=7d"),
        ("=7d", "has no namespace"),
        ("a=week", "is not a duration"),
    ],
)
def test_wrong_retention_of_a_namespace_is_refused(given, message, capsys):
    with pytest.raises(SystemExit):
        parse_arguments(["--data", "x", "--retain-namespace", given])
    assert message in capsys.readouterr().err


def test_past_graphs_are_available_back_to_the_compaction(log, store):
    made = [event("START", n, run=n, job=f"job{n}", outputs=[dataset(f"d{n}")]) for n in range(6)]
    log.append(originals(made))
    wanted = [canonical_json(export_graph(part := lineage_of(made[: n + 1]), Graph(part))) for n in range(6)]
    assert [store.graph_at(item.order.time, READER) for item in made] == wanted
    assert log.compact(READER, Horizons(Horizon(made[3].order.time))) == 3
    assert store.known_since() == made[2].order.time
    assert [store.graph_at(item.order.time, READER) for item in made[2:]] == wanted[2:]


def test_compaction_frees_disk_space(tmp_path):
    log = EventLog(tmp_path)
    for second in range(20):
        log.append([original("RUNNING", second, run_facets={"big": {"text": f"{second}" + randbytes(25_000).hex()}})])
    while log.compact(READER, Horizons(Horizon(FAR))):
        pass
    log.shrink()
    log.close()
    assert (tmp_path / "lineage.db").stat().st_size < 300_000
