# SPDX-License-Identifier: Apache-2.0
"""Decoding of Kafka records with several writer schemas."""

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
"""Spark types of Avro types that are used as decoded; values of all other types are cast."""

Columns = Mapping[str, str]
"""Spark types of the requested columns, by name."""


def decode(records: DataFrame, schemas: Mapping[int, str], columns: Columns) -> DataFrame:
    """Decode records with their writer schemas and project them to the requested columns.

    A column that a schema lacks is null, an additional one is dropped, one of another type is cast (null if that
    fails). Tombstones (records without a value) are dropped.

    Args:
        records: rows of Spark's Kafka source; `value` is in Confluent's wire format.
        schemas: writer schemas by id, each JSON of an Avro record.
        columns: requested columns, at least one.

    Returns:
        `order` (struct of `columns`), `problem` (string: why no decoding was attempted, else
        null), `key` (string), `partition`, `offset`, `timestamp`. All fields of `order` are null if the
        value could not be decoded: Avro's PERMISSIVE mode, regardless of nullability in the schema.
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
    """Decode values of one schema; null for values of other schemas."""
    own = F.when(header() == header_of(schema_id), datum())
    return from_avro(own, schema, {"mode": "PERMISSIVE"})


def _problem(ids: list[int]) -> Column:
    unknown = F.when(first_byte() == F.lit(MAGIC), F.lit(UNKNOWN_SCHEMA)).otherwise(F.lit(NOT_FRAMED))
    if not ids:
        return unknown
    known = header().isin(*(header_of(schema_id) for schema_id in ids))
    return F.when(known, F.lit(None).cast("string")).otherwise(unknown)


def _column(name: str, kind: str, schemas: Mapping[int, str]) -> Column:
    """Coalesce a column over all schemas: each value has one schema, so at most one struct is not null."""
    found = []
    for schema_id in sorted(schemas):
        types = {field["name"]: field["type"] for field in json.loads(schemas[schema_id])["fields"]}
        if name in types:
            column = F.col(_name(schema_id)).getField(name)
            found.append(column if _TYPES.get(avro_type(types[name])) == kind else column.try_cast(kind))
    return F.coalesce(*found) if found else F.lit(None).cast(kind)


def _name(schema_id: int) -> str:
    return f"schema_{schema_id}"
