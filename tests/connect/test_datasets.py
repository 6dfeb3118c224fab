# SPDX-License-Identifier: Apache-2.0
"""Datasets, edges and schemas of connectors that need no external store."""

import json

import pytest

from tests.connect.cluster import lines_of, sink, source, struct, with_lineage
from tests.connect.event_history import datasets, edges, names, schema
from tests.connect.rest import until
from tests.connect.worker import KAFKA_NAMESPACE

TEXT = {"value.converter": "org.apache.kafka.connect.storage.StringConverter"}
ORDER = {"_key", "order_id", "price", "supplier", "bid_time"}
BID = {"_key", "bid_id", "amount"}


def test_topics_of_a_source_have_their_own_schemas(cluster, name):
    orders, bids = f"{name}-orders", f"{name}-bids"
    cluster.topic(orders, bids)
    cluster.create(name, with_lineage(source(orders, bids, shapes="order,bid")))

    def both(event):
        return names(event, "outputs") == {orders, bids} and all(schema(event, "outputs", it) for it in (orders, bids))

    event = cluster.await_event(name, "with both schemas", both)
    assert schema(event, "outputs", orders).keys() == ORDER
    assert schema(event, "outputs", bids).keys() == BID
    assert datasets(event, "outputs") == {(KAFKA_NAMESPACE, orders), (KAFKA_NAMESPACE, bids)}


def test_three_tasks_on_two_topics_have_one_run_and_separate_edges(cluster, name, tmp_path):
    orders, bids = f"{name}-orders", f"{name}-bids"
    cluster.topic(orders, bids, partitions=3)
    for number in range(9):
        key = str(number).encode()
        cluster.produce(orders, [struct({"order": "1"})], key)
        cluster.produce(bids, [struct({"bid": "1"})], key)
    out = tmp_path / "out"
    declared = f"{orders} -> file://test|orders.csv, {bids} -> file://test|bids.csv"
    three = {"tasks.max": 3, "key.converter": "org.apache.kafka.connect.storage.StringConverter"}
    cluster.create(name, with_lineage(sink(orders, bids, file=out) | three, datasets=declared))
    until(lambda: len(lines_of(out)) == 18, "all records")

    def both(event):
        return all(schema(event, "inputs", topic) for topic in (orders, bids) if topic in names(event, "inputs"))

    event = cluster.await_event(name, "with both schemas", lambda e: names(e, "inputs") == {orders, bids} and both(e))
    assert datasets(event, "outputs") == {("file://test", "orders.csv"), ("file://test", "bids.csv")}
    assert edges(event) == {(orders, "orders.csv"), (bids, "bids.csv")}
    assert schema(event, "inputs", orders).keys() == {"order", "_key"}
    assert schema(event, "inputs", bids).keys() == {"bid", "_key"}
    cluster.rest.delete(name)
    cluster.await_transitions(name, "1 START", "1 ABORT")


def test_changed_schema_is_reported_at_once(cluster, name):
    cluster.topic(name)
    later = {"later.shapes": "order_with_note", "later.after.records": 30}
    cluster.create(name, with_lineage(source(name) | later))
    cluster.await_event(name, "with the note", lambda event: "note" in schema(event, "outputs", name))
    history = cluster.history(name)
    seen = [frozenset(schema(event, "outputs", name)) for event in history.events]
    assert seen[-2:] == [frozenset(ORDER), frozenset(ORDER | {"note"})]
    assert history.last["eventType"] == "RUNNING"
    assert history.transitions() == ["1 START"]


@pytest.mark.parametrize(
    ("shape", "wanted"),
    [
        ("nested", {"id", "customer", "customer.name", "customer.home", "customer.home.city", "customer.home.zip"}),
        ("wide", {f"column_{number:04d}" for number in range(1000)}),
        ("recursive", {"name", "child"}),
    ],
)
def test_schema_shapes(cluster, name, shape, wanted):
    cluster.topic(name)
    converter = TEXT if shape == "recursive" else {}
    cluster.create(name, with_lineage(source(name, shapes=shape, records=20, pause__ms=1) | converter))
    event = cluster.await_event(name, "with a schema", lambda event: schema(event, "outputs", name))
    assert wanted <= schema(event, "outputs", name).keys()
    until(lambda: len(cluster.values(name)) == 20, "all records")
    assert cluster.rest.states(name) == ["RUNNING", "RUNNING"]


@pytest.mark.parametrize("shape", ["schemaless", "text", "tombstone"])
def test_values_without_schema_have_no_columns(cluster, name, shape):
    cluster.topic(name)
    cluster.create(name, with_lineage(source(name, shapes=shape, records=20, pause__ms=1)))
    until(lambda: len(cluster.values(name)) == 20, "all records")
    cluster.rest.delete(name)
    history = cluster.await_transitions(name, "1 START", "1 ABORT")
    assert names(history.last, "outputs") == {name}
    assert "anything" not in str(history.last)


def test_file_source_and_sink(cluster, name, tmp_path):
    written, read = tmp_path / "read.txt", tmp_path / "written.txt"
    written.write_text("one\ntwo\n")
    cluster.topic(name)
    into = {"connector.class": "FileStreamSource", "tasks.max": 1, "file": written, "topic": name} | TEXT
    cluster.create(f"{name}-source", with_lineage(into))
    out = {"connector.class": "FileStreamSink", "topics": name, "file": read} | TEXT
    cluster.create(f"{name}-sink", with_lineage(out | {"consumer.override.auto.offset.reset": "earliest"}))
    until(lambda: read.exists() and read.read_text() == "one\ntwo\n", "both lines")
    event = cluster.await_event(
        f"{name}-source", "with inputs and outputs", lambda event: event["inputs"] and event["outputs"]
    )
    assert datasets(event, "inputs") == {("file", str(written))}
    assert datasets(event, "outputs") == {(KAFKA_NAMESPACE, name)}
    event = cluster.await_event(
        f"{name}-sink", "with inputs and outputs", lambda event: event["inputs"] and event["outputs"]
    )
    assert datasets(event, "inputs") == {(KAFKA_NAMESPACE, name)}
    assert datasets(event, "outputs") == {("file", str(read))}


