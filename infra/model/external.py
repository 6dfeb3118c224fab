# SPDX-License-Identifier: Apache-2.0
"""Existing services outside of the lab, which replace services of its own.

Each stands in the lab for the service that it replaces, under the same key. Creating it checks address, login and
rights before any other part uses the service.
"""

from abc import ABC

from infra.model.resources import Resource


class ExternalService(Resource, ABC):
    """An existing service; `name` is the lab's service that it replaces."""

    @property
    def key(self) -> str:
        return self.name


class ExternalKafka(ExternalService):
    """A Kafka cluster; `bootstrap` is `host:port[,host:port...]`."""

    kind = "ExternalKafka"

    bootstrap: str


class ExternalSchemaRegistry(ExternalService):
    """A schema registry; `url` is the root of its Confluent API."""

    kind = "ExternalSchemaRegistry"

    url: str


class ProtectedService(ExternalService):
    """An existing service that requires a login.

    Attributes:
        credentials: file with the credentials.
        fingerprint: of the credentials, filled in by the target; other credentials are checked again.
    """

    credentials: str
    fingerprint: str = ""


class ExternalObjectStore(ProtectedService):
    """An S3 object store at the URL `endpoint`."""

    kind = "ExternalObjectStore"

    endpoint: str


class ExternalPostgres(ProtectedService):
    """A Postgres server whose changes are captured.

    Attributes:
        host: host of the server.
        port: port of the server.
        user: role that creates databases and reads their changes.
        maintenance: existing database to connect to.
        captured: database whose changes are captured.
        slot: replication slot and publication that the capture creates; removed with this resource.
    """

    kind = "ExternalPostgres"

    host: str
    port: int
    user: str
    maintenance: str
    captured: str
    slot: str
