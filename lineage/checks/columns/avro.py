# SPDX-License-Identifier: Apache-2.0
"""Columns of an Avro schema. Pure."""

import json

from lineage.checks.columns.column import Column
from lineage.checks.columns.types import canonical_type


class SchemaError(ValueError):
    """A schema is not a record in Avro's JSON; the message says why."""


def read_avro(text: str) -> list[Column]:
    """Return the fields of a record. The type is empty for nested types and unions of several types.

    Raises:
        SchemaError: the text is not a record schema.
    """
    try:
        schema = json.loads(text)
    except ValueError as error:
        raise SchemaError(f"not JSON: {error}") from error
    if not isinstance(schema, dict) or schema.get("type") != "record" or not isinstance(schema.get("fields"), list):
        raise SchemaError("not a record schema in Avro's JSON: it needs a type `record` and fields")
    return [_column(each) for each in schema["fields"]]


def _column(row: object) -> Column:
    if not isinstance(row, dict) or not isinstance(row.get("name"), str):
        raise SchemaError("a field without a name")
    kind, aliases = row.get("type"), row.get("aliases") or []
    nullable = kind == "null" or (isinstance(kind, list) and "null" in kind)
    return Column(row["name"], canonical_type(_type_name(kind)), nullable, tuple(map(str, aliases)))


def _type_name(kind: object) -> str:
    if isinstance(kind, list):
        others = [each for each in kind if each != "null"]
        return _type_name(others[0]) if len(others) == 1 else ""
    if isinstance(kind, dict):
        logical = kind.get("logicalType")
        if logical == "decimal":
            return f"decimal({kind.get('precision')},{kind.get('scale', 0)})"
        return logical if isinstance(logical, str) else _type_name(kind.get("type"))
    return kind if isinstance(kind, str) and kind not in ("record", "array", "map", "enum", "fixed") else ""