def test_topics_of_a_pattern_are_known_without_the_transform(cluster, name, tmp_path):
    orders, bids, other = f"{name}-orders", f"{name}-bids", f"other-{name}"
    written = tmp_path / "written.txt"
    cluster.topic(orders, other)
    cluster.produce(orders, [b"order"])
    cluster.produce(other, [b"other"])
    options = {"connector.class": "FileStreamSink", "tasks.max": 2, "topics.regex": f"{name}-.*", "file": written}
    consumer = {"consumer.override.auto.offset.reset": "earliest", "consumer.override.metadata.max.age.ms": 1000}
    cluster.create(name, options | consumer | TEXT)
    event = cluster.await_event(name, "with the first topic", lambda event: names(event, "inputs") == {orders})
    assert datasets(event, "inputs") == {(KAFKA_NAMESPACE, orders)}
    assert edges(event) == {(orders, str(written))}
    cluster.topic(bids)
    cluster.produce(bids, [b"bid"])
    event = cluster.await_event(name, "with both topics", lambda event: names(event, "inputs") == {orders, bids})
    assert edges(event) == {(orders, str(written)), (bids, str(written))}
    assert cluster.history(name).transitions() == ["1 START"]
    cluster.rest.delete(name)
    until(lambda: cluster.history(name).transitions()[-1] == "1 ABORT", "the end of the run")
    # A connector of the same name has read nothing, until it has.
    cluster.create(name, options | consumer | TEXT | {"topics.regex": f"other-{name}"})
    event = cluster.await_event(name, "with the other topic", lambda event: names(event, "inputs") == {other})
    assert not [event for event in cluster.history(name).events if {other, orders} <= names(event, "inputs")]


@pytest.mark.parametrize("configured", [with_lineage, dict], ids=["transform", "plain"])
def test_mirror_maker_has_an_edge_per_topic(cluster, name, configured):
    cluster.topic(f"{name}-a", f"{name}-b", partitions=2)
    cluster.produce(f"{name}-a", [b"1", b"2"])
    cluster.produce(f"{name}-b", [b"3"])
    raw = "org.apache.kafka.connect.converters.ByteArrayConverter"
    mirror = {
        "connector.class": "org.apache.kafka.connect.mirror.MirrorSourceConnector",
        "tasks.max": 2,
        "source.cluster.alias": "east",
        "target.cluster.alias": "west",
        "source.cluster.bootstrap.servers": cluster.bootstrap,
        "target.cluster.bootstrap.servers": cluster.bootstrap,
        "topics": f"{name}-.*",
        "replication.factor": 1,
        "offset-syncs.topic.replication.factor": 1,
        "refresh.topics.interval.seconds": 1,
        "sync.topic.acls.enabled": False,
        "key.converter": raw,
        "value.converter": raw,
    }
    cluster.create(name, configured(mirror))

    def both(event):
        return {f"east.{name}-a", f"east.{name}-b"} <= names(event, "outputs")

    event = cluster.await_event(name, "with both topics", both)
    assert edges(event) == {(f"{name}-a", f"east.{name}-a"), (f"{name}-b", f"east.{name}-b")}
    cluster.rest.delete(name)


def test_topics_by_pattern_are_those_read(cluster, name, tmp_path):
    one, two = f"{name}.one", f"{name}.two"
    cluster.topic(one, two)
    cluster.produce(one, [struct({"id": "1"})])
    config = sink(file=tmp_path / "out") | {"topics.regex": name.replace("-", ".") + r"\..*"}
    del config["topics"]
    cluster.create(name, with_lineage(config))
    cluster.await_event(name, "of the first", lambda event: names(event, "inputs") == {one})
    cluster.produce(two, [struct({"id": "1"})])
    cluster.await_event(name, "of both", lambda event: names(event, "inputs") == {one, two})


def test_routed_topic_has_its_name_in_kafka(cluster, name, tmp_path):
    router = {
        "transforms": "route",
        "transforms.route.type": "org.apache.kafka.connect.transforms.RegexRouter",
        "transforms.route.regex": "(.*)",
        "transforms.route.replacement": "$1-routed",
    }
    read, written = f"{name}-read", f"{name}-written"
    cluster.topic(read, written, f"{written}-routed")
    cluster.produce(read, [struct({"id": "1"})])
    cluster.create(read, with_lineage(sink(read, file=tmp_path / "out") | router))
    event = cluster.await_event(read, "with a schema", lambda event: schema(event, "inputs", read))
    assert names(event, "inputs") == {read}
    cluster.create(written, with_lineage(source(written) | router))
    event = cluster.await_event(written, "with a topic", lambda event: event["outputs"])
    assert names(event, "outputs") == {f"{written}-routed"}


def test_events_contain_no_secrets(cluster, name, tmp_path):
    cluster.topic(name)
    cluster.produce(name, [struct({"id": "1"})])
    secret = "hunter2-and-more"
    options = {"database.password": secret, "my.api.key": secret}
    cluster.create(name, with_lineage(sink(name, file=tmp_path / "out") | options))
    cluster.await_event(name, "with a schema", lambda event: schema(event, "inputs", name))
    assert secret not in json.dumps(cluster.history(name).events)
