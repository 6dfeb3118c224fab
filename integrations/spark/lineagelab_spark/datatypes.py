# SPDX-License-Identifier: Apache-2.0
"""Data types as they stand in plans: Spark's JSON form, and Avro schemas. What a schema facet says of them."""

Shape = tuple[tuple[str, "Shape"], ...] | None
"""Names and shapes of the fields of a struct, in order; None for all that is no struct."""


def avro_type(schema: object) -> str:
    """The type of an Avro field as one word: its logical type, else its type; of a nullable one the other."""
    if isinstance(schema, list):
        return "|".join(avro_type(member) for member in schema if member != "null")
    if isinstance(schema, dict):
        return str(schema.get("logicalType") or avro_type(schema.get("type")))
    return str(schema)


def avro_shape(schema: object) -> Shape:
    """The struct that Spark makes of an Avro record, or of a nullable one.

    A record that is named but defined elsewhere has no shape here, nor has a union of several types.
    """
    if isinstance(schema, list):
        members = [member for member in schema if member != "null"]
        return avro_shape(members[0]) if len(members) == 1 else None
    if not isinstance(schema, dict):
        return None
    if schema.get("type") == "record":
        return tuple((f["name"], avro_shape(f["type"])) for f in schema["fields"])
    return avro_shape(schema.get("type"))


def spark_type(data_type: object) -> str:
    """The type of a Spark field as one word."""
    return str(data_type.get("type")) if isinstance(data_type, dict) else str(data_type)


def spark_shape(data_type: object) -> Shape:
    """The fields of a struct type of Spark's."""
    if not isinstance(data_type, dict) or data_type.get("type") != "struct":
        return None
    return tuple((f["name"], spark_shape(f["type"])) for f in data_type["fields"])
