# SPDX-License-Identifier: Apache-2.0
"""The lab's connectors: Postgres to Kafka, Kafka to Iceberg, Kafka to the archive. Each record exactly once."""

import re
from collections.abc import Mapping

from infra import credentials
from infra.model import Connector, Part, Site, Topic
from infra.namespaces import (
    ARCHIVE_BUCKET,
    CATALOG,
    JOB_ORDERS_ARCHIVE,
    JOB_ORDERS_LAKE,
    JOB_ORDERS_SOURCE,
    LINEAGE_TRANSFORM,
    RAW_TABLES,
    TOPICS,
    WAREHOUSE,
)
from infra.services import iceberg_catalog, kafka, object_store, postgres, schema_registry
from infra.services.connect import worker as connect
from infra.services.definition import FULL, Draft
from infra.services.shop import tables as shop_tables

COMMIT_MS = 5000
"""How often the lake's tables get what has come; each time they have got anything, a snapshot more."""

ARCHIVE_MS = 10_000

RECORD_TOPIC = "kafka_topic"
RECORD_PARTITION = "kafka_partition"
RECORD_OFFSET = "kafka_offset"
"""Columns of the raw tables that say which Kafka record a row is. The sink finds the table by the first.

Some names that begin with `_` are Iceberg's own (`_partition` ...): Spark can compact no table that has them."""

DEAD_LETTER_PREFIX = "dlq."

LINEAGE = "lineage"
"""The transform that looks at what passes. It stands where a record is as the topic has it: last of a source's, first
of a sink's."""

Options = dict[str, str | int | bool]

_WAITS: Options = {"errors.retry.timeout": -1, "errors.retry.delay.max.ms": 5000}
"""For sinks. A registry that is away is no fault of the record that needs it: it is asked again, every five seconds."""


def connectors(site: Site, profile: str = FULL) -> tuple[Connector, ...]:
    """Return the connectors of a profile, in the order of the data flow."""
    lake = (_lake(site),) if profile == FULL else ()
    return (_source(site), *lake, _archive(site))


def topics(site: Site, profile: str = FULL) -> tuple[Topic, ...]:
    """Return the topics that connectors use internally; the broker creates none by itself."""
    lake = (_control_topic(), dead_letter_topic(JOB_ORDERS_LAKE)) if profile == FULL else ()
    return tuple(kafka.topic(site, topic) for topic in (*lake, dead_letter_topic(JOB_ORDERS_ARCHIVE)))


def dead_letter_topic(connector: str) -> str:
    """Where a sink puts the records that it can make nothing of."""
    return f"{DEAD_LETTER_PREFIX}{connector}"


def _control_topic() -> str:
    return f"control.{JOB_ORDERS_LAKE}"


def _source(site: Site) -> Connector:
    """Debezium: the rows of the shop's tables, each change a record of the topic that is called as the table is."""
    server = site.address(postgres.NAME, postgres.SQL.name)
    tables = shop_tables.tables(site)
    captured = f"{postgres.SHOP}.{shop_tables.SCHEMA}"
    options: Options = {
        "connector.class": "io.debezium.connector.postgresql.PostgresConnector",
        "tasks.max": 1,
        "exactly.once.support": "required",
        "database.hostname": server.host,
        "database.port": server.port,
        "database.user": postgres.USER,
        "database.password": connect.secret(credentials.POSTGRES_PASSWORD),
        "database.dbname": postgres.SHOP,
        "plugin.name": "pgoutput",
        "slot.name": JOB_ORDERS_SOURCE,
        "publication.name": JOB_ORDERS_SOURCE,
        "publication.autocreate.mode": "filtered",
        "topic.prefix": postgres.SHOP,
        "table.include.list": ",".join(f"{shop_tables.SCHEMA}.{table.name}" for table in tables),
        "time.precision.mode": "connect",
        "retriable.restart.connector.wait.ms": 2000,
        # From Debezium's envelope to the row; from its struct of a key to the key; from its topic to ours.
        **_transforms("row", "key", "topic", LINEAGE),
        "transforms.row.type": "io.debezium.transforms.ExtractNewRecordState",
        "transforms.row.delete.tombstone.handling.mode": "tombstone",
        "transforms.key.type": "org.apache.kafka.connect.transforms.ExtractField$Key",
        "transforms.key.field": shop_tables.KEY,
        "transforms.topic.type": "org.apache.kafka.connect.transforms.RegexRouter",
        "transforms.topic.regex": re.escape(captured) + "\\.(.*)",
        "transforms.topic.replacement": "$1",
        **schema_registry.avro_converter(site),
        # A schema's id never changes: the registry may be away for a while without anybody's noticing. Where the source
        # needs it, it fails and goes on from its offsets; stopped while it waits, it would skip the record.
        "value.converter.apicurio.registry.check-period-ms": 3_600_000,
    }
    needs = (*(table.key for table in tables), *(f"topic/{topic}" for topic in TOPICS), schema_registry.NAME)
    return connect.connector(site, JOB_ORDERS_SOURCE, _texts(options), needs)


