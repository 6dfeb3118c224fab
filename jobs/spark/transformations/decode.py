# SPDX-License-Identifier: Apache-2.0
"""Kafka records to orders, readable or not."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import from_avro


def decode(records: DataFrame, avro_schema: str) -> DataFrame:
    """The records with their value decoded and their key as text.

    Args:
        records: as Spark's Kafka source gives them; `value` is a plain Avro datum without a header.
        avro_schema: JSON of a record schema.

    Returns:
        `order` (struct of the schema's fields), `key` (string), `partition`, `offset`, `timestamp`. All fields
        of `order` are null where the value could not be read: that is what PERMISSIVE means for Avro, whatever
        the schema says of null.
    """
    order = from_avro("value", avro_schema, {"mode": "PERMISSIVE"})
    return records.select(
        order.alias("order"), F.col("key").cast("string").alias("key"), "partition", "offset", "timestamp"
    )
