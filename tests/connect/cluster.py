# SPDX-License-Identifier: Apache-2.0
"""A Kafka cluster with Connect workers, and the lineage that comes from it, as a test sees them."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from tests.connect.endpoint import Endpoint
from tests.connect.rest import PATIENCE_SECONDS, Rest
from tests.connect.stories import Story
from tests.connect.worker import TRANSFORM

KAFKA_SECONDS = 60


@dataclass
class Cluster:
    """One broker at `bootstrap`, one group of workers, and the endpoint that gets their events."""

    bootstrap: str
    rest: Rest
    endpoint: Endpoint
    made: list[str] = field(default_factory=list)

    def topic(self, *names: str, partitions: int = 1) -> None:
        """New topics: the broker makes none by itself."""
        admin = AdminClient({"bootstrap.servers": self.bootstrap})
        for future in admin.create_topics([NewTopic(name, partitions, 1) for name in names]).values():
            future.result(KAFKA_SECONDS)

    def produce(self, topic: str, values: Iterable[bytes | None], key: bytes | None = None) -> None:
        """Records with these values, on the disk of the broker."""
        producer = Producer({"bootstrap.servers": self.bootstrap, "linger.ms": 0})
        for value in values:
            producer.produce(topic, value, key=key)
        assert producer.flush(KAFKA_SECONDS) == 0

    def values(self, topic: str) -> list[bytes | None]:
        """The value of every record that a topic has now; one that grows faster than it is read has an end, too."""
        settings = {"bootstrap.servers": self.bootstrap, "group.id": "reader", "enable.partition.eof": True}
        consumer = Consumer(settings)
        try:
            known = consumer.list_topics(topic, KAFKA_SECONDS).topics[topic].partitions
            starts = [TopicPartition(topic, partition, 0) for partition in known]
            ends = {start.partition: consumer.get_watermark_offsets(start, KAFKA_SECONDS)[1] for start in starts}
            consumer.assign(starts)
            found = []
            while ends:
                record = consumer.poll(KAFKA_SECONDS)
                assert record is not None, f"topic {topic} does not end"
                partition = record.partition()
                if not record.error() and record.offset() < ends.get(partition, 0):
                    found.append(record.value())
                if record.error() or record.offset() + 1 >= ends.get(partition, 0):
                    ends.pop(partition, None)
            return found
        finally:
            consumer.close()

    def create(self, name: str, config: dict[str, object], state: str = "RUNNING") -> None:
        """A connector that the test takes away at its end."""
        self.made.append(name)
        self.rest.create(name, config, state)

    def story(self, name: str) -> Story:
        """What has been told of a connector so far."""
        return Story.of(name, self.endpoint.events)

    def await_told(self, name: str, *wanted: str) -> Story:
        """Wait until the events of a connector, RUNNING left out, are these and no others."""
        arrived = self.endpoint.wait_for(lambda: self.story(name).told() == list(wanted), PATIENCE_SECONDS)
        assert arrived, f"{name}: told {self.story(name).told()}, not {list(wanted)}"
        return self.story(name)

    def await_event(self, name: str, what: str, matches: Any) -> dict[str, Any]:
        """Wait for the first event of a connector that `matches`, which is `what`."""

        def found() -> list[dict[str, Any]]:
            return [event for event in self.story(name).events if matches(event)]

        arrived = self.endpoint.wait_for(lambda: bool(found()), PATIENCE_SECONDS)
        assert arrived, f"{name}: no event {what}; the last one is {json.dumps(self.story(name).events[-1:])}"
        return found()[0]


def with_lineage(config: dict[str, object], **options: object) -> dict[str, object]:
    """The configuration with the lineage transform as the last of its transforms."""
    before = str(config.get("transforms", ""))
    added = {"transforms": f"{before},lineage" if before else "lineage", "transforms.lineage.type": TRANSFORM}
    return {**config, **added, **{f"transforms.lineage.{name}": value for name, value in options.items()}}


def source(*topics: str, **options: object) -> dict[str, object]:
    """A source that makes numbered records; `__` in an option's name stands for a dot."""
    return {
        "connector.class": "dev.lineagelab.testing.ScriptedSourceConnector",
        "tasks.max": 1,
        "topic": ",".join(topics),
        **_dotted(options),
    }


def sink(*topics: str, **options: object) -> dict[str, object]:
    """A sink that writes what it gets to a file."""
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
    """A record's value as the JSON converter reads it, with its schema; a field is text unless `types` says else."""
    known = types or {}
    schema = [{"field": name, "type": known.get(name, "string"), "optional": True} for name in fields]
    return json.dumps({"schema": {"type": "struct", "name": "Row", "fields": schema}, "payload": fields}).encode()


def lines_of(file: Path) -> Sequence[dict[str, Any]]:
    """What the scripted sink wrote: topic, key and value of each record."""
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
