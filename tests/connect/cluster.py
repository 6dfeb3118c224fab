# SPDX-License-Identifier: Apache-2.0
"""Kafka cluster with Connect workers, and the lineage events that its connectors emit."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from tests.connect.endpoint import Endpoint
from tests.connect.event_history import EventHistory, names, schema
from tests.connect.rest import TIMEOUT_SECONDS, Rest, until
from tests.connect.worker import TRANSFORM

KAFKA_TIMEOUT_SECONDS = 180


@dataclass
class Cluster:
    """One broker at `bootstrap`, one group of workers, and the endpoint that receives their events."""

    bootstrap: str
    rest: Rest
    endpoint: Endpoint
    created: list[str] = field(default_factory=list)

    def topic(self, *names: str, partitions: int = 1) -> None:
        """Create topics, as the broker does not create them automatically."""
        admin = AdminClient({"bootstrap.servers": self.bootstrap})
        for future in admin.create_topics([NewTopic(name, partitions, 1) for name in names]).values():
            future.result(KAFKA_TIMEOUT_SECONDS)

    def produce(self, topic: str, values: Iterable[bytes | None], key: bytes | None = None) -> None:
        """Produce records with these values and wait until they are acknowledged."""
        producer = Producer({"bootstrap.servers": self.bootstrap, "linger.ms": 0})
        for value in values:
            producer.produce(topic, value, key=key)
        assert producer.flush(KAFKA_TIMEOUT_SECONDS) == 0

    def values(self, topic: str) -> list[bytes | None]:
        """Return the values of all records in a topic up to its current end offsets."""
        settings = {"bootstrap.servers": self.bootstrap, "group.id": "reader", "enable.partition.eof": True}
        consumer = Consumer(settings)
        try:
            known = consumer.list_topics(topic, KAFKA_TIMEOUT_SECONDS).topics[topic].partitions
            beginnings = [TopicPartition(topic, partition, 0) for partition in known]
            ends = {
                start.partition: consumer.get_watermark_offsets(start, KAFKA_TIMEOUT_SECONDS)[1] for start in beginnings
            }
            consumer.assign(beginnings)
            found = []
            while ends:
                record = consumer.poll(KAFKA_TIMEOUT_SECONDS)
                assert record is not None, f"no record of topic {topic} within {KAFKA_TIMEOUT_SECONDS} s"
                partition = record.partition()
                if not record.error() and record.offset() < ends.get(partition, 0):
                    found.append(record.value())
                if record.error() or record.offset() + 1 >= ends.get(partition, 0):
                    ends.pop(partition, None)
            return found
        finally:
            consumer.close()

    def create(self, name: str, config: dict[str, object], state: str = "RUNNING") -> None:
        """Create a connector, which `delete_and_verify` deletes."""
        self.created.append(name)
        self.rest.create(name, config, state)

    def history(self, name: str) -> EventHistory:
        """Return the events of a connector that have arrived so far."""
        return EventHistory.of(name, self.endpoint.events)

    def await_transitions(self, name: str, *expected: str) -> EventHistory:
        """Wait until the transitions of a connector are exactly these."""
        arrived = self.endpoint.wait_for(lambda: self.history(name).transitions() == list(expected), TIMEOUT_SECONDS)
        assert arrived, f"{name}: transitions {self.history(name).transitions()}, expected {list(expected)}"
        return self.history(name)

    def await_event(self, name: str, description: str, matches: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
        """Wait for the first event of a connector that `matches`; `description` is for the error message."""

        def found() -> list[dict[str, Any]]:
            return [event for event in self.history(name).events if matches(event)]

        arrived = self.endpoint.wait_for(lambda: bool(found()), TIMEOUT_SECONDS)
        assert arrived, (
            f"{name}: no event {description}; the last event is {json.dumps(self.history(name).events[-1:])}"
        )
        return found()[0]


def life_cycle(
    cluster: Cluster, name: str, read: Callable[[], list[dict[str, Any]]], **options: object
) -> EventHistory:
    """Create and delete a connector with the transform; verify and return its events, as `read` returns them."""
    cluster.topic(name)
    cluster.create(name, with_lineage(source(name), **options))
    until(lambda: any(schema(event, "outputs", name) for event in read()), f"{name}: an event with a schema")
    cluster.rest.delete(name)
    until(lambda: "1 ABORT" in EventHistory.of(name, read()).transitions(), f"{name}: the end of the run")
    history = EventHistory.of(name, read())
    assert history.transitions() == ["1 START", "1 ABORT"]
    assert history.violations() == []
    assert names(history.last, "outputs") == {name}
    return history


def with_lineage(config: dict[str, object], **options: object) -> dict[str, object]:
    """Add the lineage transform to a configuration as the last of its transforms."""
    before = str(config.get("transforms", ""))
    added = {"transforms": f"{before},lineage" if before else "lineage", "transforms.lineage.type": TRANSFORM}
    return {**config, **added, **{f"transforms.lineage.{name}": value for name, value in options.items()}}


def source(*topics: str, **options: object) -> dict[str, object]:
    """Return the configuration of a source of numbered records; `__` in the name of an option is a dot."""
    return {
        "connector.class": "dev.lineagelab.testing.ScriptedSourceConnector",
        "tasks.max": 1,
        "topic": ",".join(topics),
        **_dotted(options),
    }


def sink(*topics: str, **options: object) -> dict[str, object]:
    """Return the configuration of a sink that writes its records to a file; `__` as in `source`."""
    return {
        "connector.class": "dev.lineagelab.testing.ScriptedSinkConnector",
        "tasks.max": 1,
        "topics": ",".join(topics),
        "consumer.override.auto.offset.reset": "earliest",
        "consumer.override.metadata.max.age.ms": 1000,
        "consumer.override.session.timeout.ms": 6000,
        **_dotted(options),
    }


def _dotted(options: dict[str, object]) -> dict[str, object]:
    return {name.replace("__", "."): value for name, value in options.items()}


def struct(fields: dict[str, object], types: dict[str, str] | None = None) -> bytes:
    """Encode a record value for the JSON converter, with its schema; the default type of a field is string."""
    known = types or {}
    schema = [{"field": name, "type": known.get(name, "string"), "optional": True} for name in fields]
    return json.dumps({"schema": {"type": "struct", "name": "Row", "fields": schema}, "payload": fields}).encode()


def lines_of(file: Path) -> Sequence[dict[str, Any]]:
    """Return topic, key and value of each record that the scripted sink wrote."""
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
