# SPDX-License-Identifier: Apache-2.0
"""Publishes all events of the log to a Kafka topic, in order of arrival, each exactly once.

Events are published in transactions. Which event is the last one is read from the topic, so that no position has to be
stored with a transaction. The position in the log keeps events that are not published from being compacted.
"""

import logging
import time
from collections.abc import Callable
from threading import Event as Signal
from threading import Thread
from typing import TYPE_CHECKING

from lineage.egress.event_record import hash_of_record, record_key, record_value
from lineage.egress.kafka_target import KafkaTarget, max_record_bytes
from lineage.events import EventError, JsonObject
from lineage.rules.event_reader import EventReader
from lineage.store.event_store import EventStore
from lineage.store.rows import StoredEvent

if TYPE_CHECKING:
    from confluent_kafka import Consumer, Message, Producer

logger = logging.getLogger(__name__)

_PAGE = 500
"""Events of a transaction; the log returns fewer if they are large."""

_REQUEST_SECONDS = 5.0
"""Timeout of a request to the brokers; the service does not stop before its end."""

_IDLE_SECONDS = 5.0
"""Time after which the log is read without a notification."""

_SAVE_SECONDS = 5.0
"""Time between two writes of the position, each of which delays commits of events."""

_FIRST_DELAY, _MAX_DELAY = 0.1, 10.0
"""Seconds before a retry with a new producer."""

_RETRY_SECONDS = 0.5
"""Time before a request is repeated."""

_LAST_RECORDS = 16
"""Offsets at the end of the topic that are searched for the last event; markers of transactions take some."""


class RecordTooLarge(Exception):
    """The topic refuses a record for its size."""


