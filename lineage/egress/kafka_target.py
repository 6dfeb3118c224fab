# SPDX-License-Identifier: Apache-2.0
"""Topic that events are published to: brokers, and the settings of the clients."""

from collections.abc import Mapping
from dataclasses import dataclass, field

_RECORD_OVERHEAD = 65_536
"""Bytes of a record beside the event."""

ClientSettings = dict[str, str | int | bool]


def max_record_bytes(max_event_bytes: int) -> int:
    """Return the size of the largest record: an event as a JSON string may have twice as many bytes."""
    return 2 * max_event_bytes + _RECORD_OVERHEAD


@dataclass(frozen=True, slots=True)
class KafkaTarget:
    """Topic of one partition; `config` are settings of librdkafka, such as those of SASL."""

    topic: str
    servers: str
    config: Mapping[str, str] = field(default_factory=dict, repr=False)

    def producer_settings(self, max_event_bytes: int) -> ClientSettings:
        """Return the settings of the producer.

        The topic's name is in the transactional id, so that a new instance of the service fences the previous one.

        Args:
            max_event_bytes: size of the largest event.
        """
        return {
            **self._common(),
            "transactional.id": f"lineage-service-{self.topic}",
            "transaction.timeout.ms": 60_000,
            "enable.idempotence": True,
            "compression.type": "zstd",
            "linger.ms": 20,
            "message.max.bytes": max_record_bytes(max_event_bytes),
        }

    def consumer_settings(self) -> ClientSettings:
        """Return the settings of the consumer that finds the last published event."""
        return {
            **self._common(),
            "group.id": f"lineage-service-{self.topic}",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "isolation.level": "read_committed",
        }

    def _common(self) -> ClientSettings:
        return {
            "allow.auto.create.topics": False,
            "reconnect.backoff.ms": 500,
            "log_level": 2,  # errors are in the service's log and status, once; the client would log each attempt
            **self.config,
            "bootstrap.servers": self.servers,
        }
