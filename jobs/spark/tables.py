# SPDX-License-Identifier: Apache-2.0
"""Tables that the jobs write."""

from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from infra.namespaces import (
    TABLE_ENRICHED_ORDERS,
    TABLE_LINEAGE_CHAINS,
    TABLE_LINEAGE_COLUMN_EDGES,
    TABLE_LINEAGE_COLUMN_REACH,
    TABLE_LINEAGE_EDGES,
    TABLE_LINEAGE_JOB_RELIABILITY,
    TABLE_ORDERS,
    TABLE_ORDERS_REJECTED,
    TABLE_SUPPLIER_ACTIVITY,
    TABLE_SUPPLIER_FEATURES,
    TABLE_SUPPLIER_STATS,
    TABLE_SUPPLIERS,
    qualified_table_name,
)
from jobs.spark.runtime import JobError

_PROPERTIES = {
    "format-version": "2",
    # Every commit writes a new metadata file; without this, old ones accumulate.
    "write.metadata.delete-after-commit.enabled": "true",
    "write.metadata.previous-versions-max": "10",
    # A batch has few rows of few days: a shuffle by day costs more than the files that it saves.
    "write.distribution-mode": "none",
    "write.spark.fanout.enabled": "true",
}


@dataclass(frozen=True)
class Table:
    """Iceberg table.

    Attributes:
        name: `catalog.namespace.table`.
        columns: columns, all of them nullable.
        partitioning: as in PARTITIONED BY.
    """

    name: str
    columns: StructType
    partitioning: str

    def create(self, spark: SparkSession) -> None:
        """Create the table and its namespace if they do not exist, and add the columns that an existing table lacks.

        Readers of the table continue: a running query keeps the columns that it started with.

        Raises:
            JobError: the table has a column of another type.
        """
        namespace = self.name.rpartition(".")[0]
        properties = ", ".join(f"'{key}' = '{value}'" for key, value in _PROPERTIES.items())
        spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {namespace}")
        spark.sql(
            f"CREATE TABLE IF NOT EXISTS {self.name} ({self.columns.toDDL()}) USING iceberg "
            f"PARTITIONED BY ({self.partitioning}) TBLPROPERTIES ({properties})"
        )
        missing = missing_columns(self, spark.table(self.name).schema)
        if missing:
            spark.sql(f"ALTER TABLE {self.name} ADD COLUMNS ({StructType(missing).toDDL()})")


def missing_columns(wanted: Table, existing: StructType) -> list[StructField]:
    """Return the columns of a table that an existing one lacks; its other columns are left alone.

    Raises:
        JobError: a column has another type.
    """
    types = {field.name: field.dataType for field in existing.fields}
    for field in wanted.columns.fields:
        found = types.get(field.name, field.dataType)
        if found != field.dataType:
            raise JobError(
                f"cannot write to {wanted.name}: column {field.name} is {found.simpleString()}, not "
                f"{field.dataType.simpleString()}. Change it with ALTER TABLE, or rename the table and restart the job"
            )
    return [field for field in wanted.columns.fields if field.name not in types]


_PRICE = DecimalType(10, 2)
_TOTAL = DecimalType(12, 2)


def _order_columns() -> StructType:
    return (
        StructType()
        .add("order_id", StringType())
        .add("item", StringType())
        .add("price", _PRICE)
        .add("supplier", StringType())
        .add("bid_time", TimestampType())
    )


def orders(name: str = qualified_table_name(TABLE_ORDERS)) -> Table:
    """Return the table of accepted orders, one row each."""
    return Table(name, _order_columns(), "days(bid_time)")


def orders_rejected(name: str = qualified_table_name(TABLE_ORDERS_REJECTED)) -> Table:
    """Return the table of rejected orders: raw values, with reason and position in the topic."""
    columns = (
        StructType()
        .add("order_id", StringType())
        .add("reason", StringType())
        .add("item", StringType())
        .add("price", StringType())
        .add("supplier", StringType())
        .add("bid_time_ms", LongType())
        .add("kafka_partition", IntegerType())
        .add("kafka_offset", LongType())
        .add("kafka_timestamp", TimestampType())
    )
    return Table(name, columns, "days(kafka_timestamp)")


def supplier_stats(name: str = qualified_table_name(TABLE_SUPPLIER_STATS)) -> Table:
    """Return the table of totals by supplier, day and hour."""
    columns = (
        StructType()
        .add("supplier", StringType())
        .add("bid_date", DateType())
        .add("bid_hour", IntegerType())
        .add("total_price", _TOTAL)
        .add("total_count", LongType())
    )
    return Table(name, columns, "bid_date")