class KafkaEgress:
    """Publisher to one topic. `start` it once, end it with `close`."""

    def __init__(self, log: EventStore, reader: EventReader, target: KafkaTarget, max_event_bytes: int) -> None:
        self._log = log
        self._reader = reader
        self._target = target
        self._max_event_bytes = max_event_bytes
        self._stopping = Signal()
        self._news = Signal()
        self._thread: Thread | None = None
        self._cursor = 0
        self._saved = 0
        self._saved_at = 0.0
        self._published = 0
        self._last_error: str | None = None

    @property
    def position(self) -> str:
        """Return the name of the position in the log."""
        return f"publish to {self._target.topic}"

    def start(self) -> None:
        """Start after the last event in the topic."""
        self._thread = Thread(target=self._run, name="kafka-egress")
        self._thread.start()

    def notify(self) -> None:
        """Signal new events in the log."""
        self._news.set()

    def close(self) -> None:
        """Stop after the transaction in progress. Call it before the log is closed."""
        self._stopping.set()
        self._news.set()
        if self._thread is not None:
            self._thread.join()

    def status(self) -> JsonObject:
        """Return `published`, the events since the start; `behind` counts those not yet published.

        `lastError` is the error that publishing waits on, or None.
        """
        return {
            "topic": self._target.topic,
            "published": self._published,
            "behind": max(0, self._log.last() - self._cursor),
            "lastError": self._last_error,
        }

    def _run(self) -> None:
        delay = _FIRST_DELAY
        while not self._stopping.is_set():
            published = self._published
            try:
                self._publish_until_stopped()
            except Exception as error:
                # The thread must survive any error: brokers, disk and configuration may be repaired meanwhile.
                if str(error) != self._last_error:
                    logger.error("publishing to topic %s failed, it is retried: %s", self._target.topic, error)
                self._last_error = str(error)
                delay = _FIRST_DELAY if self._published > published else min(_MAX_DELAY, delay * 2)
                self._stopping.wait(delay)

    def _publish_until_stopped(self) -> None:
        """Publish with one producer until the service stops.

        Raises:
            KafkaException: the brokers or the topic are unavailable, or refuse an event.
            StoreError: the log cannot be read.
        """
        # Imported here: without a topic, the service does not load the client library.
        from confluent_kafka import Producer

        producer = Producer(self._target.producer_settings(self._max_event_bytes), logger=logger)
        try:
            # The previous producer, of this process or another one, cannot commit any more.
            self._while_running(lambda: producer.init_transactions(_REQUEST_SECONDS))
            self._cursor = self._published_through()
            while not self._stopping.is_set():
                self._news.clear()
                page = self._log.after(self._cursor, _PAGE)
                if page:
                    self._publish(producer, page)
                self._last_error = None
                self._save_position(force=False)
                if not page:
                    # Rows that are left out, such as damaged ones, may follow the last event.
                    self._news.wait(_IDLE_SECONDS)
            self._save_position(force=True)
        finally:
            producer.purge()

    def _while_running(self, request: Callable[[], object]) -> None:
        """Make a request, again after a timeout.

        Raises:
            KafkaException: the request failed, or the service stops.
        """
        from confluent_kafka import KafkaException

        while True:
            try:
                request()
            except KafkaException as error:
                if self._stopping.is_set() or not error.args[0].retriable():
                    raise
                self._last_error = str(error)
                self._stopping.wait(_RETRY_SECONDS)
            else:
                return

    def _published_through(self) -> int:
        """Return the number of the last event in the topic; that of the position if the topic has none of the log."""
        from confluent_kafka import Consumer, KafkaException, TopicPartition

        stored = self._log.position(self.position)
        consumer = Consumer(self._target.consumer_settings(), logger=logger)
        try:
            topic = consumer.list_topics(self._target.topic, _REQUEST_SECONDS).topics[self._target.topic]
            if topic.error is not None:
                raise KafkaException(topic.error)
            low, high = consumer.get_watermark_offsets(TopicPartition(self._target.topic, 0), _REQUEST_SECONDS)
            if high == 0:
                return 0  # A new topic gets all events of the log.
            last = _last_record(consumer, self._target.topic, low, high)
        finally:
            consumer.close()
        return max(stored, self._log.number(hash_of_record(last)) if last else 0)

    def _publish(self, producer: "Producer", page: list[StoredEvent]) -> None:
        """Publish events in one transaction.

        Raises:
            KafkaException: none of them is published.
            RecordTooLarge: the same, as the topic refuses one of them.
        """
        from confluent_kafka import KafkaError, KafkaException

        failed: list[KafkaError] = []

        def report(error: KafkaError | None, _message: "Message") -> None:
            if error is not None:
                failed.append(error)

        count = 0
        producer.begin_transaction()
        for stored in page:
            try:
                event = self._reader.event(stored.original, stored.accepted)
            except EventError:
                continue  # Older rules accepted it; it is a dead letter.
            value = record_value(event, stored.seq, stored.accepted)
            producer.produce(self._target.topic, value, record_key(event), partition=0, on_delivery=report)
            count += 1
        producer.flush(_REQUEST_SECONDS)
        if failed and failed[0].code() == KafkaError.MSG_SIZE_TOO_LARGE:
            raise RecordTooLarge(
                f"{failed[0]}: an event of position {page[0].seq} to {page[-1].seq} is too large for the topic; raise "
                f"its max.message.bytes to {max_record_bytes(self._max_event_bytes)}"
            )
        if failed:
            raise KafkaException(failed[0])
        self._while_running(lambda: producer.commit_transaction(_REQUEST_SECONDS))
        self._cursor = page[-1].seq
        self._published += count

    def _save_position(self, force: bool) -> None:
        """Store the position if it has moved, now or at most every `_SAVE_SECONDS`."""
        if self._cursor == self._saved or not (force or time.monotonic() >= self._saved_at + _SAVE_SECONDS):
            return
        self._log.set_position(self.position, self._cursor)
        self._saved, self._saved_at = self._cursor, time.monotonic()


def _last_record(consumer: "Consumer", topic: str, low: int, high: int) -> bytes:
    """Return the value of the last committed record of a topic; empty if there is none.

    Args:
        consumer: consumer that reads committed records, and reports the end of a partition.
        topic: topic of one partition.
        low: offset of its first record.
        high: offset after its last record or marker.

    Raises:
        KafkaException: the records cannot be read.
    """
    from confluent_kafka import KafkaError, KafkaException, TopicPartition

    start, span, found = high, _LAST_RECORDS, b""
    while not found and start > low:
        start, span = max(low, high - span), 4 * span
        consumer.assign([TopicPartition(topic, 0, start)])
        while True:
            message = consumer.poll(_REQUEST_SECONDS)
            if message is None:
                raise KafkaException(KafkaError(KafkaError._TIMED_OUT, f"reading the end of topic {topic} timed out"))
            error = message.error()
            if error is None:
                found = message.value() or b""
            elif error.code() == KafkaError._PARTITION_EOF:
                break
            else:
                raise KafkaException(error)
    return found
