# SPDX-License-Identifier: Apache-2.0
"""Kafka topics as streams, and their identity: a recreated topic has another id.

Streams use isolation level `read_committed`: records of aborted or open transactions are not read.
"""

import os
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
    """Kafka's cluster id and topic id, which are independent of topic name and broker address."""

    cluster: str
    topic: str


def identity(spark: SparkSession, bootstrap: str, topic: str) -> TopicIdentity:
    """Return the identity of a topic.

    Raises:
        JobError: the topic does not exist, or no broker responds.
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
    """Return a stream of a topic from its beginning: `key`, `value`, `partition`, `offset`, `timestamp` and others.

    Args:
        spark: session of the driver.
        bootstrap: `host:port` of a broker.
        topic: topic name.
        max_records: maximum records per batch, so that a backlog is processed in several batches.
    """
    return (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", bootstrap)
        .options(**{f"kafka.{name}": value for name, value in _security().items()})
        .option("kafka.isolation.level", "read_committed")
        .option("subscribe", topic)
        .option("startingOffsets", "earliest")
        .option("failOnDataLoss", True)
        .option("maxOffsetsPerTrigger", max_records)
        .load()
    )


def with_data_loss_remedy(error: BaseException) -> BaseException:
    """Return an error with a remedy if the query failed because of lost records; otherwise the error itself."""
    text = str(error)
    if isinstance(error, JobError) or not any(marker in text for marker in _DATA_LOSS_MARKERS):
        return error
    return JobError(
        "cannot resume reading the topic: records that the query has not read are missing. Either they "
        "were deleted (set retention.ms and retention.bytes of the topic to -1, and write them again), or the topic "
        f"was recreated. {REMEDY}. Kafka's error: {root_cause(error)}"
    )


_DATA_LOSS_MARKERS = ("Some data may have been lost", "deleted and re-created", "OffsetOutOfRangeException")

REMEDY = (
    "Delete the query's checkpoint and restart the query: it reads the topic from the beginning, and rows that are "
    "already in the tables are not written again"
)


def _security() -> dict[str, str]:
    """Return how Kafka clients connect: as the lab says in the environment; its JVM has the login."""
    variables = {"security.protocol": "KAFKA_SECURITY_PROTOCOL", "sasl.mechanism": "KAFKA_SASL_MECHANISM"}
    return {name: os.environ[variable] for name, variable in variables.items() if variable in os.environ}


@contextmanager
def _admin(spark: SparkSession, bootstrap: str) -> Iterator[JavaObject]:
    jvm: JavaObject = spark._jvm
    settings = jvm.java.util.HashMap()
    settings.put("bootstrap.servers", bootstrap)
    for name, value in _security().items():
        settings.put(name, value)
    settings.put("default.api.timeout.ms", str(TIMEOUT_MS))
    settings.put("request.timeout.ms", str(TIMEOUT_MS))
    admin = jvm.org.apache.kafka.clients.admin.Admin.create(settings)
    try:
        yield admin
    finally:
        admin.close()
