# SPDX-License-Identifier: Apache-2.0
"""Columns that a candidate Avro schema drops, renames or retypes. Pure.

Types are compared if both are known: engines name the types of one topic differently (`int64`, `long`, `bigint`).
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass

_TYPES = {
    **dict.fromkeys(("int", "int32", "integer"), "int32"),
    **dict.fromkeys(("long", "int64", "bigint"), "int64"),
    **dict.fromkeys(("float", "float32", "real"), "float32"),
    **dict.fromkeys(("double", "float64"), "float64"),
    **dict.fromkeys(("string", "varchar", "text"), "string"),
    **dict.fromkeys(("boolean", "bool"), "boolean"),
    **dict.fromkeys(("bytes", "binary", "varbinary"), "bytes"),
}
"""Spellings of primitive types -> one of them."""


class SchemaError(ValueError):
    """A candidate schema is not a record in Avro's JSON; the message says why."""


@dataclass(frozen=True)
class CandidateField:
    """Field of the candidate; `type` is a primitive Avro type, empty for any other one."""

    name: str
    type: str
    aliases: tuple[str, ...]


@dataclass(frozen=True)
class ColumnChange:
    """Change of a column that its readers notice; `how` is `dropped`, `renamed to x` or `string instead of int64`."""

    column: str
    how: str


def read_candidate(text: str) -> list[CandidateField]:
    """Parse an Avro schema.

    Raises:
        SchemaError: it is not a record.
    """
    try:
        schema = json.loads(text)
    except ValueError as error:
        raise SchemaError(f"not JSON: {error}") from error
    if not isinstance(schema, dict) or schema.get("type") != "record" or not isinstance(schema.get("fields"), list):
        raise SchemaError("not a record schema in Avro's JSON: it needs a type `record` and fields")
    return [_field(each) for each in schema["fields"]]


def changed_columns(current: Mapping[str, str], candidate: list[CandidateField]) -> list[ColumnChange]:
    """Return the columns of the current schema, name -> type, that the candidate changes, in their order."""
    by_name = {field.name: field for field in candidate}
    by_alias = {alias: field for field in candidate for alias in field.aliases}
    changes = []
    for column, kind in current.items():
        if column in by_name:
            before, after = _TYPES.get(kind.lower(), ""), _TYPES.get(by_name[column].type, "")
            if before and after and before != after:
                changes.append(ColumnChange(column, f"{after} instead of {before}"))
        elif column in by_alias:
            changes.append(ColumnChange(column, f"renamed to {by_alias[column].name}"))
        else:
            changes.append(ColumnChange(column, "dropped"))
    return changes


def _field(row: object) -> CandidateField:
    if not isinstance(row, dict) or not isinstance(row.get("name"), str):
        raise SchemaError("a field without a name")
    aliases = row.get("aliases") or []
    return CandidateField(row["name"], _primitive(row.get("type")), tuple(map(str, aliases)))


def _primitive(kind: object) -> str:
    """Return the name of a primitive type, optional or not; empty for logical, nested and other types."""
    if isinstance(kind, list):
        others = [each for each in kind if each != "null"]
        return _primitive(others[0]) if len(others) == 1 else ""
    if isinstance(kind, dict):
        return "" if "logicalType" in kind else _primitive(kind.get("type"))
    return kind if isinstance(kind, str) else ""
