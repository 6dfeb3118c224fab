# SPDX-License-Identifier: Apache-2.0
"""The resources that live inside services: where their service is reached, and what they shall be.

They are made from outside, by the provider on the user's machine, and are the same on every target.
"""

from infra.model import Bucket, Connector, Database, FlinkJob, Site, Subject, Table, Topic
from infra.provider.inputs import (
    BucketInputs,
    ColumnInputs,
    ConnectorInputs,
    DatabaseInputs,
    FlinkJobInputs,
    SubjectInputs,
    TableInputs,
    TopicInputs,
)
from infra.services import kafka, object_store, postgres, schema_registry
from infra.services.connect import worker as connect
from infra.services.flink import settings as flink_settings
from infra.targets.declared import Declared

Inside = Topic | Bucket | Database | Table | Subject | Connector


def inside(part: Inside, site: Site, credentials: str) -> Declared:
    """The resource of a part. `credentials` is the path of the file that holds them on this machine."""
    match part:
        case Topic():
            return Declared("Topic", part.key, topic_inputs(part, site), (kafka.NAME,))
        case Bucket():
            return Declared("Bucket", part.key, bucket_inputs(part, site, credentials), (object_store.NAME,))
        case Database():
            return Declared("Database", part.key, database_inputs(part, site, credentials), (postgres.NAME,))
        case Table():
            needs = (Database(part.database).key, *part.needs)
            return Declared("Table", part.key, table_inputs(part, site, credentials), needs)
        case Subject():
            return Declared("Subject", part.key, subject_inputs(part, site), (schema_registry.NAME,))
        case Connector():
            return Declared("Connector", part.key, connector_inputs(part, site), (connect.NAME, *part.needs))


def flink_job(part: FlinkJob, site: Site, definition: str, notes: str) -> Declared:
    """The resource of a Flink job.

    Args:
        part: the job.
        site: the place.
        definition: changes when the launcher's own does.
        notes: the file in which the launcher keeps why it could not submit the job.
    """
    return Declared("FlinkJob", part.key, flink_job_inputs(part, site, definition, notes), part.needs)


def topic_inputs(part: Topic, site: Site) -> TopicInputs:
    """The broker's id goes along, so that another one at the same address is left alone."""
    return TopicInputs(
        bootstrap=str(site.address(kafka.NAME, kafka.BROKER.name, "outside")),
        cluster=kafka.cluster_id(site),
        topic=part.name,
        partitions=part.partitions,
        config=dict(part.config),
    )


def bucket_inputs(part: Bucket, site: Site, credentials: str) -> BucketInputs:
    """`credentials` is the path of the file that holds the store's keys."""
    store = site.address(object_store.NAME, object_store.S3.name, "outside")
    return BucketInputs(endpoint=store.url, bucket=part.name, credentials=credentials)


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


def flink_job_inputs(part: FlinkJob, site: Site, definition: str, notes: str) -> FlinkJobInputs:
    """As `flink_job`."""
    rest = site.address(flink_settings.JOBMANAGER, flink_settings.JOBMANAGER_REST.name, "outside")
    return FlinkJobInputs(
        rest=rest.url,
        cluster=flink_settings.cluster_id(site),
        job=part.name,
        launcher=part.launcher,
        definition=definition,
        notes=notes,
    )
