# SPDX-License-Identifier: Apache-2.0
"""Settings of the service and its command line."""

import argparse
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lineage.egress.kafka_target import KafkaTarget
from lineage.ingress.kafka_source import KafkaSource, KafkaSourceError, read_client_config
from lineage.store.postgres.address import PASSWORD, check_url

MIB = 2**20

OWN_NAME = "lineage"
"""Host name of the service in a network of containers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Settings of the service. Sizes in bytes; `max_store_bytes` 0 means no limit but the disk.

    `max_body_memory` bounds the bodies of all requests in progress, `queue_size` and `queue_bytes` the events that wait
    for the disk, `max_listeners` the open streams of changes.

    `checkpoint_seconds` is the shortest time between two checkpoints of the derived state.

    `retain` is the seconds after which events are compacted; None disables retention. `retain_namespaces` has those of
    the jobs of single namespaces.
    `forward_to` is the URL of a backend (Marquez) that every event is forwarded to, `forward_key` its API key. `page`
    is the built page's folder, `lab` a file that describes the lab around the service (see `lineage.api.lab`).

    `allowed_hosts` are host names of the service beside the loopback names, `allowed_origins` origins of other pages
    that may use it (see `lineage.access.hosts`). `keys` is a file of API keys; with it, or with `require_keys`, all
    requests need a key (see `lineage.access.keys`). `kafka` is a topic that events are read from,
    `publish` one that they are published to.

    `certificate` and `certificate_key` are PEM files with which the service has TLS; without them it has none.

    `webhooks` is a file of receivers of alerts (see `lineage.alerts.webhook`).

    `store` is the URL of the Postgres database that holds the log, without a password, which is in
    `store_password_file` or in the environment; None means a file of SQLite in `data`.
    """

    host: str
    port: int
    data: Path
    rules: Path | None
    max_event_bytes: int = 4 * MIB
    max_store_bytes: int = 0
    max_batch_bytes: int = 32 * MIB
    max_body_memory: int = 64 * MIB
    queue_size: int = 10_000
    queue_bytes: int = 64 * MIB
    max_connections: int = 512
    max_listeners: int = 64
    checkpoint_seconds: float = 60.0
    retain: float | None = None
    retain_namespaces: Mapping[str, float | None] = field(default_factory=dict)
    forward_to: str | None = None
    forward_key: str | None = field(default=None, repr=False)
    page: Path | None = None
    lab: Path | None = None
    allowed_hosts: tuple[str, ...] = (OWN_NAME,)
    allowed_origins: tuple[str, ...] = ()
    keys: Path | None = None
    webhooks: Path | None = None
    require_keys: bool = False
    kafka: KafkaSource | None = None
    publish: KafkaTarget | None = None
    certificate: Path | None = None
    certificate_key: Path | None = None
    store: str | None = None
    store_password_file: Path | None = None


def parse_arguments(arguments: Sequence[str]) -> Settings:
    """Parse the command line; argparse exits with code 2 on errors."""
    parser = argparse.ArgumentParser(prog="python -m lineage", description="The lineage service.")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: loopback)")
    parser.add_argument("--port", type=_port, default=5000, help="port; 0 takes a free one and prints it")
    parser.add_argument("--data", type=Path, required=True, help="directory of the event log, and of this instance")
    parser.add_argument("--rules", type=Path, help="naming rules, JSON; without them no name is changed")
    parser.add_argument("--max-event-bytes", type=_positive, default=4 * MIB, metavar="N")
    parser.add_argument("--max-batch-bytes", type=_positive, default=32 * MIB, metavar="N")
    parser.add_argument("--max-store-bytes", type=_positive, default=0, metavar="N")
    parser.add_argument(
        "--max-body-memory", type=_positive, default=64 * MIB, metavar="N", help="of all requests, bytes"
    )
    parser.add_argument("--queue-size", type=_positive, default=10_000, metavar="N", help="waiting events")
    parser.add_argument("--queue-bytes", type=_positive, default=64 * MIB, metavar="N", help="size of waiting events")
    parser.add_argument("--max-connections", type=_positive, default=512, metavar="N")
    parser.add_argument("--max-listeners", type=_positive, default=64, metavar="N", help="streams of changes")
    parser.add_argument(
        "--checkpoint-every",
        type=_duration,
        default=60.0,
        dest="checkpoint_seconds",
        metavar="DURATION",
        help="save what is derived from the events (default: 60s); a start reads the events since then",
    )
    parser.add_argument(
        "--retain", type=_duration, metavar="DURATION", help="compact older events (90s, 12h, 30d; default: never)"
    )
    parser.add_argument(
        "--retain-namespace",
        dest="retain_namespaces",
        action="append",
        default=[],
        type=_namespace_duration,
        metavar="NAMESPACE=DURATION",
        help="--retain of the jobs of one namespace, 'never' to keep their events; repeatable",
    )
    parser.add_argument(
        "--forward-to",
        type=_url,
        metavar="URL",
        help="forward every event, enriched, to Marquez or a compatible backend",
    )
    parser.add_argument(
        "--forward-key-file",
        type=_key_file,
        dest="forward_key",
        metavar="FILE",
        help="file with the API key that --forward-to requires, sent as bearer token",
    )
    parser.add_argument("--certificate", type=Path, metavar="FILE", help="PEM certificate of the service, for TLS")
    parser.add_argument("--certificate-key", type=Path, metavar="FILE", help="PEM file with its private key")
    parser.add_argument("--page", type=Path, metavar="DIR", help="the built lineage page, served at /")
    parser.add_argument("--lab", type=Path, metavar="FILE", help="services of the lab and its contract, JSON")
    parser.add_argument(
        "--allowed-host",
        dest="allowed_hosts",
        action="append",
        default=[OWN_NAME],
        metavar="NAME",
        help="host name of the service, .example.org for all below; repeatable (loopback and addresses are allowed)",
    )
    parser.add_argument(
        "--allowed-origin",
        dest="allowed_origins",
        action="append",
        default=[],
        type=_origin,
        metavar="ORIGIN",
        help="origin of another page that may send requests; repeatable",
    )
    parser.add_argument("--keys", type=Path, metavar="FILE", help="API keys, JSON; every request then needs one")
    parser.add_argument(
        "--require-keys", action="store_true", help="require a key, of --keys or LINEAGE_{INGEST,READ,ADMIN}_KEY"
    )
    parser.add_argument(
        "--webhooks",
        type=Path,
        metavar="FILE",
        help="receivers of alerts, JSON; without it: environment variable LINEAGE_WEBHOOKS",
    )
    _add_kafka_options(parser)
    _add_store_options(parser)
    found = vars(parser.parse_args(arguments))
    of_kafka = (found.pop(name) for name in ("kafka_topic", "publish_topic", "kafka_servers", "kafka_config"))
    found["kafka"], found["publish"] = _kafka_topics(parser, *of_kafka)
    if (found["certificate"] is None) != (found["certificate_key"] is None):
        parser.error("TLS requires both --certificate and --certificate-key")
    if found["store"] and found["max_store_bytes"]:
        parser.error("--max-store-bytes limits a file; limit a Postgres database on its server")
    namespaces = [namespace for namespace, _ in found["retain_namespaces"]]
    if len(set(namespaces)) < len(namespaces):
        twice = next(namespace for namespace in namespaces if namespaces.count(namespace) > 1)
        parser.error(f"--retain-namespace is given twice for {twice!r}; give one duration")
    found["retain_namespaces"] = dict(found["retain_namespaces"])
    for name in ("allowed_hosts", "allowed_origins"):
        found[name] = tuple(found[name])
    return Settings(**found)


