# SPDX-License-Identifier: Apache-2.0
"""Connectors of the lab: Postgres to Kafka, Kafka to Iceberg, Kafka to the archive; all exactly-once."""

import re
from collections.abc import Iterable, Mapping

from infra import credentials
from infra.model import Connector, Part, Site, Topic
from infra.namespaces import (
    ARCHIVE_BUCKET,
    CATALOG_NAME,
    JOB_ORDERS_ARCHIVE,
    JOB_ORDERS_LAKE,
    JOB_ORDERS_SOURCE,
    LINEAGE_TRANSFORM,
    RAW_TABLES,
    SHOP_TOPICS,
    WAREHOUSE_NAMESPACE,
)
from infra.services import iceberg_catalog, kafka, object_store, postgres, schema_registry, tls
from infra.services.connect import worker as connect
from infra.services.definition import FULL, Draft
from infra.services.shop import tables as shop_tables

COMMIT_MS = 5000
"""Commit interval of the Iceberg sink, ms; a commit with new records adds one snapshot per table."""

ARCHIVE_MS = 10_000
"""Rotation interval of the archive sink, ms."""

RECORD_TOPIC = "kafka_topic"
RECORD_PARTITION = "kafka_partition"
RECORD_OFFSET = "kafka_offset"
"""Columns of the raw tables that identify the Kafka record of a row; the sink routes by the first.

Names that begin with `_` are avoided: Iceberg reserves some (`_partition` ...), and Spark cannot compact tables with
reserved names."""

DEAD_LETTER_PREFIX = "dlq."
"""Prefix of dead letter topics."""

LINEAGE = "lineage"
"""Alias of the lineage transform: the last of a source, the first of a sink, where records have the topic's schema."""

Options = dict[str, str | int | bool]

_UNLIMITED_RETRIES: Options = {"errors.retry.timeout": -1, "errors.retry.delay.max.ms": 5000}
"""Sinks retry every 5 s without a limit: an unavailable registry never sends a record to the dead letter topic."""


def connectors(site: Site, profile: str = FULL) -> tuple[Connector, ...]:
    """Return the connectors of a profile, in the order of the data flow."""
    lake = (_orders_lake(site),) if profile == FULL else ()
    return (_orders_source(site), *lake, _orders_archive(site))


def topics(site: Site, profile: str = FULL) -> tuple[Topic, ...]:
    """Return the internal topics of the connectors, which the broker does not create automatically."""
    lake = (_control_topic(), dead_letter_topic(JOB_ORDERS_LAKE)) if profile == FULL else ()
    return tuple(kafka.topic(site, topic) for topic in (*lake, dead_letter_topic(JOB_ORDERS_ARCHIVE)))


def dead_letter_topic(connector: str) -> str:
    """Return the name of the dead letter topic of a sink."""
    return f"{DEAD_LETTER_PREFIX}{connector}"


def _control_topic() -> str:
    return f"control.{JOB_ORDERS_LAKE}"


def _orders_source(site: Site) -> Connector:
    """Return the Debezium source, which captures each table of the shop into the topic of the same name."""
    server = site.address(postgres.NAME, postgres.SQL.name)
    tables = shop_tables.tables(site)
    captured = f"{postgres.SHOP}.{shop_tables.SCHEMA}"
    options: Options = {
        "connector.class": "io.debezium.connector.postgresql.PostgresConnector",
        "tasks.max": 1,
        "exactly.once.support": "required",
        "database.hostname": server.host,
        "database.port": server.port,
        "database.user": postgres.user(site),
        "database.password": connect.secret(credentials.POSTGRES_PASSWORD),
        "database.dbname": postgres.SHOP,
        **_encryption(site),
        "plugin.name": "pgoutput",
        "slot.name": JOB_ORDERS_SOURCE,
        "publication.name": JOB_ORDERS_SOURCE,
        "publication.autocreate.mode": "filtered",
        "topic.prefix": postgres.SHOP,
        "table.include.list": ",".join(f"{shop_tables.SCHEMA}.{table.name}" for table in tables),
        "time.precision.mode": "connect",
        "retriable.restart.connector.wait.ms": 2000,
        # Unwrap the row from Debezium's envelope and the key from its struct; rename the topic to the table's name.
        **transform_options("row", "key", "topic", LINEAGE),
        "transforms.row.type": "io.debezium.transforms.ExtractNewRecordState",
        "transforms.row.delete.tombstone.handling.mode": "tombstone",
        "transforms.key.type": "org.apache.kafka.connect.transforms.ExtractField$Key",
        "transforms.key.field": shop_tables.KEY_COLUMN,
        "transforms.topic.type": "org.apache.kafka.connect.transforms.RegexRouter",
        "transforms.topic.regex": re.escape(captured) + "\\.(.*)",
        "transforms.topic.replacement": "$1",
        **schema_registry.avro_converter(site),
        # Schema ids never change, so schemas are cached for an hour and a short outage of the registry has no effect.
        # Unlike a sink, the source fails instead of retrying and resumes from its offsets: stopped during a retry,
        # it would skip the record.
        "value.converter.apicurio.registry.check-period-ms": 3_600_000,
    }
    needs = (*(table.key for table in tables), *(f"topic/{topic}" for topic in SHOP_TOPICS), schema_registry.NAME)
    return connect.connector(site, JOB_ORDERS_SOURCE, options_as_text(options), needs)


def _encryption(site: Site) -> Options:
    """Return the options by which Debezium checks the certificate of Postgres."""
    authority = tls.authority(site)
    return {} if authority is None else {"database.sslmode": tls.VERIFIED, "database.sslrootcert": authority}


