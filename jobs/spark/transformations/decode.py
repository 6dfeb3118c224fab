# SPDX-License-Identifier: Apache-2.0
"""Kafka records to orders, readable or not, whichever schema each was written with."""

import json
from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import from_avro

from jobs.spark.transformations.framing import MAGIC, datum, first_byte, header, header_of
from lineagelab_spark.datatypes import avro_type

NOT_FRAMED = "the value does not begin with a schema id"
UNKNOWN_SCHEMA = "the schema id of the value is of no Avro record in the registry"

_TYPES = {"string": "string", "timestamp-millis": "timestamp"}
"""What Spark makes of types of Avro. Of others, and of those that it makes something else of, values are cast."""

Columns = Mapping[str, str]
"""Name -> Spark type of the columns that are wanted."""


def decode(records: DataFrame, schemas: Mapping[int, str], columns: Columns) -> DataFrame:
    """The records that have a value, each decoded under its writer's schema, brought to the columns that are wanted.

    A column that a schema does not have is null, one that nobody wants is left out, one of another type is cast
    (null where that fails). A record without a value says that its key is gone: it is no order.

    Args:
        records: as Spark's Kafka source gives them; `value` is in Confluent's wire format.
        schemas: the writers' schemas by id, each JSON of an Avro record.
        columns: at least one.

    Returns:
        `order` (struct of `columns`), `problem` (string: why the value could not be decoded, null where it was
        tried), `key` (string), `partition`, `offset`, `timestamp`. All of `order` is null where the value could
        not be read: that is what PERMISSIVE means for Avro, whatever the schema says of null.
    """
    ids = sorted(schemas)
    decoded = records.where("value is not null").select(
        *(_decoded(schema_id, schemas[schema_id]).alias(_name(schema_id)) for schema_id in ids),
        _problem(ids).alias("problem"),
        F.col("key").cast("string").alias("key"),
        *("partition", "offset", "timestamp"),
    )
    order = F.struct(*(_column(name, kind, schemas).alias(name) for name, kind in columns.items()))
    return decoded.select(order.alias("order"), "problem", "key", "partition", "offset", "timestamp")


def _decoded(schema_id: int, schema: str) -> Column:
    """Null where another schema wrote the value."""
    own = F.when(header() == header_of(schema_id), datum())
    return from_avro(own, schema, {"mode": "PERMISSIVE"})


def _problem(ids: list[int]) -> Column:
    unknown = F.when(first_byte() == F.lit(MAGIC), F.lit(UNKNOWN_SCHEMA)).otherwise(F.lit(NOT_FRAMED))
    if not ids:
        return unknown
    known = header().isin(*(header_of(schema_id) for schema_id in ids))
    return F.when(known, F.lit(None).cast("string")).otherwise(unknown)


def _column(name: str, kind: str, schemas: Mapping[int, str]) -> Column:
    """Each value was written with one schema, so that the column of one struct at most is not null."""
    found = []
    for schema_id in sorted(schemas):
        types = {field["name"]: field["type"] for field in json.loads(schemas[schema_id])["fields"]}
        if name in types:
            column = F.col(_name(schema_id)).getField(name)
            found.append(column if _TYPES.get(avro_type(types[name])) == kind else column.try_cast(kind))
    return F.coalesce(*found) if found else F.lit(None).cast(kind)


def _name(schema_id: int) -> str:
    return f"schema_{schema_id}"
