# SPDX-License-Identifier: Apache-2.0
"""Resources inside services: topics, buckets, databases, tables, subjects, connectors and Flink jobs.

One type per resource: services declare it, the engine stores and compares its fields, and the provider creates it.
Addresses are those of a client on the user's machine, where the provider runs, on every target. `credentials` is the
path on that machine of the file that holds the passwords.
"""

import json
from abc import ABC, abstractmethod
from typing import ClassVar, Literal, Self

from pydantic import Field, field_validator

from infra.model.inputs import Inputs

RUNNING = "RUNNING"
"""Desired state of a connector and of a Flink job, as Kafka Connect and Flink spell it."""

Compatibility = Literal[
    "NONE", "BACKWARD", "BACKWARD_TRANSITIVE", "FORWARD", "FORWARD_TRANSITIVE", "FULL", "FULL_TRANSITIVE"
]


class Resource(Inputs, ABC):
    """A resource inside a service.

    Attributes:
        name: name in the service.
        needs: keys of the parts that must exist first; not an input of the provider.
    """

    kind: ClassVar[str]

    name: str
    needs: tuple[str, ...] = Field(default=(), exclude=True)

    @property
    @abstractmethod
    def key(self) -> str:
        """Key by which other parts refer to the resource in `needs`."""


class DataResource(Resource, ABC):
    """A resource that holds data in a service.

    Attributes:
        external: True in an existing service that the lab does not run, where the resource may exist already: the lab
            then uses it and leaves it, with its data, at the end. None in a service of the lab.
    """

    external: Literal[True] | None = None


class Topic(DataResource):
    """A Kafka topic.

    Attributes:
        bootstrap: `host:port` of a broker, or several, separated by commas.
        cluster: id of the expected Kafka cluster; any other cluster at the address is left untouched. Empty: any
            cluster is expected.
        config: topic-level settings that differ from the broker's defaults.
        credentials: in a lab with TLS, the file with the password of the user who administers the cluster.
        authority: path of the certificate that the client trusts; None without TLS.
    """

    kind = "Topic"

    bootstrap: str
    cluster: str
    partitions: int = 1
    config: dict[str, str] = Field(default_factory=dict)
    credentials: str | None = None
    authority: str | None = None

    @property
    def key(self) -> str:
        return f"topic/{self.name}"


class AclRule(Inputs):
    """Operations that a user of Kafka may do with some topics, groups or transactional ids, or with the cluster.

    Attributes:
        pattern: `literal`: `name` is that of one, or `*` for all; `prefixed`: all names that begin with `name`.
        operations: under Kafka's names in lower case: `read`, `describe_configs`.
    """

    resource: Literal["cluster", "group", "topic", "transactional_id"]
    pattern: Literal["literal", "prefixed"] = "literal"
    name: str
    operations: tuple[str, ...] = Field(min_length=1)


class KafkaAcls(Resource):
    """The rights of a user of Kafka, which has no others; `name` is the user. Fields as in `Topic`."""

    kind = "KafkaAcls"

    bootstrap: str
    cluster: str
    credentials: str
    authority: str
    rules: tuple[AclRule, ...]

    @property
    def key(self) -> str:
        return f"kafka_acls/{self.name}"


class Bucket(DataResource):
    """A bucket of the object store; `endpoint` is the URL of the store."""

    kind = "Bucket"

    endpoint: str
    credentials: str

    @property
    def key(self) -> str:
        return f"bucket/{self.name}"


class Database(DataResource):
    """A database of a Postgres server.

    Attributes:
        host: host of the server.
        port: port of the server.
        user: role that creates the database; `credentials` holds its password.
        maintenance: existing database to connect to when creating or dropping another one.
        authority: path of the certificate that the client trusts; None without TLS.
    """

    kind = "Database"

    host: str
    port: int
    user: str
    credentials: str
    maintenance: str
    authority: str | None = None

    @property
    def key(self) -> str:
        return f"database/{self.name}"


