# SPDX-License-Identifier: Apache-2.0
"""Writes the shop's orders and bids to Kafka, at a rate, and takes up where the last run was cut short."""

import io
import json
import logging
import threading
import time
from collections.abc import Iterator

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer, TopicPartition
from fastavro import parse_schema, schemaless_writer

from jobs.schemas import schema_text
from jobs.shop.orders import Mix, messages, order
from jobs.shop.resume import IN_FLIGHT, WINDOW, Resume, resume

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
            {
                "bootstrap.servers": bootstrap,
                "enable.idempotence": True,
                "linger.ms": 20,
                "queue.buffering.max.messages": IN_FLIGHT,
            },
            logger=log,
        )
        self._failure: DeliveryError | None = None

    def run(self, rate: float, count: int, stop: threading.Event) -> None:
        """Writes `rate` orders a second until `stop` is set or `count` orders are out (0: no end).

        Raises:
            DeliveryError: Kafka refused a message for good; the next run writes what is missing, and no more.
        """
        first = self._take_up().first
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

    def _take_up(self) -> Resume:
        """Writes what an earlier run owes, and says where to go on."""
        found = resume(self._recent_numbers(self._orders_topic), self._recent_numbers(self._bids_topic))
        now = next(_clock_ms())
        for number in found.orders:
            placed = order(self._mix, number, now)
            self._write(self._orders_topic, placed.order_id, placed.record(), number)
        for number in found.bids:
            placed = order(self._mix, number, now)
            self._write(self._bids_topic, placed.order_id, placed.bid_record(), number)
        if found.orders or found.bids:
            log.info("an earlier run owed %d orders and %d bids", len(found.orders), len(found.bids))
        return found

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

    def _recent_numbers(self, topic: str) -> frozenset[int]:
        """The order numbers on the last messages of each partition."""
        consumer = Consumer(
            {"bootstrap.servers": self._bootstrap, "group.id": "shop-resume", "enable.auto.commit": False},
            logger=log,
        )
        try:
            partitions = consumer.list_topics(topic, timeout=PATIENCE_SECONDS).topics[topic].partitions
            return frozenset(number for partition in partitions for number in _numbers(consumer, topic, partition))
        except KafkaException as error:
            raise DeliveryError(
                f"reading the last messages of topic {topic} at {self._bootstrap} failed: {error}"
            ) from error
        finally:
            consumer.close()


def _numbers(consumer: Consumer, topic: str, partition: int) -> frozenset[int]:
    """The numbers in a partition's last messages; of all of them, where the last are somebody else's."""
    low, high = consumer.get_watermark_offsets(TopicPartition(topic, partition), timeout=PATIENCE_SECONDS)
    recent = frozenset(_read(consumer, TopicPartition(topic, partition, max(low, high - WINDOW)), high))
    if recent or high - low <= WINDOW:
        return recent
    return frozenset(_read(consumer, TopicPartition(topic, partition, low), high))


def _read(consumer: Consumer, start: TopicPartition, end: int) -> Iterator[int]:
    """The order numbers from `start` up to the offset `end`."""
    at = start.offset
    if at >= end:
        return
    consumer.assign([start])
    deadline = time.monotonic() + PATIENCE_SECONDS
    while at < end:
        for message in consumer.consume(1000, timeout=1):
            if message.error():
                raise KafkaException(message.error())
            offset = message.offset()
            at = offset + 1 if offset is not None else at
            number = _number(message)
            if number is not None:
                yield number
            deadline = time.monotonic() + PATIENCE_SECONDS
        if at < end and time.monotonic() > deadline:
            raise DeliveryError(
                f"{start.topic}[{start.partition}] could not be read from offset {at} to {end}: "
                f"nothing came for {PATIENCE_SECONDS} s"
            )


def _number(message: Message) -> int | None:
    """The order number that the shop put on its message; None on a message of somebody else's."""
    value = dict(message.headers() or []).get(NUMBER_HEADER)
    return int(value) if value is not None and value.isdigit() else None


def _clock_ms() -> Iterator[int]:
    while True:
        yield time.time_ns() // 1_000_000
