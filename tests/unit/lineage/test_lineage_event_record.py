# SPDX-License-Identifier: Apache-2.0
"""Records of events for Kafka: their events give the graph of the log."""

import json
import random

import pytest
from lineage_events import recorded_lines
from lineage_run_histories import RunHistories
from lineage_spark_events import pipeline

from infra.namespaces import lineage_service_rules
from lineage.egress.event_record import event_of_record, hash_of_record, record_key, record_value
from lineage.events import Event, canonical_json, read_original
from lineage.graph import Graph, export_graph, fold_events
from lineage.rules import load_rules
from lineage.rules.event_reader import EventReader

RULES = load_rules(json.dumps(lineage_service_rules(["127.0.0.1:9092"], "http://127.0.0.1:8181")))
CONNECT_TYPES = {"string": str, "int64": int}
ACCEPTED = 1_800_000_000 * 10**9


def event(body: bytes) -> Event:
    return EventReader(RULES).event(read_original(body), ACCEPTED)


def payload(value: bytes) -> dict[str, object]:
    found: dict[str, object] = json.loads(value)["payload"]
    return found


def sent(events: list[Event]) -> list[Event]:
    """Return events as a reader of their records gets them."""
    names = ("event_hash", "kind", "effective_ns", "event", "locations")
    rows = [payload(record_value(event, at, ACCEPTED)) for at, event in enumerate(events)]
    return [event_of_record(*(row[name] for name in names)) for row in rows]


def export(events: list[Event]) -> bytes:
    lineage = fold_events(events)
    return canonical_json(export_graph(lineage, Graph(lineage)))


@pytest.mark.parametrize("seed", range(5))
def test_records_of_a_generated_history_give_its_graph(seed: int) -> None:
    events = RunHistories(seed).make()
    assert export(sent(events)) == export(events)


def test_records_of_recorded_events_give_their_graph() -> None:
    """Flink names tables by their catalog alone: the locations are part of the records."""
    events = [event(line) for line in recorded_lines()] + [event(json.dumps(each).encode()) for each in pipeline(2)]
    assert any(each.locations for each in events)
    assert export(sent(events)) == export(events)


def test_values_have_the_types_of_the_schema() -> None:
    for each in map(event, recorded_lines()):
        document = json.loads(record_value(each, 7, ACCEPTED))
        fields = document["schema"]["fields"]
        assert {field["field"] for field in fields} == document["payload"].keys()
        for field in fields:
            value = document["payload"][field["field"]]
            assert isinstance(value, CONNECT_TYPES[field["type"]]) or (value is None and field["optional"]), field


def test_the_hash_identifies_the_event_and_foreign_records_have_none() -> None:
    found = event(random.Random(1).choice(recorded_lines()))
    assert hash_of_record(record_value(found, 1, ACCEPTED)) == found.hash
    assert record_key(found).decode() == found.hash.hex()
    for foreign in (b"", b"{", b"[]", b'{"payload": 1}', b'{"payload": {"event_hash": 1}}'):
        assert hash_of_record(foreign) == b""


def test_an_event_of_the_future_keeps_its_place() -> None:
    """Its time is limited by that of its acceptance, and the claimed time is known."""
    body = json.loads(recorded_lines()[0])
    ahead = event(json.dumps({**body, "eventTime": "2199-01-01T00:00:00Z"}).encode())
    (found,) = sent([ahead])
    assert (found.order, found.clamped, found.original.time) == (ahead.order, True, ahead.original.time)
