# SPDX-License-Identifier: Apache-2.0
"""Dataset namespaces, dataset names, job namespace and job names of the lab; the only definition of each.

This module imports nothing, so that the Pulumi program, the jobs and the tests can all import it. Names are canonical
and independent of the target, so that the lineage graphs of all targets are equal. Engine settings that depend on these
names (lineage transports, rewriting rules) are rendered here from the same constants.

Names follow OpenLineage's conventions: a Kafka topic is `kafka://{bootstrap host}:{port}` and the topic's name; an
Iceberg table is its physical location, `s3://{bucket}` and the path, with the name in the catalog as a symlink.
"""

JOB_NAMESPACE = "lineage-lab"
"""OpenLineage namespace of all jobs."""

KAFKA_NAMESPACE = "kafka://kafka:9092"
WAREHOUSE_NAMESPACE = "s3://warehouse"
ARCHIVE_NAMESPACE = "s3://archive"
POSTGRES_NAMESPACE = "postgres://postgres:5432"
TRINO_NAMESPACE = "trino://trino:8090"
"""Namespaces of datasets: Kafka topics, Iceberg tables, archived objects, Postgres tables, Trino tables."""

CATALOG_NAME = "lake"
"""Name of the Iceberg catalog in the SQL of every engine (`lake.sales.orders`)."""

SQL_ENGINE_PATTERNS = (rf"^duckdb://(?!(.*/)?{CATALOG_NAME}(\.[^/]*)?$)", "^trino://")
"""Namespaces of engines that name a table `lake.sales.orders`, the catalog being mounted as `lake`.

DuckDB names the catalog of a database file after the file: in `lake.duckdb`, `lake` is not the Iceberg catalog.
"""

WAREHOUSE_BUCKET = WAREHOUSE_NAMESPACE.removeprefix("s3://")
ARCHIVE_BUCKET = ARCHIVE_NAMESPACE.removeprefix("s3://")
CHECKPOINT_BUCKET = "checkpoints"
EVENT_LOG_BUCKET = "spark-events"
"""Buckets for checkpoints and Spark event logs; not datasets, since they hold no data of the pipeline."""

TOPIC_ORDERS = "orders"
TOPIC_BIDS = "bids"
SHOP_TOPICS = (TOPIC_ORDERS, TOPIC_BIDS)
"""Topics with the rows of the shop's tables, captured from Postgres."""

TOPIC_SUPPLIER_WINDOWS = "supplier-windows"

TABLE_ORDERS = "sales.orders"
TABLE_ORDERS_REJECTED = "sales.orders_rejected"
TABLE_SUPPLIER_STATS = "sales.supplier_stats"
SALES_TABLES = (TABLE_ORDERS, TABLE_ORDERS_REJECTED, TABLE_SUPPLIER_STATS)
"""Tables that the Spark jobs write."""

TABLE_SUPPLIERS = "sales.suppliers"
TABLE_ENRICHED_ORDERS = "sales.enriched_orders"
TABLE_SUPPLIER_ACTIVITY = "sales.supplier_activity"
"""Tables that the optional medallion jobs write."""

TABLE_SUPPLIER_FEATURES = "sales.supplier_features"
"""Table that the optional job of the forecast writes."""

MODELS_NAMESPACE = "s3://models"
MODELS_BUCKET = MODELS_NAMESPACE.removeprefix("s3://")
MODEL_PRICE_FORECAST = "price_forecast"
"""Namespace and bucket of trained models, and the model of the optional forecast."""

MARTS_SCHEMA = "marts"
"""Schema of the tables that the optional dbt project writes."""

DASHBOARD_NAMESPACE = "dashboard://sales"
"""Namespace of the tiles of the optional dashboard."""

TABLE_RAW_ORDERS = "raw.orders"
TABLE_RAW_BIDS = "raw.bids"
RAW_TABLES = {TOPIC_ORDERS: TABLE_RAW_ORDERS, TOPIC_BIDS: TABLE_RAW_BIDS}
"""Topic -> table that stores its records unmodified."""

