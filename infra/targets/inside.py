# SPDX-License-Identifier: Apache-2.0
"""Inputs of the resources that live inside services: where their service is reached, and what they shall be."""

from infra.model import Connector, Database, FlinkJob, Site, Subject, Table, Topic
from infra.provider.kinds.connector import ConnectorInputs
from infra.provider.kinds.database import DatabaseInputs
from infra.provider.kinds.flink_job import FlinkJobInputs
from infra.provider.kinds.subject import SubjectInputs
from infra.provider.kinds.table import ColumnInputs, TableInputs
from infra.provider.kinds.topic import TopicInputs
from infra.services import connect, flink_jobs, flink_settings, kafka, postgres, schema_registry


def topic_inputs(part: Topic, site: Site) -> TopicInputs:
    """The broker's id goes along, so that another one at the same address is left alone."""
    return TopicInputs(
        bootstrap=str(site.address(kafka.NAME, kafka.BROKER.name, "outside")),
        cluster=kafka.cluster_id(site),
        topic=part.name,
        partitions=part.partitions,
        config=dict(part.config),
    )


def database_inputs(part: Database, site: Site, credentials: str) -> DatabaseInputs:
    """`credentials` is the path of the file that holds the server's password."""
    server = site.address(postgres.NAME, postgres.SQL.name, "outside")
    return DatabaseInputs(
        host=server.host,
        port=server.port,
        user=postgres.USER,
        maintenance=postgres.MAINTENANCE,
        database=part.name,
        credentials=credentials,
    )


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


def flink_job_inputs(part: FlinkJob, site: Site, definition: str) -> FlinkJobInputs:
    """`definition` changes when the launcher's own does."""
    rest = site.address(flink_settings.JOBMANAGER, flink_settings.JOBMANAGER_REST.name, "outside")
    return FlinkJobInputs(
        rest=rest.url,
        cluster=flink_settings.cluster_id(site),
        job=part.name,
        launcher=part.launcher,
        definition=definition,
        notes=flink_jobs.state_file(part.launcher, site),
    )