def _orders_lake(site: Site) -> Connector:
    """Return the Iceberg sink of the shop's topics."""
    options: Options = {
        **sink_options(JOB_ORDERS_LAKE, SHOP_TOPICS),
        **iceberg_sink_options(site, _control_topic()),
        "iceberg.tables": ",".join(RAW_TABLES.values()),
        "iceberg.tables.route-field": RECORD_TOPIC,
        **{f"iceberg.table.{table}.route-regex": topic for topic, table in RAW_TABLES.items()},
        **transform_options(LINEAGE, "record"),
        "transforms.record.type": "org.apache.kafka.connect.transforms.InsertField$Value",
        "transforms.record.topic.field": f"{RECORD_TOPIC}!",
        "transforms.record.partition.field": f"{RECORD_PARTITION}!",
        "transforms.record.offset.field": f"{RECORD_OFFSET}!",
    }
    topics = (f"topic/{_control_topic()}", f"topic/{dead_letter_topic(JOB_ORDERS_LAKE)}")
    needs = (*_sink_needs(), *topics, iceberg_catalog.NAME)
    return connect.connector(site, JOB_ORDERS_LAKE, options_as_text(options), needs)


def iceberg_sink_options(site: Site, control_topic: str) -> Options:
    """Return the options of an Iceberg sink that creates its tables and adds columns to them.

    It commits its offsets in the transaction that reports files to its coordinator, through the control topic.
    """
    store = site.address(object_store.NAME, object_store.S3.name)
    return {
        "connector.class": "org.apache.iceberg.connect.IcebergSinkConnector",
        "tasks.max": 1,
        "iceberg.tables.auto-create-enabled": True,
        "iceberg.tables.evolve-schema-enabled": True,
        # Every commit writes a new metadata file; the ten previous ones are kept for concurrent readers.
        "iceberg.tables.auto-create-props.write.metadata.delete-after-commit.enabled": True,
        "iceberg.tables.auto-create-props.write.metadata.previous-versions-max": 10,
        "iceberg.control.topic": control_topic,
        "iceberg.control.commit.interval-ms": COMMIT_MS,
        "iceberg.control.commit.timeout-ms": 2 * COMMIT_MS,
        "iceberg.control.commit.threads": 2,
        "iceberg.control.commit.max-consecutive-failures": 60,
        "iceberg.kafka.auto.offset.reset": "earliest",
        "iceberg.catalog": CATALOG_NAME,
        "iceberg.catalog.type": "rest",
        "iceberg.catalog.uri": site.address(iceberg_catalog.NAME, iceberg_catalog.REST.name).url,
        "iceberg.catalog.warehouse": f"{WAREHOUSE_NAMESPACE}/",
        "iceberg.catalog.io-impl": "org.apache.iceberg.aws.s3.S3FileIO",
        "iceberg.catalog.client.region": credentials.S3_REGION,
        "iceberg.catalog.s3.endpoint": store.url,
        "iceberg.catalog.s3.path-style-access": True,
        "iceberg.catalog.s3.access-key-id": connect.secret(credentials.S3_ACCESS_KEY),
        "iceberg.catalog.s3.secret-access-key": connect.secret(credentials.S3_SECRET_KEY),
    }


def _orders_archive(site: Site) -> Connector:
    """Return the S3 archive sink: JSON lines partitioned by hour, object names contain the offsets."""
    options: Options = {
        "connector.class": "dev.lineagelab.archive.S3ArchiveSinkConnector",
        "tasks.max": 2,
        **sink_options(JOB_ORDERS_ARCHIVE, SHOP_TOPICS),
        **transform_options(LINEAGE),
        "s3.bucket.name": ARCHIVE_BUCKET,
        "s3.region": credentials.S3_REGION,
        "store.url": site.address(object_store.NAME, object_store.S3.name).url,
        "aws.access.key.id": connect.secret(credentials.S3_ACCESS_KEY),
        "aws.secret.access.key": connect.secret(credentials.S3_SECRET_KEY),
        "format.class": "JsonFormat",
        "flush.size": 5000,
        "rotate.schedule.interval.ms": ARCHIVE_MS,
    }
    needs = (*_sink_needs(), f"topic/{dead_letter_topic(JOB_ORDERS_ARCHIVE)}", f"bucket/{ARCHIVE_BUCKET}")
    return connect.connector(site, JOB_ORDERS_ARCHIVE, options_as_text(options), needs)


def sink_options(name: str, topics: Iterable[str]) -> Options:
    """Return options common to all sinks: read committed records, send unreadable ones to the dead letter topic."""
    return {
        "topics": ",".join(topics),
        "consumer.override.auto.offset.reset": "earliest",
        "consumer.override.isolation.level": "read_committed",
        **_UNLIMITED_RETRIES,
        "errors.tolerance": "all",
        "errors.deadletterqueue.topic.name": dead_letter_topic(name),
        "errors.deadletterqueue.topic.replication.factor": 1,
        "errors.deadletterqueue.context.headers.enable": True,
    }


def transform_options(*names: str) -> Options:
    """Return the chain of transforms, and the class of the lineage transform."""
    return {"transforms": ",".join(names), f"transforms.{LINEAGE}.type": LINEAGE_TRANSFORM}


def _sink_needs() -> tuple[str, ...]:
    return (*(f"topic/{topic}" for topic in SHOP_TOPICS), schema_registry.NAME)


def options_as_text(options: Mapping[str, str | int | bool]) -> dict[str, str]:
    """Convert option values to text, as Connect stores them."""
    return {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in options.items()}


def pipeline(draft: Draft) -> tuple[Part, ...]:
    """Return the lab's connectors and the topics that they use internally."""
    profile = draft.settings.profile
    return (*topics(draft.site, profile), *connectors(draft.site, profile))
