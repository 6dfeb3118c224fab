# SPDX-License-Identifier: Apache-2.0
"""Streaming queries that read the topics that match a pattern, of a real broker."""

import re
from collections.abc import Callable, Iterator

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from infra.toolchain import Artifacts
from lineagelab_spark import BatchOutputs, QueryLineage
from tests.bench.partial_lab import PartialLab
from tests.bench.stream_services import running_broker
from tests.stack.polling import until
from tests.unit.spark.test_spark_query_runs import (  # noqa: F401 - fixtures
    TABLE,
    Event,
    Make,
    Service,
    Stream,
    lineage,
    names,
    service,
    stream,
)

pytestmark = pytest.mark.slow

Start = Callable[[QueryLineage, DataStreamWriter], StreamingQuery]


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running_broker(PartialLab(tmp_path_factory.mktemp("broker"), Artifacts.open(), {})) as address:
        yield address


class Topics:
    """Topics of one test; their names begin with that of the test."""

    def __init__(self, broker: str, prefix: str) -> None:
        self.broker = broker
        self._prefix = prefix
        self._admin = AdminClient({"bootstrap.servers": broker})

    def name(self, topic: str) -> str:
        return f"{self._prefix}_{topic}"

    def create(self, *topics: str) -> None:
        for made in self._admin.create_topics([NewTopic(self.name(topic), 1) for topic in topics]).values():
            made.result()
        for topic in topics:
            self.write(topic)

    def write(self, topic: str) -> None:
        producer = Producer({"bootstrap.servers": self.broker})
        producer.produce(self.name(topic), key=b"a", value=b"1")
        assert producer.flush(60) == 0

    def frame(self, spark: SparkSession, pattern: str) -> DataFrame:
        source = spark.readStream.format("kafka").option("kafka.bootstrap.servers", self.broker)
        source = source.option("subscribePattern", self.name(pattern)).option("startingOffsets", "earliest")
        source = source.option("kafka.metadata.max.age.ms", "1000")
        return source.load().selectExpr("CAST(key AS string) AS id", "CAST(CAST(value AS string) AS bigint) AS price")


@pytest.fixture
def topics(broker: str, request: pytest.FixtureRequest) -> Topics:
    return Topics(broker, re.sub(r"\W", "_", request.node.name))


def to_table(made: QueryLineage, writer: DataStreamWriter) -> StreamingQuery:
    return made.to_table(writer, TABLE)


def foreach_batch(made: QueryLineage, writer: DataStreamWriter) -> StreamingQuery:
    def write(batch: DataFrame, _: int, outputs: BatchOutputs) -> None:
        outputs.append(batch, TABLE)

    return made.foreach_batch(writer, write)


WAYS = pytest.mark.parametrize("start", [to_table, foreach_batch], ids=lambda way: way.__name__)


def origins(event: Event, column: str) -> set[tuple[str, str]]:
    (output,) = event["outputs"]
    facet = output["facets"]["columnLineage"]
    assert "unknownFields" not in facet, facet
    return {(found["name"], found["field"]) for found in facet["fields"][column]["inputFields"]}


@WAYS
def test_topics_that_match_are_inputs_of_each_event(
    start: Start,
    stream: Stream,  # noqa: F811
    service: Service,  # noqa: F811
    lineage: Make,  # noqa: F811
    topics: Topics,
    spark: SparkSession,
    caplog: pytest.LogCaptureFixture,
) -> None:
    topics.create("orders_a", "orders_b", "bids")
    made, name = lineage(), f"pattern_{start.__name__}"
    start(made, stream.writer(name, topics.frame(spark, "orders_.*"), availableNow=True)).awaitTermination()
    made.close()

    assert service.kinds(name) in (["START", "COMPLETE"], ["START", "RUNNING", "COMPLETE"])
    both = [topics.name("orders_a"), topics.name("orders_b")]
    for event in service.of(name):
        assert sorted(names(event["inputs"])) == both
        assert {each["namespace"] for each in event["inputs"]} == {f"kafka://{topics.broker}"}
        assert origins(event, "id") == {(topic, "_key") for topic in both}
        assert origins(event, "price") == {(topic, "_value") for topic in both}
    assert stream.rows(TABLE) == 2
    assert "pattern" not in caplog.text


def test_a_topic_that_is_created_later_becomes_an_input(
    stream: Stream,  # noqa: F811
    service: Service,  # noqa: F811
    lineage: Make,  # noqa: F811
    topics: Topics,
    spark: SparkSession,
) -> None:
    service.tolerated = frozenset({"run-datasets-late"})  # type: ignore[misc]
    topics.create("orders_a")
    made, name = lineage(), "growing_pattern"
    query = to_table(made, stream.writer(name, topics.frame(spark, "orders_.*")))
    service.wait_for_kind(name, "START")
    assert names(service.of(name)[0]["inputs"]) == [topics.name("orders_a")]
    topics.create("orders_b")
    until(lambda: stream.rows(TABLE) == 2)
    query.stop()
    made.close()

    assert service.kinds(name)[-1] == "ABORT"
    assert sorted(names(service.of(name)[-1]["inputs"])) == [topics.name("orders_a"), topics.name("orders_b")]


def test_a_query_without_a_topic_that_matches_says_so(
    stream: Stream,  # noqa: F811
    service: Service,  # noqa: F811
    lineage: Make,  # noqa: F811
    topics: Topics,
    spark: SparkSession,
) -> None:
    made, name = lineage(interval=1), "empty_pattern"
    query = to_table(made, stream.writer(name, topics.frame(spark, "orders_.*")))
    service.wait_for_kind(name, "RUNNING")
    query.stop()
    made.close()

    last = service.of(name)[-1]
    assert last["inputs"] == []
    (output,) = last["outputs"]
    assert "a topic pattern at" in output["facets"]["columnLineage"]["unknownBecause"][0]
