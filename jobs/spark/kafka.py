# SPDX-License-Identifier: Apache-2.0
"""Reads a topic as a stream, and knows it again: a topic that was made anew has another id.

Only what is committed is read: of a transaction that was given up, or is still open, there is nothing to see.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from py4j.protocol import Py4JJavaError
from pyspark.sql import DataFrame, SparkSession

from jobs.spark.runtime import JobError, root_cause
from lineagelab_spark.java import JavaObject

TIMEOUT_MS = 15_000


@dataclass(frozen=True)
class TopicIdentity:
    """Which topic it is, whatever its name and its broker's address: what Kafka itself calls them."""

    cluster: str
    topic: str


def identity(spark: SparkSession, bootstrap: str, topic: str) -> TopicIdentity:
    """The identity of a topic.

    Raises:
        JobError: the topic is not there, or no broker answers.
    """
    try:
        with _admin(spark, bootstrap) as admin:
            described = admin.describeTopics([topic]).allTopicNames().get().get(topic)
            return TopicIdentity(admin.describeCluster().clusterId().get(), described.topicId().toString())
    except Py4JJavaError as error:
        raise JobError(
            f"cannot describe topic {topic!r} at {bootstrap}: {root_cause(error).rstrip('.')}. "
            "Check that Kafka runs there and that the topic exists"
        ) from error


def stream(spark: SparkSession, bootstrap: str, topic: str, max_records: int) -> DataFrame:
    """The records of a topic from its beginning: `key`, `value`, `partition`, `offset`, `timestamp` and others.

    Args:
        spark: the session.
        bootstrap: `host:port` of a broker.
        topic: its name.
        max_records: as many go into a batch at most, so that a long queue is worked off in parts.
    """
    return (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", bootstrap)
        .option("kafka.isolation.level", "read_committed")
        .option("subscribe", topic)
        .option("startingOffsets", "earliest")
        .option("failOnDataLoss", True)
        .option("maxOffsetsPerTrigger", max_records)
        .load()
    )


def explained(error: BaseException) -> BaseException:
    """What ended a query over a topic, in words that say what to do where records are gone; else the error itself."""
    text = str(error)
    if isinstance(error, JobError) or not any(sign in text for sign in _SIGNS_OF_LOSS):
        return error
    return JobError(
        "cannot go on reading the topic: records that the query has not read yet are no longer there. Either they "
        "were deleted (set retention.ms and retention.bytes of the topic to -1, and write them again), or the topic "
        f"was made anew. {REMEDY}. Kafka says: {root_cause(error)}"
    )


_SIGNS_OF_LOSS = ("Some data may have been lost", "deleted and re-created", "OffsetOutOfRangeException")

REMEDY = (
    "Delete the query's checkpoint and start it again: the topic is then read from its beginning, and what is in "
    "the tables already is not written a second time"
)


@contextmanager
def _admin(spark: SparkSession, bootstrap: str) -> Iterator[JavaObject]:
    jvm: JavaObject = spark._jvm
    settings = jvm.java.util.HashMap()
    settings.put("bootstrap.servers", bootstrap)
    settings.put("default.api.timeout.ms", str(TIMEOUT_MS))
    settings.put("request.timeout.ms", str(TIMEOUT_MS))
    admin = jvm.org.apache.kafka.clients.admin.Admin.create(settings)
    try:
        yield admin
    finally:
        admin.close()