TABLE_LIVE_ORDERS = "live.orders"
TABLE_LIVE_SUPPLIER_STATS = "live.supplier_stats"
"""Table that Flink writes, and the table of statistics computed from it."""

TOPIC_LINEAGE_EVENTS = "lineage-events"
TABLE_LINEAGE_EVENTS = "lineage.events"
"""Topic and table with the events of the lineage service, in a lab that keeps its lineage history in the lake."""

TABLE_LINEAGE_EDGES = "lineage.edges"
TABLE_LINEAGE_COLUMN_EDGES = "lineage.column_edges"
TABLE_LINEAGE_JOB_RELIABILITY = "lineage.job_reliability"
TABLE_LINEAGE_COLUMN_REACH = "lineage.column_reach"
TABLE_LINEAGE_CHAINS = "lineage.chains"
"""Tables that the optional job over the lineage history writes."""

JOB_ORDERS_ETL = "orders_etl"
JOB_SUPPLIER_STATS = "supplier_stats"
JOB_ENRICHED_ORDERS = "enriched_orders"
JOB_SUPPLIER_ACTIVITY = "supplier_activity"
JOB_SUPPLIER_FEATURES = "supplier_features"
JOB_PRICE_FORECAST = "price_forecast_training"
JOB_LAKE_MAINTENANCE = "lake_maintenance"
JOB_DBT_BUILD = "dbt_build"
JOB_DASHBOARD = "sales_dashboard"
JOB_SUPPLIER_WINDOWS = "supplier_windows"
JOB_ICEBERG_INGESTION = "iceberg_ingestion"
JOB_ORDERS_SOURCE = "orders_source"
JOB_ORDERS_LAKE = "orders_lake"
JOB_ORDERS_ARCHIVE = "orders_archive"
JOB_LINEAGE_EVENTS_LAKE = "lineage_events_lake"
JOB_LINEAGE_HISTORY = "lineage_history"


def qualified_table_name(table: str) -> str:
    """Return the fully qualified SQL name of a table: `sales.orders` -> `lake.sales.orders`."""
    return f"{CATALOG_NAME}.{table}"


SPOOL_TRANSPORT = "spool"
"""Type of the transport `integrations/spool-transport`, which keeps events on disk until they are accepted."""