def _add_store_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--store",
        type=_database,
        metavar="URL",
        help="log in Postgres, postgresql://USER@HOST:PORT/DATABASE, which several instances may share; password:"
        f" environment variable {PASSWORD} (default: a file in --data)",
    )
    parser.add_argument("--store-password-file", type=Path, metavar="FILE", help="file with the password of --store")


def _add_kafka_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--kafka-topic", metavar="TOPIC", help="read events from this topic too, each exactly once")
    parser.add_argument(
        "--publish-topic", metavar="TOPIC", help="publish all events to this topic of one partition, each exactly once"
    )
    parser.add_argument("--kafka-servers", metavar="HOST:PORT,...", help="brokers of these topics")
    parser.add_argument(
        "--kafka-config", type=Path, metavar="FILE", help="settings of the Kafka clients, name=value (librdkafka)"
    )


def _kafka_topics(
    parser: argparse.ArgumentParser, topic: str | None, published: str | None, servers: str | None, config: Path | None
) -> tuple[KafkaSource | None, KafkaTarget | None]:
    if topic is None and published is None and servers is None and config is None:
        return None, None
    if not (topic or published) or not servers:
        parser.error("events in Kafka require --kafka-servers, and --kafka-topic to read or --publish-topic to publish")
    if topic == published:
        parser.error(f"--kafka-topic and --publish-topic are both {topic!r}; publish to another topic")
    try:
        settings = read_client_config(config) if config else {}
    except KafkaSourceError as error:
        parser.error(str(error))
    return (
        KafkaSource(topic, servers, settings) if topic else None,
        KafkaTarget(published, servers, settings) if published else None,
    )


def _port(text: str) -> int:
    port = int(text)
    if not 0 <= port <= 65535:
        raise argparse.ArgumentTypeError(f"{port} is not between 0 and 65535")
    return port


_LONGEST = 100 * 366 * 86400
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def _duration(text: str) -> float:
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([smhd])", text)
    if match is None or float(match[1]) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a duration; write it as 90s, 15m, 12h or 30d")
    seconds = float(match[1]) * _UNITS[match[2]]
    if seconds > _LONGEST:
        raise argparse.ArgumentTypeError(f"{text!r} is longer than 100 years; omit the option to keep everything")
    return seconds


def _namespace_duration(text: str) -> tuple[str, float | None]:
    namespace, _, duration = text.rpartition("=")
    if not namespace:
        raise argparse.ArgumentTypeError(f"{text!r} has no namespace; write it as NAMESPACE=7d or NAMESPACE=never")
    return namespace, None if duration == "never" else _duration(duration)


def _url(text: str) -> str:
    if not re.fullmatch(r"https?://[^/\s]+(/\S*)?", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a URL; write it as http://marquez:5000")
    return text.rstrip("/")


def _database(text: str) -> str:
    try:
        return check_url(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _origin(text: str) -> str:
    if not re.fullmatch(r"https?://[^/\s]+", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not an origin; write it as https://portal.example.org")
    return text


def _key_file(text: str) -> str:
    try:
        key = Path(text).read_text(encoding="ascii").strip()
    except (OSError, ValueError) as error:
        raise argparse.ArgumentTypeError(f"the API key cannot be read: {error}") from error
    if not key.isprintable() or not key:
        raise argparse.ArgumentTypeError(f"{text} must have one line, the API key")
    return key


def _positive(text: str) -> int:
    number = int(text)
    if number <= 0:
        raise argparse.ArgumentTypeError(f"{number} is not positive")
    return number
