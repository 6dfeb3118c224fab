# SPDX-License-Identifier: Apache-2.0
"""Types and struct shapes for schema facets, from Spark's JSON form of data types and from Avro schemas."""

Shape = tuple[tuple[str, "Shape"], ...] | None
"""Names and shapes of the fields of a struct, or of the structs in an array; None for other types."""


def avro_type(schema: object) -> str:
    """Return the type of an Avro field as one word: the logical type if any; a nullable type without `null`."""
    if isinstance(schema, list):
        return "|".join(avro_type(member) for member in schema if member != "null")
    if isinstance(schema, dict):
        return str(schema.get("logicalType") or avro_type(schema.get("type")))
    return str(schema)


def avro_shape(schema: object) -> Shape:
    """Return the struct that Spark decodes an Avro record, or a nullable record, to.

    References to named records and unions of several types have no shape.
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
    """Return the type of a Spark field as one word."""
    return str(data_type.get("type")) if isinstance(data_type, dict) else str(data_type)


def spark_shape(data_type: object) -> Shape:
    """Return the fields of a Spark struct type, or of the structs in an array."""
    if not isinstance(data_type, dict):
        return None
    if data_type.get("type") == "array":
        return spark_shape(data_type.get("elementType"))
    if data_type.get("type") != "struct":
        return None
    return tuple((f["name"], spark_shape(f["type"])) for f in data_type["fields"])