def spark_lineage_settings(lineage_url: str, columns: bool = False, spool: str = "") -> dict[str, str]:
    """Return Spark settings of the OpenLineage agent, which sends events to the lineage service.

    The agent (1.53) reports runs, datasets and statistics; with `columns`, schemas and column lineage as well. The
    lab's jobs report schemas and columns themselves (`lineagelab_spark`) in more detail: for a Kafka read, for example,
    the agent only reports the raw record. Plan nodes that move no data are filtered: creating a table, decoding rows
    for a count, fetching the first rows.

    Namespace resolvers are not configured: the agent (1.53) applies them to datasets, but not to the input fields of
    columnLineage, which makes its events inconsistent. The rules of the lineage service rewrite both.

    Args:
        lineage_url: URL of the lineage service.
        columns: report schemas and column lineage as well.
        spool: folder that keeps events which are not accepted yet; empty: the agent sends each once.
    """
    http = _lineage_transport(lineage_url)
    transport = _spooled(http, spool) if spool else http
    return {
        "spark.extraListeners": "io.openlineage.spark.agent.OpenLineageSparkListener",
        "spark.openlineage.namespace": JOB_NAMESPACE,
        **{f"spark.openlineage.transport.{key}": value for key, value in transport.items()},
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


FLINK_JOB_ID_PREFIX = "1ab0a11c"
"""First digits of the ids of Flink jobs that a launcher submits and reports."""

FLINK_LINEAGE_TRANSPORT = "launched-jobs"
"""Type of the transport `components/flink-lineage-transport`, which leaves such jobs to their launchers."""


def _lineage_transport(url: str) -> dict[str, str]:
    return {"type": "http", "url": url, "timeoutInMillis": "2000"}


def _spooled(transport: dict[str, str], folder: str) -> dict[str, str]:
    """Return the settings of the transport that keeps the events of another one in a folder."""
    directory = {"directory": folder} if folder else {}
    return {"type": SPOOL_TRANSPORT, **directory, **_nested(transport)}


def _nested(transport: dict[str, str]) -> dict[str, str]:
    return {f"transport.{key}": value for key, value in transport.items()}


def flink_lineage_settings(lineage_url: str, spool: str = "") -> dict[str, str]:
    """Return Flink settings of the OpenLineage listener, which sends events of every job to the lineage service.

    Without detached tracking the listener (1.53) reports no terminal state. Namespace resolvers are not needed: the
    rules of the lineage service map broker addresses, and tables whose namespace is empty, to canonical names.

    Args:
        lineage_url: URL of the lineage service.
        spool: folder that keeps events which are not accepted yet; empty: the file of `OPENLINEAGE_CONFIG` names it.
    """
    transport = _spooled(_lineage_transport(lineage_url), spool)
    launched_jobs = {"type": FLINK_LINEAGE_TRANSPORT, "jobIdPrefix": FLINK_JOB_ID_PREFIX, **_nested(transport)}
    return {
        "execution.job-status-changed-listeners": (
            "io.openlineage.flink.listener.OpenLineageJobStatusChangedListenerFactory"
        ),
        **{f"openlineage.transport.{key}": value for key, value in launched_jobs.items()},
        "openlineage.job.namespace": JOB_NAMESPACE,
        "openlineage.flink.enableDetachedJobTracking": "true",
        "openlineage.trackingIntervalInSeconds": "30",
    }


LINEAGE_TRANSFORM = "dev.lineagelab.connect.OpenLineageTransform"
LINEAGE_EXTENSION = "dev.lineagelab.connect.OpenLineageRestExtension"
"""Classes of the lineage plugin for Kafka Connect: the transform observes records, the extension connectors."""


def connect_lineage_settings(lineage_url: str, database: str) -> dict[str, str]:
    """Return Kafka Connect worker settings of the lineage plugin.

    Args:
        lineage_url: URL of the lineage service.
        database: `host:port` of Postgres, as connectors reach it.
    """
    return {
        "openlineage.transport.url": lineage_url,
        "openlineage.transport.batch.endpoint": "/api/v1/lineage/batch",
        "openlineage.job.namespace": JOB_NAMESPACE,
        "openlineage.namespace.kafka": KAFKA_NAMESPACE,
        "openlineage.namespaces": f"postgres://{database}={POSTGRES_NAMESPACE}",
    }


def lineage_service_rules(kafka_addresses: list[str], catalog_url: str) -> dict[str, object]:
    """Return the rules file of the lineage service, which maps namespace variants to canonical namespaces.

    Args:
        kafka_addresses: every `host:port` of the broker, as seen from inside and outside of the target.
        catalog_url: URL of the Iceberg REST catalog, as the lineage service reaches it.
    """
    return {
        "version": 1,
        # Flink's listener names sources and sinks without storage (datagen, print) like tables of an unknown catalog.
        "emptyNamespaces": "omit",
        "namespaces": [
            {"canonical": KAFKA_NAMESPACE, "hosts": sorted(set(kafka_addresses))},
            {"canonical": WAREHOUSE_NAMESPACE, "patterns": [f"^s3[an]?://{WAREHOUSE_BUCKET}/?$"]},
            {"canonical": ARCHIVE_NAMESPACE, "patterns": [f"^s3[an]?://{ARCHIVE_BUCKET}/?$"]},
        ],
        "catalogs": [
            {
                "name": CATALOG_NAME,
                "uri": catalog_url,
                "warehouse": WAREHOUSE_NAMESPACE,
                "aliases": [{"patterns": list(SQL_ENGINE_PATTERNS)}],
            }
        ],
    }
