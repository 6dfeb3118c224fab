# SPDX-License-Identifier: Apache-2.0
"""`labkit:index:Topic`: a Kafka topic; partitions can be added and settings changed without loss of records."""

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
from infra.model import external_settings
from infra.model.resources import Topic
from infra.provider.data_kind import DataKind, is_adopted, same_outputs
from infra.provider.external_service import external_error
from infra.provider.kafka_admin import METADATA_TIMEOUT_SECONDS, admin_client, broker_accepts_connections
from infra.provider.kind import OperationContext, ReadResult

BROKER_DEFAULT = -1
"""Replication factor of a new topic: the broker's `default.replication.factor`."""

T = TypeVar("T")

CONNECTION_ERRORS = frozenset({KafkaError._TRANSPORT, KafkaError._ALL_BROKERS_DOWN, KafkaError._TIMED_OUT})
"""Error codes of an unreachable broker, also behind a port that Docker opens early."""

AUTHORIZATION_ERRORS = frozenset({KafkaError.TOPIC_AUTHORIZATION_FAILED, KafkaError.CLUSTER_AUTHORIZATION_FAILED})


class BrokerUnreachable(LabError):
    """No broker responds at the address."""


class TopicKind(DataKind[Topic]):
    """Topics; `create` adopts an existing topic.

    In the lab's own cluster, it changes partitions and settings of that topic as declared; in an existing cluster, the
    topic keeps them.
    """

    name = "Topic"
    inputs = Topic
    replace_on = frozenset({"bootstrap", "cluster", "name"})
    addresses = frozenset({"bootstrap"})
    setting = external_settings.KAFKA

    def describe(self, inputs: Topic) -> str:
        return f"topic {inputs.name} at {inputs.bootstrap}"

    def create(self, inputs: Topic, call: OperationContext) -> dict[str, Any]:
        if self.exists_already(inputs, call):
            return self.created(inputs, True, call)
        admin = _admin(inputs)
        found = _cluster(inputs, admin)
        if not _is_expected(inputs, found):
            raise LabError(
                f"the broker at {inputs.bootstrap} belongs to another lab "
                f"(cluster {found}, expected {inputs.cluster}). "
                "Stop that lab or program, or set another lineage-lab:portOffset"
            )
        new = NewTopic(inputs.name, inputs.partitions, BROKER_DEFAULT, config=inputs.config)
        created = _admin_request(inputs, "create", lambda: admin.create_topics([new])[inputs.name], _topic_exists)
        if not created:
            there = self.read(inputs, call)
            if there:
                self.update(there.inputs, inputs, call)
        for _ in call.poll(METADATA_TIMEOUT_SECONDS):  # metadata follows the creation with a delay
            if self.read(inputs, call):
                return self.created(inputs, not created, call)
        raise LabError(
            f"topic {inputs.name} was created at {inputs.bootstrap} but did not "
            f"appear within {METADATA_TIMEOUT_SECONDS} s"
        )

    def read(self, inputs: Topic, call: OperationContext) -> ReadResult[Topic] | None:
        if not broker_accepts_connections(inputs.bootstrap):
            return self.unreadable(inputs, call)
        admin = _admin(inputs)
        try:
            metadata = _metadata(inputs, admin)
        except BrokerUnreachable as error:
            return self.unreadable(inputs, call, str(error))
        topics = metadata.topics
        if not _is_expected(inputs, str(metadata.cluster_id)) or inputs.name not in topics:
            return None
        if is_adopted(inputs, call):
            return ReadResult(inputs, same_outputs(inputs, call))
        resource = ConfigResource(ResourceType.TOPIC, inputs.name)
        entries = _admin_request(inputs, "read", lambda: admin.describe_configs([resource])[resource])
        config = {
            name: str(entry.value)
            for name, entry in entries.items()
            if entry.source == ConfigSource.DYNAMIC_TOPIC_CONFIG.value
        }
        partitions = len(topics[inputs.name].partitions)
        found = inputs.model_copy(update={"partitions": partitions, "config": config})
        return ReadResult(found, same_outputs(inputs, call))

    def update(self, old: Topic, new: Topic, call: OperationContext) -> dict[str, Any]:
        if is_adopted(new, call):
            call.note(f"{self.describe(new)} existed before the lab and keeps its partitions and settings")
            return same_outputs(new, call)
        if new.partitions < old.partitions:
            raise LabError(
                f"topic {new.name} has {old.partitions} partitions and Kafka cannot remove any: set at "
                f"least {old.partitions}, or replace the topic (pulumi up --target-replace URN), which "
                "loses its records"
            )
        admin = _admin(new)
        if new.partitions > old.partitions:
            grown = [NewPartitions(new.name, new.partitions)]
            _admin_request(new, "add partitions to", lambda: admin.create_partitions(grown)[new.name])
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
            _admin_request(new, "configure", lambda: admin.incremental_alter_configs([resource])[resource])
        return same_outputs(new, call)

    def remove(self, inputs: Topic, call: OperationContext) -> None:
        if not broker_accepts_connections(inputs.bootstrap):
            raise self.unreachable(inputs, "delete")
        admin = _admin(inputs)
        try:
            if not _is_expected(inputs, _cluster(inputs, admin)):
                return  # the broker belongs to another lab
            _admin_request(inputs, "delete", lambda: admin.delete_topics([inputs.name])[inputs.name], _topic_missing)
        except BrokerUnreachable as error:
            raise self.unreachable(inputs, "delete", str(error)) from error


