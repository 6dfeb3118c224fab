# SPDX-License-Identifier: Apache-2.0
"""Writes the shop's orders and bids to Kafka, at a rate, and takes up where the last run left off."""

import io
import json
import logging
import threading
import time
from collections.abc import Iterator

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer, TopicPartition
from fastavro import parse_schema, schemaless_writer

from jobs.schemas import schema_text
from jobs.shop.orders import Mix, messages

NUMBER_HEADER = "order-number"
PATIENCE_SECONDS = 30
TICK_SECONDS = 0.05

log = logging.getLogger(__name__)


class DeliveryError(Exception):
    """Kafka gave a message up for good, or could not be asked."""


class ShopWriter:
    """Writes orders and their bids. The value of each message is a plain Avro datum."""

    def __init__(self, bootstrap: str, orders_topic: str, bids_topic: str, mix: Mix) -> None:
        self._bootstrap = bootstrap
        self._orders_topic = orders_topic
        self._bids_topic = bids_topic
        self._mix = mix
        self._schemas = {topic: parse_schema(json.loads(schema_text(topic))) for topic in (orders_topic, bids_topic)}
        self._producer = Producer(
            {"bootstrap.servers": bootstrap, "enable.idempotence": True, "linger.ms": 20}, logger=log
        )
        self._failure: DeliveryError | None = None

    def run(self, rate: float, count: int, stop: threading.Event) -> None:
        """Writes `rate` orders a second until `stop` is set or `count` orders are out (0: no end).

        Raises:
            DeliveryError: Kafka refused a message for good; what was acknowledged before is not repeated
                by the next run.
        """
        first = self._next_number()
        log.info("writing orders from number %d on, %s a second", first, rate)
        started = time.monotonic()
        for number, placed in messages(self._mix, first, _clock_ms()):
            if count and number - first >= count:
                break
            due = started + (number - first) / rate
            while (wait := due - time.monotonic()) > 0 and not stop.is_set():
                self._producer.poll(0)
                stop.wait(min(wait, TICK_SECONDS))
            if stop.is_set() or self._failure:
                break
            self._write(self._orders_topic, placed.order_id, placed.record(), number)
            self._write(self._bids_topic, placed.order_id, placed.bid_record(), number)
        self._finish()

    def _write(self, topic: str, key: str, record: dict[str, str | int], number: int) -> None:
        buffer = io.BytesIO()
        schemaless_writer(buffer, self._schemas[topic], record)
        while True:
            try:
                self._producer.produce(
                    topic,
                    key=key,
                    value=buffer.getvalue(),
                    headers={NUMBER_HEADER: str(number)},
                    on_delivery=self._delivered,
                )
                return
            except BufferError:  # the queue is full: the broker is slow or away, so wait for it
                self._producer.poll(TICK_SECONDS)

    def _delivered(self, error: KafkaError | None, message: Message) -> None:
        if error is not None and self._failure is None:
            self._failure = DeliveryError(
                f"writing to topic {message.topic()} at {self._bootstrap} failed for good: {error.str()}. "
                "Is the broker up, and does the topic exist?"
            )

    def _finish(self) -> None:
        left = self._producer.flush(PATIENCE_SECONDS)
        if self._failure:
            raise self._failure
        if left:
            raise DeliveryError(
                f"{left} messages were not acknowledged by {self._bootstrap} within {PATIENCE_SECONDS} s "
                "of stopping; the next run writes them"
            )

    def _next_number(self) -> int:
        """One more than the highest order number that the orders topic holds."""
        consumer = Consumer(
            {
                "bootstrap.servers": self._bootstrap,
                "group.id": "shop-resume",
                "enable.auto.commit": False,
                "enable.partition.eof": True,
            },
            logger=log,
        )
        try:
            return max((_last_number(consumer, place) for place in self._ends(consumer)), default=-1) + 1
        except KafkaException as error:
            raise DeliveryError(
                f"reading the last orders of topic {self._orders_topic} at {self._bootstrap} failed: {error}"
            ) from error
        finally:
            consumer.close()

    def _ends(self, consumer: Consumer) -> list[TopicPartition]:
        """The last message's place in each partition that has one."""
        metadata = consumer.list_topics(self._orders_topic, timeout=PATIENCE_SECONDS)
        ends = []
        for partition in metadata.topics[self._orders_topic].partitions:
            place = TopicPartition(self._orders_topic, partition)
            low, high = consumer.get_watermark_offsets(place, timeout=PATIENCE_SECONDS)
            if high > low:
                ends.append(TopicPartition(self._orders_topic, partition, high - 1))
        return ends


def _last_number(consumer: Consumer, place: TopicPartition) -> int:
    consumer.assign([place])
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        message = consumer.poll(1)
        if message is None or message.error():
            continue
        return _number(message)
    raise DeliveryError(
        f"the last message of {place.topic}[{place.partition}] could not be read within {PATIENCE_SECONDS} s"
    )


def _number(message: Message) -> int:
    """The order number that the shop put on its message; -1 on a message of somebody else's."""
    value = dict(message.headers() or []).get(NUMBER_HEADER)
    return int(value) if value is not None and value.isdigit() else -1


def _clock_ms() -> Iterator[int]:
    while True:
        yield time.time_ns() // 1_000_000
