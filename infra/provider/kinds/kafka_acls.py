# SPDX-License-Identifier: Apache-2.0
"""`labkit:index:KafkaAcls`: what a user of the lab's Kafka may do; everything else is refused."""

from collections import defaultdict
from collections.abc import Iterable
from enum import Enum
from typing import Any

from confluent_kafka import KafkaException
from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
)

from infra.errors import LabError
from infra.model.resources import AclRule, KafkaAcls
from infra.provider.connections import NO_RESPONSE
from infra.provider.kafka_admin import METADATA_TIMEOUT_SECONDS, admin_client, broker_accepts_connections
from infra.provider.kind import Kind, OperationContext, ReadResult, ServiceUnreachable

ANY_HOST = "*"

_ANY: Any = None
"""Matches every name and host in a filter, which the client's types do not know."""

_RESOURCES = {
    "cluster": ResourceType.BROKER,
    "group": ResourceType.GROUP,
    "topic": ResourceType.TOPIC,
    "transactional_id": ResourceType.TRANSACTIONAL_ID,
}
_CLUSTER = {"broker": "cluster"}
"""The cluster, under the client's name for it."""

_PATTERNS = {"literal": ResourcePatternType.LITERAL, "prefixed": ResourcePatternType.PREFIXED}


class KafkaAclsKind(Kind[KafkaAcls]):
    """Rights of users; `create` and `update` remove those that are not declared.

    The broker of another lab refuses the login, so that its rights are left untouched.
    """

    name = "KafkaAcls"
    inputs = KafkaAcls
    replace_on = frozenset({"bootstrap", "cluster", "name"})
    addresses = frozenset({"bootstrap"})

    def create(self, inputs: KafkaAcls, call: OperationContext) -> dict[str, Any]:
        self._reconcile(inputs)
        return {}

    def read(self, inputs: KafkaAcls, call: OperationContext) -> ReadResult[KafkaAcls] | None:
        self._require_broker(inputs, "read")
        found = _bindings(_admin(inputs), inputs, "read")
        if not found:
            return None
        if found == _declared(inputs):
            return ReadResult(inputs)
        return ReadResult(inputs.model_copy(update={"rules": _rules(found)}))

    def update(self, old: KafkaAcls, new: KafkaAcls, call: OperationContext) -> dict[str, Any]:
        self._reconcile(new)
        return {}

    def delete(self, inputs: KafkaAcls, call: OperationContext) -> None:
        self._require_broker(inputs, "delete")
        admin = _admin(inputs)
        _remove(admin, inputs, _bindings(admin, inputs, "delete"))

    def _reconcile(self, inputs: KafkaAcls) -> None:
        self._require_broker(inputs, "set")
        admin = _admin(inputs)
        found, declared = _bindings(admin, inputs, "set"), _declared(inputs)
        missing = declared - found
        if missing:
            _wait(inputs, "set", admin.create_acls(list(missing), request_timeout=METADATA_TIMEOUT_SECONDS))
        _remove(admin, inputs, found - declared)

    def _require_broker(self, inputs: KafkaAcls, verb: str) -> None:
        if not broker_accepts_connections(inputs.bootstrap):
            raise ServiceUnreachable(f"could not {_action(inputs, verb)}: {NO_RESPONSE}")


def _admin(inputs: KafkaAcls) -> AdminClient:
    return admin_client(inputs.bootstrap, inputs.authority, inputs.credentials)


def _action(inputs: KafkaAcls, verb: str) -> str:
    return f"{verb} the rights of user {inputs.name} of the Kafka at {inputs.bootstrap}"


def _declared(inputs: KafkaAcls) -> set[AclBinding]:
    return {
        AclBinding(
            _RESOURCES[rule.resource],
            rule.name,
            _PATTERNS[rule.pattern],
            _principal(inputs),
            ANY_HOST,
            AclOperation[operation.upper()],
            AclPermissionType.ALLOW,
        )
        for rule in inputs.rules
        for operation in rule.operations
    }


def _rules(bindings: Iterable[AclBinding]) -> tuple[AclRule, ...]:
    """Return rights as they would be declared, sorted, also of kinds that are not declared; denials are left out."""
    operations = defaultdict(set)
    for found in bindings:
        if found.permission_type == AclPermissionType.ALLOW:
            pattern = (_lower(found.restype), _lower(found.resource_pattern_type), found.name)
            operations[pattern].add(_lower(found.operation))
    return tuple(
        AclRule.model_construct(
            resource=_CLUSTER.get(kind, kind), pattern=pattern, name=name, operations=tuple(sorted(granted))
        )
        for (kind, pattern, name), granted in sorted(operations.items())
    )


def _lower(value: Enum | str | int) -> str:
    """Return the name of a member in lower case; the client's types allow for texts and numbers in its place."""
    return value.name.lower() if isinstance(value, Enum) else str(value)


def _bindings(admin: AdminClient, inputs: KafkaAcls, verb: str) -> set[AclBinding]:
    """Return the rights and denials that a user has now."""
    wanted = AclBindingFilter(
        ResourceType.ANY,
        _ANY,
        ResourcePatternType.ANY,
        _principal(inputs),
        _ANY,
        AclOperation.ANY,
        AclPermissionType.ANY,
    )
    try:
        found = admin.describe_acls(wanted, request_timeout=METADATA_TIMEOUT_SECONDS)
        return set(found.result(timeout=METADATA_TIMEOUT_SECONDS))
    except (KafkaException, TimeoutError) as error:
        raise _failure(inputs, verb, error) from error


def _remove(admin: AdminClient, inputs: KafkaAcls, bindings: Iterable[AclBinding]) -> None:
    filters = [
        AclBindingFilter(
            found.restype,
            found.name,
            found.resource_pattern_type,
            found.principal,
            found.host,
            found.operation,
            found.permission_type,
        )
        for found in bindings
    ]
    if filters:
        _wait(inputs, "remove", admin.delete_acls(filters, request_timeout=METADATA_TIMEOUT_SECONDS))


def _wait(inputs: KafkaAcls, verb: str, requests: dict[Any, Any]) -> None:
    for request in requests.values():
        try:
            request.result(timeout=METADATA_TIMEOUT_SECONDS)
        except (KafkaException, TimeoutError) as error:
            raise _failure(inputs, verb, error) from error


def _principal(inputs: KafkaAcls) -> str:
    return f"User:{inputs.name}"


def _failure(inputs: KafkaAcls, verb: str, error: Exception) -> LabError:
    cause = error.args[0].str() if isinstance(error, KafkaException) else "the broker did not respond in time"
    return LabError(f"could not {_action(inputs, verb)}: {cause}")