class Column(Inputs):
    """A column of a `Table`; `type` in Postgres' spelling, `required` is NOT NULL."""

    name: str
    type: str
    required: bool = False


class Table(DataResource):
    """A table in schema `public` of a database.

    Attributes:
        host: host of the server.
        port: port of the server.
        user: role that owns the table; `credentials` holds its password.
        database: name of the `Database`.
        columns: in order. Adding a column is supported; the lab never drops or retypes one.
        primary_key: names of columns.
        replica_identity: columns of a row's previous version that the WAL records for change data capture.
        authority: path of the certificate that the client trusts; None without TLS.
    """

    kind = "Table"

    host: str
    port: int
    user: str
    credentials: str
    database: str
    columns: tuple[Column, ...] = Field(min_length=1)
    primary_key: tuple[str, ...] = ()
    replica_identity: Literal["default", "full", "nothing"] = "default"
    authority: str | None = None

    @property
    def key(self) -> str:
        return f"table/{self.database}.{self.name}"


class Subject(DataResource):
    """A schema in the registry.

    Attributes:
        registry: URL of the registry's Confluent API.
        avro: the schema as JSON text.
        compatibility: rule for later versions, in the registry's terms.
    """

    kind = "Subject"

    registry: str
    avro: str
    compatibility: Compatibility = "BACKWARD"

    @property
    def key(self) -> str:
        return f"subject/{self.name}"

    @field_validator("avro")
    @classmethod
    def _normalized(cls, text: str) -> str:
        """Normalize the JSON text; reject invalid schemas with the cause, which the registry does not report."""
        import fastavro  # slow to import, and only needed for subjects
        from fastavro.schema import SchemaParseException, UnknownType

        try:
            schema = json.loads(text)
            fastavro.parse_schema(schema)
        except (json.JSONDecodeError, SchemaParseException, UnknownType, KeyError, TypeError) as error:
            raise ValueError(f"invalid Avro schema: {type(error).__name__} {error}") from error
        return json.dumps(schema, separators=(",", ":"))


class Connector(Resource):
    """A connector of Kafka Connect.

    Attributes:
        worker: URL of the worker's REST interface.
        cluster: id of the Kafka cluster of the expected worker; any other worker is left untouched. Empty: the worker
            uses an existing cluster of an unknown id.
        config: options under Connect's names, without `name`. Secrets are references, `${provider:key}`.
        state: RUNNING is desired; the worker may report PAUSED, STOPPED, FAILED or STARTING.
    """

    kind = "Connector"

    worker: str
    cluster: str
    config: dict[str, str]
    state: str = RUNNING

    @property
    def key(self) -> str:
        return f"connector/{self.name}"


class LaunchedJob(Resource, ABC):
    """A job that a service of the lab submits to a cluster and keeps running.

    Attributes:
        launcher: name of that service.
        definition: hash of the launcher's rendered definition; filled in by the target.
        notes: file in which the launcher records why a job could not be submitted: its path as the launcher sees it,
            until the target replaces it by a location readable from the user's machine. Empty: none.
    """

    launcher: str
    definition: str = ""
    notes: str = ""

    def rendered(self, definition: str, notes: str) -> Self:
        """Return a copy with the values that only a target can provide."""
        return self.model_copy(update={"definition": definition, "notes": notes})


class FlinkJob(LaunchedJob):
    """A job on the Flink cluster, or on one that its launcher starts for it alone.

    Attributes:
        rest: URL of the JobManager's REST interface; empty for the launcher's own cluster, which only the launcher
            reaches: its notes say how the job does.
        cluster: id in the configuration of the expected cluster; any other cluster is left untouched.
        state: Flink's job state. RUNNING is desired.
    """

    kind = "FlinkJob"

    rest: str = ""
    cluster: str = ""
    state: str = RUNNING

    @property
    def key(self) -> str:
        return f"flink_job/{self.name}"
