# SPDX-License-Identifier: Apache-2.0
"""`labkit:index:Topic`: a Kafka topic. Partitions can grow, settings can change, neither loses a record."""

import logging
import socket
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ClusterMetadata,
    ConfigEntry,
    ConfigResource,
    ConfigSource,
    NewPartitions,
    NewTopic,
    ResourceType,
)

from infra.errors import LabError
from infra.model.resources import Topic
from infra.provider.kind import Call, Found, Kind

PATIENCE_SECONDS = 20
T = TypeVar("T")

UNREACHABLE = frozenset({KafkaError._TRANSPORT, KafkaError._ALL_BROKERS_DOWN})
"""What the client says where nothing answers: also where Docker takes connections for a broker that is not up yet."""


class Unreachable(LabError):
    """No broker answers at the address."""


class TopicKind(Kind[Topic]):
    """A topic that is there already is taken over, and brought to the wanted partitions and settings."""

    name = "Topic"
    inputs = Topic
    replace_on = frozenset({"bootstrap", "cluster", "name"})

    def create(self, inputs: Topic, call: Call) -> dict[str, Any]:
        admin = _admin(inputs)
        found = _cluster(inputs, admin)
        if found != inputs.cluster:
            raise LabError(
                f"the broker at {inputs.bootstrap} is not this lab's: its cluster is {found}, not {inputs.cluster}. "
                "Another lab or program has the port: end it, or set another portOffset"
            )
        new = NewTopic(inputs.name, inputs.partitions, 1, config=inputs.config)
        created = _of(inputs, "create", lambda: admin.create_topics([new])[inputs.name], _exists)
        if not created:
            there = self.read(inputs, call)
            if there:
                self.update(there.inputs, inputs, call)
        for _ in call.poll(PATIENCE_SECONDS):  # its creation reaches the broker's metadata a little later
            if self.read(inputs, call):
                return {}
        raise LabError(f"topic {inputs.name} was created at {inputs.bootstrap} but does not show there")

    def read(self, inputs: Topic, call: Call) -> Found[Topic] | None:
        if not _answers(inputs.bootstrap):
            return None  # the broker itself is gone: it and its topics are made anew
        admin = _admin(inputs)
        try:
            metadata = _metadata(inputs, admin)
        except Unreachable:
            return None  # as above, or it starts: what it has of this is taken over
        topics = metadata.topics
        if metadata.cluster_id != inputs.cluster or inputs.name not in topics:
            return None
        resource = ConfigResource(ResourceType.TOPIC, inputs.name)
        entries = _of(inputs, "read", lambda: admin.describe_configs([resource])[resource])
        config = {
            name: str(entry.value)
            for name, entry in entries.items()
            if entry.source == ConfigSource.DYNAMIC_TOPIC_CONFIG.value
        }
        partitions = len(topics[inputs.name].partitions)
        return Found(inputs.model_copy(update={"partitions": partitions, "config": config}))

    def update(self, old: Topic, new: Topic, call: Call) -> dict[str, Any]:
        if new.partitions < old.partitions:
            raise LabError(
                f"topic {new.name} has {old.partitions} partitions and Kafka cannot take any away: set at "
                f"least {old.partitions}, or make the topic anew (pulumi up --target-replace URN), which "
                "loses its records"
            )
        admin = _admin(new)
        if new.partitions > old.partitions:
            grown = [NewPartitions(new.name, new.partitions)]
            _of(new, "add partitions to", lambda: admin.create_partitions(grown)[new.name])
        changes = [
            ConfigEntry(key, value, incremental_operation=AlterConfigOpType.SET)
            for key, value in new.config.items()
            if old.config.get(key) != value
        ] + [
            ConfigEntry(key, None, incremental_operation=AlterConfigOpType.DELETE)
            for key in old.config.keys() - new.config.keys()
        ]
        if changes:
            resource = ConfigResource(ResourceType.TOPIC, new.name, incremental_configs=changes)
            _of(new, "configure", lambda: admin.incremental_alter_configs([resource])[resource])
        return {}

    def delete(self, inputs: Topic, call: Call) -> None:
        if not _answers(inputs.bootstrap):
            return  # the broker is gone, and with it the topic
        admin = _admin(inputs)
        if _cluster(inputs, admin) != inputs.cluster:
            return  # somebody else's broker, and somebody else's topic
        _of(inputs, "delete", lambda: admin.delete_topics([inputs.name])[inputs.name], _unknown)


def _admin(inputs: Topic) -> AdminClient:
    silent = logging.getLogger("labkit.kafka")
    silent.setLevel(logging.CRITICAL)  # librdkafka's own lines; what matters is raised
    return AdminClient({"bootstrap.servers": inputs.bootstrap, "socket.timeout.ms": 5000}, logger=silent)


def _answers(bootstrap: str) -> bool:
    """Whether anything listens there; the Kafka client would go on trying for its whole timeout."""
    host, _, port = bootstrap.rpartition(":")
    try:
        socket.create_connection((host, int(port)), timeout=5).close()
    except OSError:
        return False
    return True


def _metadata(inputs: Topic, admin: AdminClient) -> ClusterMetadata:
    try:
        return admin.list_topics(timeout=PATIENCE_SECONDS)
    except KafkaException as error:
        failure = _failure(inputs, "read", error)
        if error.args[0].code() in UNREACHABLE:
            raise Unreachable(str(failure)) from error
        raise failure from error


def _cluster(inputs: Topic, admin: AdminClient) -> str:
    return str(_metadata(inputs, admin).cluster_id)


def _exists(error: KafkaError) -> bool:
    return bool(error.code() == KafkaError.TOPIC_ALREADY_EXISTS)


def _unknown(error: KafkaError) -> bool:
    gone = {KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._TRANSPORT, KafkaError._TIMED_OUT}
    return error.code() in gone


def _of(
    inputs: Topic,
    what: str,
    request: Callable[[], "Future[T]"],
    harmless: Callable[[KafkaError], bool] | None = None,
) -> Any:  # noqa: ANN401
    """The result of an admin request (True where it has none); False after a harmless error."""
    try:
        result = request().result(timeout=PATIENCE_SECONDS)
    except KafkaException as error:
        if harmless and harmless(error.args[0]):
            return False
        raise _failure(inputs, what, error) from error
    return True if result is None else result


def _failure(inputs: Topic, what: str, error: KafkaException) -> LabError:
    return LabError(f"could not {what} topic {inputs.name} at {inputs.bootstrap}: {error.args[0].str()}")