def suppliers(name: str = qualified_table_name(TABLE_SUPPLIERS)) -> Table:
    """Return the slowly changing dimension of suppliers: one row per supplier and period with the same tier."""
    columns = (
        StructType()
        .add("supplier", StringType())
        .add("tier", StringType())
        .add("valid_from", DateType())
        .add("valid_to", DateType())
    )
    return Table(name, columns, "truncate(1, supplier)")


def enriched_orders(name: str = qualified_table_name(TABLE_ENRICHED_ORDERS)) -> Table:
    """Return the table of accepted orders with bids, the tier of their supplier on that day, and price deviation."""
    columns = (
        _order_columns()
        .add("bid_date", DateType())
        .add("bid_count", LongType())
        .add("best_bid", _PRICE)
        .add("margin", DecimalType(11, 2))
        .add("tier", StringType())
        .add("price_deviation", DoubleType())
    )
    return Table(name, columns, "bid_date")


def supplier_activity(name: str = qualified_table_name(TABLE_SUPPLIER_ACTIVITY)) -> Table:
    """Return the table of orders by supplier and minute."""
    columns = (
        StructType()
        .add("supplier", StringType())
        .add("window_start", TimestampType())
        .add("window_end", TimestampType())
        .add("order_count", LongType())
        .add("total_price", _TOTAL)
    )
    return Table(name, columns, "days(window_start)")


def supplier_features(name: str = qualified_table_name(TABLE_SUPPLIER_FEATURES)) -> Table:
    """Return the table of features: one row for every `ORDERS_PER_ROW` consecutive orders of a supplier."""
    columns = (
        StructType()
        .add("supplier", StringType())
        .add("first_order_at", TimestampType())
        .add("last_order_at", TimestampType())
        .add("mean_price", DoubleType())
        .add("price_deviation", DoubleType())
        .add("min_price", DoubleType())
        .add("max_price", DoubleType())
        .add("next_mean_price", DoubleType())
    )
    return Table(name, columns, "days(last_order_at)")


def lineage_edges(name: str = qualified_table_name(TABLE_LINEAGE_EDGES)) -> Table:
    """Return the table of the edges between jobs and datasets; `direction` is `input` or `output`."""
    columns = _named("job").add("direction", StringType())
    return Table(name, StructType([*columns, *_named("dataset")]), "bucket(4, job_name)")


def lineage_column_edges(name: str = qualified_table_name(TABLE_LINEAGE_COLUMN_EDGES)) -> Table:
    """Return the table of the edges between columns; without `output_field`, the whole dataset is the output."""
    columns = (
        *_named("job"),
        *_named("output").add("output_field", StringType()),
        *_named("input").add("input_field", StringType()),
        *StructType().add("type", StringType()).add("subtype", StringType()).add("masking", BooleanType()),
    )
    return Table(name, StructType([*columns]), "bucket(4, job_name)")


def lineage_column_reach(name: str = qualified_table_name(TABLE_LINEAGE_COLUMN_REACH)) -> Table:
    """Return the table of all columns that a column depends on; `jobs` is the number of jobs between them."""
    columns = (
        *_named("output").add("output_field", StringType()),
        *_named("input").add("input_field", StringType()),
        *StructType().add("jobs", IntegerType()),
    )
    return Table(name, StructType([*columns]), "bucket(4, output_name)")


def lineage_chains(name: str = qualified_table_name(TABLE_LINEAGE_CHAINS)) -> Table:
    """Return the table of the longest chain of datasets and jobs that leads to each dataset."""
    node = StructType().add("kind", StringType()).add("namespace", StringType()).add("name", StringType())
    columns = _named("dataset").add("jobs", IntegerType()).add("chain", ArrayType(node))
    return Table(name, columns, "bucket(4, dataset_name)")


def lineage_job_reliability(name: str = qualified_table_name(TABLE_LINEAGE_JOB_RELIABILITY)) -> Table:
    """Return the table of the runs of each job: ends, durations, delays of events (seconds)."""
    columns = (
        _named("job")
        .add("runs", LongType())
        .add("completed", LongType())
        .add("failed", LongType())
        .add("aborted", LongType())
        .add("without_end", LongType())
        .add("median_seconds", DoubleType())
        .add("p95_seconds", DoubleType())
        .add("p95_event_delay", DoubleType())
        .add("first_event", TimestampType())
        .add("last_event", TimestampType())
    )
    return Table(name, columns, "bucket(4, job_name)")


def _named(role: str) -> StructType:
    return StructType().add(f"{role}_namespace", StringType()).add(f"{role}_name", StringType())


def overwrite_partitions(frame: DataFrame, table: Table) -> None:
    """Overwrite the partitions that a frame has rows for, in one commit.

    Columns match by name. Other partitions are unchanged.
    """
    frame.writeTo(table.name).overwritePartitions()
