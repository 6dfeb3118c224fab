# SPDX-License-Identifier: Apache-2.0
"""Reads events from a Kafka topic, each exactly once: offsets are stored in the transaction of the events.

All partitions are read by one thread. A record that is no valid event is counted and logged with its offset; it stays
in the topic.
"""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from threading import Event as Signal
from threading import Thread
from typing import TYPE_CHECKING, Protocol

from lineage.events import EventError, JsonObject
from lineage.ingress.kafka_source import KafkaSource
from lineage.store import QueueFull, StoreError
from lineage.store.event_store import EventStore
from lineage.store.offsets import Offsets, Partition

if TYPE_CHECKING:
    from confluent_kafka import Consumer, Message

logger = logging.getLogger(__name__)

_MAX_RECORDS = 200
"""Records that are stored in one transaction."""

_MAX_BYTES = 4 * 2**20
"""Bytes of records after which a transaction ends; the service's queue is bounded too."""

_POLL_SECONDS = 0.5
_METADATA_SECONDS = 30.0
"""Interval of looking for new partitions."""

_REQUEST_SECONDS = 5.0
"""Timeout of a request to the brokers; the service does not stop before its end."""

_FIRST_DELAY, _MAX_DELAY = 0.1, 10.0
"""Seconds before a retry."""


class IngressTarget(Protocol):
    """The service, which belongs to the event loop."""

    async def ingest_records(self, contents: Sequence[bytes], offsets: Offsets) -> list[tuple[int, EventError]]:
        """Store events with the offsets up to which they were read; return index and cause of each refused one."""