def _admin(inputs: Topic) -> AdminClient:
    return admin_client(inputs.bootstrap, inputs.authority, inputs.credentials)


def _is_expected(inputs: Topic, cluster: str) -> bool:
    return not inputs.cluster or cluster == inputs.cluster


def _metadata(inputs: Topic, admin: AdminClient) -> ClusterMetadata:
    try:
        return admin.list_topics(timeout=METADATA_TIMEOUT_SECONDS)
    except KafkaException as error:
        raise _connection_failure(inputs, "read", error) from error


def _cluster(inputs: Topic, admin: AdminClient) -> str:
    return str(_metadata(inputs, admin).cluster_id)


def _topic_exists(error: KafkaError) -> bool:
    return bool(error.code() == KafkaError.TOPIC_ALREADY_EXISTS)


def _topic_missing(error: KafkaError) -> bool:
    return bool(error.code() == KafkaError.UNKNOWN_TOPIC_OR_PART)


def _admin_request(
    inputs: Topic,
    verb: str,
    request: Callable[[], "Future[T]"],
    harmless: Callable[[KafkaError], bool] | None = None,
) -> Any:  # noqa: ANN401
    """Return the result of an admin request (True if it has none); False after an error accepted by `harmless`."""
    try:
        result = request().result(timeout=METADATA_TIMEOUT_SECONDS)
    except KafkaException as error:
        if harmless and harmless(error.args[0]):
            return False
        raise _connection_failure(inputs, verb, error) from error
    return True if result is None else result


def _connection_failure(inputs: Topic, verb: str, error: KafkaException) -> LabError:
    """Return the error about a request; `BrokerUnreachable` if no broker responded."""
    failure = _failure(inputs, verb, error)
    return BrokerUnreachable(str(failure)) if error.args[0].code() in CONNECTION_ERRORS else failure


def _failure(inputs: Topic, verb: str, error: KafkaException) -> LabError:
    action, cause = f"{verb} topic {inputs.name} at {inputs.bootstrap}", error.args[0].str()
    if not inputs.external:
        return LabError(f"could not {action}: {cause}")
    may_not = error.args[0].code() in AUTHORIZATION_ERRORS
    remedy = "give the user ANONYMOUS the right to it, or create the topic by hand" if may_not else ""
    return external_error(external_settings.KAFKA, action, cause, remedy)
