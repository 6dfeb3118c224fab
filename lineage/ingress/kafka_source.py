# SPDX-License-Identifier: Apache-2.0
"""Source of events in Kafka: topic, brokers, and the settings of the client."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

_OURS = frozenset(
    {
        "enable.auto.commit",
        "enable.auto.offset.store",
        "auto.offset.reset",
        "isolation.level",
        "transactional.id",
        "enable.idempotence",
    }
)
"""Settings on which exactly-once reading and publishing depend."""


class KafkaSourceError(ValueError):
    """The settings cannot be used; the message gives the cause and the remedy."""


@dataclass(frozen=True, slots=True)
class KafkaSource:
    """Topic with one OpenLineage event per record; `config` are settings of librdkafka, such as those of SASL."""

    topic: str
    servers: str
    config: Mapping[str, str] = field(default_factory=dict, repr=False)

    def client_settings(self) -> dict[str, str | int | bool]:
        """Return the settings of the consumer.

        Offsets are kept with the events, not by the broker, so the group is a name in the broker's logs only.
        """
        return {
            "group.id": "lineage-service",
            "queued.max.messages.kbytes": 16_384,
            "allow.auto.create.topics": False,
            "reconnect.backoff.ms": 500,
            "log_level": 2,  # errors are in the service's log and status, once; the client would log each attempt
            **self.config,
            "bootstrap.servers": self.servers,
            "enable.auto.commit": False,
            "enable.auto.offset.store": False,
            "auto.offset.reset": "error",
            "isolation.level": "read_committed",
        }


def read_client_config(path: Path) -> dict[str, str]:
    """Read a file of settings: `name=value` lines, `#` for comments.

    Raises:
        KafkaSourceError: the file cannot be read, a line has another form, or a setting is the service's own.
    """
    found: dict[str, str] = {}
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise KafkaSourceError(f"cannot read --kafka-config {path}: {error}") from error
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        name, separator, value = (part.strip() for part in line.partition("="))
        if not separator or not name:
            raise KafkaSourceError(f"--kafka-config {path}, line {number}: write it as name=value")
        if name in _OURS:
            raise KafkaSourceError(f"--kafka-config {path}, line {number}: the service sets {name}; remove it")
        found[name] = value
    return found