class KafkaIngress:
    """Reader of one topic. `start` it once, end it with `close`."""

    def __init__(self, target: IngressTarget, log: EventStore, source: KafkaSource) -> None:
        self._target = target
        self._log = log
        self._source = source
        self._stopping = Signal()
        self._thread: Thread | None = None
        self._next: Offsets = {}
        self._ends: Offsets = {}
        self._counts: Counter[str] = Counter()
        self._last_error: str | None = None

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        """Start reading where the last transaction ended."""
        self._thread = Thread(target=self._run, args=(loop,), name="kafka-ingress")
        self._thread.start()

    async def close(self) -> None:
        """Stop reading after the records in progress."""
        self._stopping.set()
        if self._thread is not None:
            await asyncio.to_thread(self._thread.join)

    def status(self) -> JsonObject:
        """Return counts of records since the start: `received`, `refused`, `empty`, `lost`.

        `behind` counts records not read yet, `lost` those that the topic's retention removed before they were read.
        `lastError` is the error that reading waits on, or None.
        """
        ends = dict(self._ends)
        return {
            "topic": self._source.topic,
            **{name: self._counts[name] for name in ("received", "refused", "empty", "lost")},
            "behind": sum(max(0, end - self._next.get(partition, 0)) for partition, end in ends.items()),
            "lastError": self._last_error,
        }

    def _run(self, loop: asyncio.AbstractEventLoop) -> None:
        delay = _FIRST_DELAY
        while not self._stopping.is_set():
            try:
                self._next = {**self._log.offsets.of_topic(self._source.topic), **self._next}
                self._read_topic(loop)
            except Exception as error:
                # The thread must survive any error: brokers, disk and configuration may be repaired meanwhile.
                if str(error) != self._last_error:
                    logger.error("reading topic %s failed, it is retried: %s", self._source.topic, error)
                self._last_error = str(error)
                self._stopping.wait(delay)
                delay = min(_MAX_DELAY, delay * 2)
            else:
                delay = _FIRST_DELAY

    def _read_topic(self, loop: asyncio.AbstractEventLoop) -> None:
        """Read with one consumer until the service stops.

        Raises:
            KafkaException: the broker or the topic is unavailable.
            StoreError: events cannot be stored.
        """
        # Imported here: without a topic, the service does not load the client library.
        from confluent_kafka import Consumer

        consumer = Consumer(self._source.client_settings(), logger=logger)
        try:
            looked_up = 0.0
            while not self._stopping.is_set():
                if time.monotonic() >= looked_up + _METADATA_SECONDS:
                    self._assign_partitions(consumer)
                    looked_up = time.monotonic()
                messages = consumer.consume(_MAX_RECORDS, _POLL_SECONDS)
                for part in _parts(self._valid_messages(consumer, messages)):
                    self._store(loop, part)
                self._last_error = None
                self._note_ends(consumer)
        finally:
            consumer.close()

    def _assign_partitions(self, consumer: "Consumer") -> None:
        """Assign all partitions of the topic, if there are new ones."""
        from confluent_kafka import KafkaException, TopicPartition

        topic = consumer.list_topics(self._source.topic, _REQUEST_SECONDS).topics[self._source.topic]
        if topic.error is not None:
            raise KafkaException(topic.error)
        found = {Partition(self._source.topic, number) for number in topic.partitions}
        if {Partition(one.topic, one.partition) for one in consumer.assignment()} != found:
            consumer.assign([TopicPartition(*one, self._next.get(one, 0)) for one in sorted(found)])

    def _valid_messages(self, consumer: "Consumer", messages: "list[Message]") -> "list[Message]":
        """Return the records; continue at the beginning of a partition whose next record is gone."""
        from confluent_kafka import KafkaError, KafkaException

        valid = []
        for message in messages:
            error = message.error()
            if error is None:
                valid.append(message)
            elif error.code() == KafkaError._AUTO_OFFSET_RESET:
                self._continue_at_beginning(consumer, Partition(self._source.topic, message.partition() or 0))
            elif error.fatal() or not error.retriable():
                raise KafkaException(error)
        return valid

    def _continue_at_beginning(self, consumer: "Consumer", partition: Partition) -> None:
        from confluent_kafka import TopicPartition

        low, _ = consumer.get_watermark_offsets(TopicPartition(*partition), _REQUEST_SECONDS)
        expected = self._next.get(partition, 0)
        self._counts["lost"] += max(0, low - expected)
        logger.error(
            "record %d of partition %d of topic %s is gone; reading continues at %d",
            *(expected, partition.number, partition.topic, low),
        )
        self._next[partition] = low
        # A partition that has failed cannot be moved alone. Records of others that are read again are duplicates.
        consumer.assign([TopicPartition(*one, self._next.get(one, 0)) for one in self._assigned(consumer)])

    def _assigned(self, consumer: "Consumer") -> list[Partition]:
        return [Partition(one.topic, one.partition) for one in consumer.assignment()]

    def _store(self, loop: asyncio.AbstractEventLoop, messages: "list[Message]") -> None:
        """Store the events of records and the offsets after them in one transaction; wait while that is impossible."""
        offsets: Offsets = {}
        for message in messages:
            offsets[Partition(message.topic() or "", message.partition() or 0)] = (message.offset() or 0) + 1
        filled = [message for message in messages if message.value()]
        contents = [message.value() or b"" for message in filled]
        delay = _FIRST_DELAY
        while offsets:
            try:
                storing = self._target.ingest_records(contents, offsets)
                refused = asyncio.run_coroutine_threadsafe(storing, loop).result()
            except (QueueFull, StoreError) as error:
                if self._stopping.is_set():
                    return
                self._last_error = f"events cannot be stored: {error!r}"
                self._stopping.wait(delay)
                delay = min(_MAX_DELAY, delay * 2)
                continue
            self._next.update(offsets)
            self._counts.update(received=len(messages), empty=len(messages) - len(filled), refused=len(refused))
            self._report_refused([(filled[index], error) for index, error in refused])
            return

    def _report_refused(self, refused: "list[tuple[Message, EventError]]") -> None:
        for message, error in refused[:3]:
            where = f"{message.topic()}[{message.partition()}] offset {message.offset()}"
            logger.warning("the record at %s is no event: %s", where, error)
        if len(refused) > 3:
            logger.warning("%d more records of the same read are no events", len(refused) - 3)

    def _note_ends(self, consumer: "Consumer") -> None:
        from confluent_kafka import TopicPartition

        for partition in self._assigned(consumer):
            _, high = consumer.get_watermark_offsets(TopicPartition(*partition), cached=True)
            if high >= 0:
                self._ends[partition] = high


def _parts(messages: "list[Message]") -> "Iterator[list[Message]]":
    """Yield the records in parts of about `_MAX_BYTES`."""
    part, size = [], 0
    for message in messages:
        part.append(message)
        size += len(message.value() or b"")
        if size >= _MAX_BYTES:
            yield part
            part, size = [], 0
    if part:
        yield part