def _lake(site: Site) -> Connector:
    """Iceberg's own sink. It commits its offsets in the transaction in which it tells its coordinator of the files."""
    store = site.address(object_store.NAME, object_store.S3.name)
    options: Options = {
        "connector.class": "org.apache.iceberg.connect.IcebergSinkConnector",
        "tasks.max": 1,
        **_sink(JOB_ORDERS_LAKE),
        "iceberg.tables": ",".join(RAW_TABLES.values()),
        "iceberg.tables.route-field": RECORD_TOPIC,
        **{f"iceberg.table.{table}.route-regex": topic for topic, table in RAW_TABLES.items()},
        "iceberg.tables.auto-create-enabled": True,
        "iceberg.tables.evolve-schema-enabled": True,
        # Every commit writes a new metadata file. Of the old ones ten stay, for readers that still hold them.
        "iceberg.tables.auto-create-props.write.metadata.delete-after-commit.enabled": True,
        "iceberg.tables.auto-create-props.write.metadata.previous-versions-max": 10,
        "iceberg.control.topic": _control_topic(),
        "iceberg.control.commit.interval-ms": COMMIT_MS,
        "iceberg.control.commit.timeout-ms": 2 * COMMIT_MS,
        "iceberg.control.commit.threads": 2,
        "iceberg.control.commit.max-consecutive-failures": 60,
        "iceberg.kafka.auto.offset.reset": "earliest",
        "iceberg.catalog": CATALOG,
        "iceberg.catalog.type": "rest",
        "iceberg.catalog.uri": site.address(iceberg_catalog.NAME, iceberg_catalog.REST.name).url,
        "iceberg.catalog.warehouse": f"{WAREHOUSE}/",
        "iceberg.catalog.io-impl": "org.apache.iceberg.aws.s3.S3FileIO",
        "iceberg.catalog.client.region": credentials.S3_REGION,
        "iceberg.catalog.s3.endpoint": store.url,
        "iceberg.catalog.s3.path-style-access": True,
        "iceberg.catalog.s3.access-key-id": connect.secret(credentials.S3_ACCESS_KEY),
        "iceberg.catalog.s3.secret-access-key": connect.secret(credentials.S3_SECRET_KEY),
        **_transforms(LINEAGE, "record"),
        "transforms.record.type": "org.apache.kafka.connect.transforms.InsertField$Value",
        "transforms.record.topic.field": f"{RECORD_TOPIC}!",
        "transforms.record.partition.field": f"{RECORD_PARTITION}!",
        "transforms.record.offset.field": f"{RECORD_OFFSET}!",
    }
    own = (f"topic/{_control_topic()}", f"topic/{dead_letter_topic(JOB_ORDERS_LAKE)}")
    needs = (*_needs_of_sinks(), *own, iceberg_catalog.NAME)
    return connect.connector(site, JOB_ORDERS_LAKE, _texts(options), needs)


def _archive(site: Site) -> Connector:
    """The lab's own sink: JSON lines by the hour, each object named by the offsets that it holds."""
    options: Options = {
        "connector.class": "dev.lineagelab.archive.S3ArchiveSinkConnector",
        "tasks.max": 2,
        **_sink(JOB_ORDERS_ARCHIVE),
        **_transforms(LINEAGE),
        "s3.bucket.name": ARCHIVE_BUCKET,
        "s3.region": credentials.S3_REGION,
        "store.url": site.address(object_store.NAME, object_store.S3.name).url,
        "aws.access.key.id": connect.secret(credentials.S3_ACCESS_KEY),
        "aws.secret.access.key": connect.secret(credentials.S3_SECRET_KEY),
        "format.class": "JsonFormat",
        "flush.size": 5000,
        "rotate.schedule.interval.ms": ARCHIVE_MS,
    }
    own = (f"topic/{dead_letter_topic(JOB_ORDERS_ARCHIVE)}", f"bucket/{ARCHIVE_BUCKET}")
    return connect.connector(site, JOB_ORDERS_ARCHIVE, _texts(options), (*_needs_of_sinks(), *own))


def _sink(name: str) -> Options:
    """What is the same for all sinks: they read what was committed, and keep what they cannot read."""
    return {
        "topics": ",".join(TOPICS),
        "consumer.override.auto.offset.reset": "earliest",
        "consumer.override.isolation.level": "read_committed",
        **_WAITS,
        "errors.tolerance": "all",
        "errors.deadletterqueue.topic.name": dead_letter_topic(name),
        "errors.deadletterqueue.topic.replication.factor": 1,
        "errors.deadletterqueue.context.headers.enable": True,
    }


def _transforms(*names: str) -> Options:
    """The chain of transforms, with the type of the one that all connectors have."""
    return {"transforms": ",".join(names), f"transforms.{LINEAGE}.type": LINEAGE_TRANSFORM}


def _needs_of_sinks() -> tuple[str, ...]:
    return (*(f"topic/{topic}" for topic in TOPICS), schema_registry.NAME)


def _texts(options: Mapping[str, str | int | bool]) -> dict[str, str]:
    """As Connect keeps them: everything is text."""
    return {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in options.items()}


def pipeline(draft: Draft) -> tuple[Part, ...]:
    """Return the lab's connectors and the topics that they use internally."""
    profile = draft.settings.profile
    return (*topics(draft.site, profile), *connectors(draft.site, profile))
