# SPDX-License-Identifier: Apache-2.0
"""Parts of a lab that live inside a service: topics, buckets, databases, tables, subjects, connectors, Flink jobs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True)
class Topic:
    """A Kafka topic. `config` holds topic-level settings under Kafka's own names."""

    name: str
    partitions: int = 1
    config: Mapping[str, str] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """How other parts name it in `needs`."""
        return f"topic/{self.name}"


@dataclass(frozen=True)
class Bucket:
    """A bucket of the object store."""

    name: str

    @property
    def key(self) -> str:
        """How other parts name it in `needs`."""
        return f"bucket/{self.name}"


@dataclass(frozen=True)
class Database:
    """A database of the Postgres server."""

    name: str

    @property
    def key(self) -> str:
        """How other parts name it in `needs`."""
        return f"database/{self.name}"


@dataclass(frozen=True)
class Column:
    """A column of a `Table`. `type` is Postgres' own; `required` is NOT NULL."""

    name: str
    type: str
    required: bool = False


@dataclass(frozen=True)
class Table:
    """A table of a database of the Postgres server, in schema `public`.

    Attributes:
        name: of the table.
        database: name of the `Database` that it is in.
        columns: in their order. More can be added; none is ever dropped or retyped by the lab.
        primary_key: names of columns.
        replica_identity: what of a row's old version is in the log for those who capture changes.
        needs: keys of the parts that must be there first, beside the database.
    """

    name: str
    database: str
    columns: tuple[Column, ...]
    primary_key: tuple[str, ...] = ()
    replica_identity: Literal["default", "full", "nothing"] = "default"
    needs: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """How other parts name it in `needs`."""
        return f"table/{self.database}.{self.name}"


@dataclass(frozen=True)
class Subject:
    """A schema in the registry under a subject's name.

    Attributes:
        name: of the subject: `orders-value` for the values of topic `orders`.
        avro: the schema, as JSON text.
        compatibility: what later versions must keep, in the registry's words.
    """

    name: str
    avro: str
    compatibility: Literal["NONE", "BACKWARD", "FORWARD", "FULL"] = "BACKWARD"

    @property
    def key(self) -> str:
        """How other parts name it in `needs`."""
        return f"subject/{self.name}"


@dataclass(frozen=True)
class Connector:
    """A connector of Kafka Connect.

    Attributes:
        name: of the connector.
        config: its options under Connect's own names. Of a secret there is a reference, `${provider:key}`.
        needs: keys of the parts that must be there first, beside Connect itself.
    """

    name: str
    config: Mapping[str, str]
    needs: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """How other parts name it in `needs`."""
        return f"connector/{self.name}"


@dataclass(frozen=True)
class FlinkJob:
    """A job that a launcher keeps running on the Flink cluster.

    Attributes:
        name: of the job, as Flink shows it.
        launcher: key of the service that submits it.
    """

    name: str
    launcher: str

    @property
    def key(self) -> str:
        """How other parts name it in `needs`."""
        return f"flink_job/{self.name}"

    @property
    def needs(self) -> tuple[str, ...]:
        """Keys of the parts that must be there first."""
        return (self.launcher,)
