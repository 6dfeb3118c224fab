# SPDX-License-Identifier: Apache-2.0
"""Tables that the jobs write."""

from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession

from infra.namespaces import TABLE_ORDERS, TABLE_ORDERS_REJECTED, TABLE_SUPPLIER_STATS, qualified_table_name
from jobs.spark.transformations.check import PRICE_TYPE
from jobs.spark.transformations.supplier_totals import TOTAL_TYPE

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
        columns: as in CREATE TABLE.
        partitioning: as in PARTITIONED BY.
    """

    name: str
    columns: str
    partitioning: str

    def create(self, spark: SparkSession) -> None:
        """Create the table and its namespace if they do not exist."""
        namespace = self.name.rpartition(".")[0]
        properties = ", ".join(f"'{key}' = '{value}'" for key, value in _PROPERTIES.items())
        spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {namespace}")
        spark.sql(
            f"CREATE TABLE IF NOT EXISTS {self.name} ({self.columns}) USING iceberg "
            f"PARTITIONED BY ({self.partitioning}) TBLPROPERTIES ({properties})"
        )


def orders(name: str = qualified_table_name(TABLE_ORDERS)) -> Table:
    """Return the table of accepted orders, one row each."""
    return Table(
        name,
        f"order_id string, item string, price {PRICE_TYPE}, supplier string, bid_time timestamp",
        "days(bid_time)",
    )


def orders_rejected(name: str = qualified_table_name(TABLE_ORDERS_REJECTED)) -> Table:
    """Return the table of rejected orders: raw values, with reason and position in the topic."""
    return Table(
        name,
        "order_id string, reason string, item string, price string, supplier string, bid_time_ms bigint, "
        "kafka_partition int, kafka_offset bigint, kafka_timestamp timestamp",
        "days(kafka_timestamp)",
    )


def supplier_stats(name: str = qualified_table_name(TABLE_SUPPLIER_STATS)) -> Table:
    """Return the table of totals by supplier, day and hour."""
    return Table(
        name,
        f"supplier string, bid_date date, bid_hour int, total_price {TOTAL_TYPE}, total_count bigint",
        "bid_date",
    )


def overwrite_partitions(frame: DataFrame, table: Table) -> None:
    """Overwrite the partitions that a frame has rows for, in one commit.

    Columns match by name. Other partitions are unchanged.
    """
    frame.writeTo(table.name).overwritePartitions()
