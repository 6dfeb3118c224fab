# SPDX-License-Identifier: Apache-2.0
"""Every dataset namespace, dataset name, job namespace and job name of the lab, spelled once.

This module imports nothing, so that everything may import it: the Pulumi program, the jobs, the tests.
Names are canonical: they say what a thing *is*, never where a target happened to put it, so the graphs of
the local, Docker and Kubernetes labs are equal. What an engine needs to emit them (namespace resolvers,
rewriting rules) is rendered here too, from the same constants.

Naming follows OpenLineage's conventions: Kafka is `kafka://{bootstrap host}:{port}` and the topic; an
Iceberg table is its physical place, `s3://{bucket}` and the path, with the catalog's name as a symlink.
"""

JOBS = "lineage-lab"
"""Namespace of every job of the lab."""

KAFKA = "kafka://kafka:9092"
WAREHOUSE = "s3://warehouse"
ARCHIVE = "s3://archive"
POSTGRES = "postgres://postgres:5432"

CATALOG = "lake"
"""Name of the Iceberg catalog, as every engine's SQL spells it (`lake.sales.orders`)."""

WAREHOUSE_BUCKET = WAREHOUSE.removeprefix("s3://")
ARCHIVE_BUCKET = ARCHIVE.removeprefix("s3://")
CHECKPOINT_BUCKET = "checkpoints"
EVENT_LOG_BUCKET = "spark-events"
"""What these two hold is no data of the pipeline, so that they are no datasets."""

TOPIC_ORDERS = "orders"
TOPIC_BIDS = "bids"
TOPICS = (TOPIC_ORDERS, TOPIC_BIDS)
TOPIC_SUPPLIER_WINDOWS = "supplier-windows"

TABLE_ORDERS = "sales.orders"
TABLE_ORDERS_REJECTED = "sales.orders_rejected"
TABLE_SUPPLIER_STATS = "sales.supplier_stats"
TABLES = (TABLE_ORDERS, TABLE_ORDERS_REJECTED, TABLE_SUPPLIER_STATS)

TABLE_RAW_ORDERS = "raw.orders"
TABLE_RAW_BIDS = "raw.bids"
RAW_TABLES = {TOPIC_ORDERS: TABLE_RAW_ORDERS, TOPIC_BIDS: TABLE_RAW_BIDS}
"""Topic -> the table that holds each of its records, as it came."""

TABLE_LIVE_ORDERS = "live.orders"
TABLE_LIVE_SUPPLIER_STATS = "live.supplier_stats"
"""What Flink writes, and the statistics of that."""

JOB_ORDERS_ETL = "orders_etl"
JOB_SUPPLIER_STATS = "supplier_stats"
JOB_LAKE_MAINTENANCE = "lake_maintenance"
JOB_SUPPLIER_WINDOWS = "supplier_windows"
JOB_ICEBERG_INGESTION = "iceberg_ingestion"
JOB_ORDERS_SOURCE = "orders_source"
JOB_ORDERS_LAKE = "orders_lake"
JOB_ORDERS_ARCHIVE = "orders_archive"


def catalog_name(table: str) -> str:
    """The name that SQL uses: `sales.orders` is `lake.sales.orders`."""
    return f"{CATALOG}.{table}"


def path_of_table(table: str) -> str:
    """The dataset name of a table in `WAREHOUSE`: `sales.orders` is `sales/orders`."""
    return table.replace(".", "/")


