# SPDX-License-Identifier: Apache-2.0
"""Compatibility of a schema with an agreed one, in the terms of schema registries. Pure.

Nothing is claimed of what is not known: a type that is empty equals every type, and unknown nullability permits both.
"""

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple

from lineage.checks.columns.column import Column

_WIDER = {
    "int32": {"int64", "float32", "float64"},
    "int64": {"float32", "float64"},
    "float32": {"float64"},
    "string": {"bytes"},
    "bytes": {"string"},
}
"""Type -> types that it can be read as (Avro 1.12, schema resolution)."""


class Compatibility(StrEnum):
    """Differences from the agreed schema that are permitted."""

    EXACT = "EXACT"
    """In nothing but the order of columns."""

    BACKWARD = "BACKWARD"
    """Readers with the schema can read data of the agreed one: columns may go, and new ones must be nullable."""

    FORWARD = "FORWARD"
    """Readers with the agreed schema can read data of this one: columns may be added; only nullable ones may go."""

    FULL = "FULL"
    """Both: nullable columns may be added and may go."""


class Incompatibility(NamedTuple):
    """Column that differs more than permitted; an empty text means that a schema does not have it."""

    column: str
    agreed: str
    found: str


def incompatibilities(
    agreed: Sequence[Column], found: Sequence[Column], mode: Compatibility
) -> Iterator[Incompatibility]:
    """Yield the columns in which `found` differs from `agreed` more than `mode` permits, those of `agreed` first."""
    by_name = {column.name: column for column in found}
    for column in agreed:
        other = by_name.get(column.name)
        if other is None:
            if not _may_go(column, mode):
                yield Incompatibility(column.name, describe(column), "")
        elif not (_is_type_permitted(column.type, other.type, mode) and _is_null_permitted(column, other, mode)):
            yield Incompatibility(column.name, describe(column), describe(other))
    known = {column.name for column in agreed}
    for column in found:
        if column.name not in known and not _may_come(column, mode):
            yield Incompatibility(column.name, "", describe(column))


def describe(column: Column) -> str:
    """Return the type of a column as a contract has it: `string`, `string?` if it is nullable."""
    return f"{column.type or 'unknown type'}{'?' if column.nullable else ''}"


def _may_go(column: Column, mode: Compatibility) -> bool:
    return mode is Compatibility.BACKWARD or (mode is not Compatibility.EXACT and column.nullable is not False)


def _may_come(column: Column, mode: Compatibility) -> bool:
    return mode is Compatibility.FORWARD or (mode is not Compatibility.EXACT and column.nullable is not False)


def _is_type_permitted(agreed: str, found: str, mode: Compatibility) -> bool:
    if not agreed or not found or agreed == found:
        return True
    widened, narrowed = found in _WIDER.get(agreed, ()), agreed in _WIDER.get(found, ())
    match mode:
        case Compatibility.BACKWARD:
            return widened
        case Compatibility.FORWARD:
            return narrowed
        case Compatibility.FULL:
            return widened and narrowed
        case _:
            return False


def _is_null_permitted(agreed: Column, found: Column, mode: Compatibility) -> bool:
    if agreed.nullable is None or found.nullable is None or agreed.nullable == found.nullable:
        return True
    # A reader that demands values cannot read nulls.
    return mode is (Compatibility.BACKWARD if found.nullable else Compatibility.FORWARD)
