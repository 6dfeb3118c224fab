# SPDX-License-Identifier: Apache-2.0
"""Reads a fixed part of a topic: its ends are asked for once, so that every read of it sees the same records.

Only what is committed is read: of a transaction that was given up, or is still open, there is nothing to see.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from py4j.protocol import Py4JJavaError
from pyspark.sql import DataFrame, SparkSession

from jobs.spark.java import JavaObject
from jobs.spark.runtime import JobError, root_cause

TIMEOUT_MS = 15_000


@dataclass(frozen=True)
class TopicRange:
    """Offsets `start` to `end` (exclusive) of each partition. Ends of transactions take offsets without records."""

    bootstrap: str
    topic: str
    start: Mapping[int, int]
    end: Mapping[int, int]

    @property
    def is_empty(self) -> bool:
        return self.start == self.end

    @property
    def lost(self) -> int:
        """How many records are no longer there: deleted by age, size or hand."""
        return sum(self.start.values())


def whole_topic(spark: SparkSession, bootstrap: str, topic: str) -> TopicRange:
    """All that the topic has now, up to the first transaction that is still open.

    Raises:
        JobError: the topic is not there, or no broker answers.
    """
    try:
        return _whole_topic(spark, bootstrap, topic)
    except Py4JJavaError as error:
        raise JobError(
            f"cannot read the offsets of topic {topic!r} at {bootstrap}: {root_cause(error).rstrip('.')}. "
            "Check that Kafka runs there and that the topic exists"
        ) from error


def read(spark: SparkSession, part: TopicRange) -> DataFrame:
    """The records of the range: `key`, `value`, `topic`, `partition`, `offset`, `timestamp`, `timestampType`."""
    return (
        spark.read.format("kafka")
        .option("kafka.bootstrap.servers", part.bootstrap)
        .option("kafka.isolation.level", "read_committed")
        .option("subscribe", part.topic)
        .option("startingOffsets", _offsets(part.topic, part.start))
        .option("endingOffsets", _offsets(part.topic, part.end))
        .load()
    )


def _offsets(topic: str, offsets: Mapping[int, int]) -> str:
    return json.dumps({topic: {str(partition): offset for partition, offset in offsets.items()}})


def _whole_topic(spark: SparkSession, bootstrap: str, topic: str) -> TopicRange:
    jvm: JavaObject = spark._jvm
    settings = jvm.java.util.HashMap()
    settings.put("bootstrap.servers", bootstrap)
    settings.put("default.api.timeout.ms", str(TIMEOUT_MS))
    settings.put("request.timeout.ms", str(TIMEOUT_MS))
    clients = jvm.org.apache.kafka.clients.admin
    admin = clients.Admin.create(settings)
    try:
        described = admin.describeTopics(jvm.java.util.Collections.singletonList(topic))
        partitions = [p.partition() for p in described.allTopicNames().get().get(topic).partitions()]
        start = _list_offsets(jvm, admin, topic, partitions, clients.OffsetSpec.earliest())
        end = _list_offsets(jvm, admin, topic, partitions, clients.OffsetSpec.latest())
    finally:
        admin.close()
    return TopicRange(bootstrap, topic, start, end)


def _list_offsets(
    jvm: JavaObject, admin: JavaObject, topic: str, partitions: list[int], spec: JavaObject
) -> dict[int, int]:
    asked = jvm.java.util.HashMap()
    places = {p: jvm.org.apache.kafka.common.TopicPartition(topic, p) for p in partitions}
    for place in places.values():
        asked.put(place, spec)
    committed = jvm.org.apache.kafka.common.IsolationLevel.READ_COMMITTED
    options = jvm.org.apache.kafka.clients.admin.ListOffsetsOptions(committed)
    found = admin.listOffsets(asked, options).all().get()
    return {partition: int(found.get(place).offset()) for partition, place in places.items()}