def spark_lineage(lineage_url: str, columns: bool = False) -> dict[str, str]:
    """Spark settings that make OpenLineage's agent speak of the lab's jobs to the lineage service.

    The agent (1.53) reports runs, datasets and statistics; with `columns`, schemas and column lineage as well. The
    lab's own jobs say those themselves (`lineagelab_spark`), more exactly: of a Kafka read, for one, the agent knows
    the raw record alone. Creating a table, decoding rows
    for a count and looking at the first rows of something move no data, so that they are no jobs of the graph.

    Spark gets no namespace resolver: the agent (1.53) applies them to datasets but not to the input fields
    of columnLineage, so that its own events stop fitting together. The service's rules do both.
    """
    return {
        "spark.extraListeners": "io.openlineage.spark.agent.OpenLineageSparkListener",
        "spark.openlineage.namespace": JOBS,
        "spark.openlineage.transport.type": "http",
        "spark.openlineage.transport.url": lineage_url,
        "spark.openlineage.transport.timeoutInMillis": "2000",
        "spark.openlineage.filter.deniedSparkNodes": (
            "[org.apache.spark.sql.catalyst.plans.logical.CreateTable;"
            "org.apache.spark.sql.catalyst.plans.logical.DeserializeToObject;"
            "org.apache.spark.sql.catalyst.plans.logical.GlobalLimit]"
        ),
        "spark.openlineage.facets.schema.disabled": str(not columns).lower(),
        "spark.openlineage.facets.columnLineage.disabled": str(not columns).lower(),
        "spark.openlineage.facets.spark_properties.disabled": "true",
        "spark.openlineage.facets.environment-properties.disabled": "true",
        "spark.openlineage.facets.spark.logicalPlan.disabled": "true",
    }


def flink_lineage(lineage_url: str) -> dict[str, str]:
    """Flink settings that make OpenLineage's listener speak of every job of a cluster to the lineage service.

    Without detached tracking the listener (1.53) never says how a job ended. It needs no namespace resolver: the
    service's rules know what a broker's addresses mean, and which table stands behind an empty namespace.
    """
    return {
        "execution.job-status-changed-listeners": (
            "io.openlineage.flink.listener.OpenLineageJobStatusChangedListenerFactory"
        ),
        "openlineage.transport.type": "http",
        "openlineage.transport.url": lineage_url,
        "openlineage.transport.timeoutInMillis": "2000",
        "openlineage.job.namespace": JOBS,
        "openlineage.flink.enableDetachedJobTracking": "true",
        "openlineage.trackingIntervalInSeconds": "30",
    }


LINEAGE_TRANSFORM = "dev.lineagelab.connect.OpenLineageTransform"
LINEAGE_EXTENSION = "dev.lineagelab.connect.OpenLineageRestExtension"
"""The two halves of the lab's plugin for Kafka Connect: what sees the records, and what sees the connectors."""


def connect_lineage(lineage_url: str, database: str) -> dict[str, str]:
    """Settings of a Kafka Connect worker that make the lab's plugin speak of its connectors to the lineage service.

    Args:
        lineage_url: of the service.
        database: `host:port` under which connectors reach Postgres.
    """
    return {
        "openlineage.transport.url": lineage_url,
        "openlineage.transport.batch.endpoint": "/api/v1/lineage/batch",
        "openlineage.job.namespace": JOBS,
        "openlineage.namespace.kafka": KAFKA,
        "openlineage.namespaces": f"postgres://{database}={POSTGRES}",
    }


def service_rules(kafka_addresses: list[str], catalog_url: str) -> dict[str, object]:
    """The lineage service's rules file: which spellings mean which canonical namespace.

    `kafka_addresses` are the `host:port` under which the broker is reached, from inside and from outside the
    target. `catalog_url` is the Iceberg REST catalog as the service reaches it.
    """
    return {
        "version": 1,
        "namespaces": [
            {"canonical": KAFKA, "hosts": sorted(set(kafka_addresses))},
            {"canonical": WAREHOUSE, "patterns": [f"^s3[an]?://{WAREHOUSE_BUCKET}/?$"]},
            {"canonical": ARCHIVE, "patterns": [f"^s3[an]?://{ARCHIVE_BUCKET}/?$"]},
        ],
        "catalogs": [{"name": CATALOG, "uri": catalog_url, "warehouse": WAREHOUSE}],
    }
