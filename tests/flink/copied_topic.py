# SPDX-License-Identifier: Apache-2.0
"""SQL job that copies one topic to another, exactly once, and a reader of the copies."""

import json

from confluent_kafka import Consumer, TopicPartition

from tests.flink.launched import until

SOURCE = """
CREATE TEMPORARY TABLE numbers (id BIGINT, word STRING) WITH (
  'connector' = 'kafka', 'topic' = '{topic}', 'properties.bootstrap.servers' = '${{KAFKA_BOOTSTRAP}}',
  'properties.group.id' = '{topic}', 'scan.startup.mode' = 'earliest-offset', {bounded}'format' = 'json');
"""
BOUNDED = "'scan.bounded.mode' = 'latest-offset', "
SINK = """
CREATE TEMPORARY TABLE copies (id BIGINT, word STRING) WITH (
  'connector' = 'kafka', 'topic' = '{topic}_out', 'properties.bootstrap.servers' = '${{KAFKA_BOOTSTRAP}}',
  'sink.delivery-guarantee' = 'exactly-once', 'sink.transactional-id-prefix' = '{topic}',
  'properties.transaction.timeout.ms' = '60000', 'format' = 'json');
"""
COPY = "INSERT INTO copies SELECT id, UPPER(word) FROM numbers WHERE id >= 0;"


def sql(topic, statement=COPY, *, bounded=False):
    """Return a script that copies one topic to another."""
    return (SOURCE + SINK).format(topic=topic, bounded=BOUNDED if bounded else "") + statement


def produce(broker, topic, numbers):
    broker.produce(topic, [json.dumps({"id": number, "word": f"w{number}"}).encode() for number in numbers])


class Copies:
    """Consumer of copies, committed ones unless `isolation` says otherwise."""

    def __init__(self, broker, topic, isolation="read_committed"):
        settings = {"bootstrap.servers": broker.bootstrap, "group.id": "reader", "isolation.level": isolation}
        self._consumer = Consumer(settings)
        self._consumer.assign([TopicPartition(f"{topic}_out", 0, 0)])
        self.ids = []

    def await_all(self, count):
        """Wait for this many distinct copies, and assert that there are no duplicates."""

        def read():
            record = self._consumer.poll(0.5)
            if record is not None and not record.error():
                self.ids.append(json.loads(record.value())["id"])
            return len(set(self.ids)) >= count

        until(read, f"{count} copies, got {sorted(self.ids)}")
        assert sorted(self.ids) == list(range(count))

    def close(self):
        self._consumer.close()
