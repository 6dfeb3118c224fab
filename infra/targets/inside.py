# SPDX-License-Identifier: Apache-2.0
"""Inputs of the resources that live inside services: where their service is reached, and what they shall be."""

from infra.model import Connector, Site, Subject, Table
from infra.provider.kinds.connector import ConnectorInputs
from infra.provider.kinds.subject import SubjectInputs
from infra.provider.kinds.table import ColumnInputs, TableInputs
from infra.services import connect, kafka, postgres, schema_registry


def table_inputs(part: Table, site: Site, credentials: str) -> TableInputs:
    """`credentials` is the path of the file that holds the server's password."""
    server = site.address(postgres.NAME, postgres.SQL.name, "outside")
    return TableInputs(
        host=server.host,
        port=server.port,
        user=postgres.USER,
        database=part.database,
        credentials=credentials,
        table=part.name,
        columns=[ColumnInputs(name=known.name, type=known.type, required=known.required) for known in part.columns],
        primary_key=list(part.primary_key),
        replica_identity=part.replica_identity,
    )


def subject_inputs(part: Subject, site: Site) -> SubjectInputs:
    """The registry is spoken to by Confluent's API, so that another one may stand in its place."""
    registry = site.address(schema_registry.NAME, schema_registry.API.name, "outside").url
    return SubjectInputs(
        registry=registry + schema_registry.CONFLUENT_API,
        subject=part.name,
        avro=part.avro,
        compatibility=part.compatibility,
    )


def connector_inputs(part: Connector, site: Site) -> ConnectorInputs:
    """The configuration goes as it is: the addresses in it are those that the worker sees."""
    return ConnectorInputs(
        worker=site.address(connect.NAME, connect.REST.name, "outside").url,
        cluster=kafka.cluster_id(site),
        connector=part.name,
        config=dict(part.config),
    )
