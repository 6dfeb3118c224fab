# SPDX-License-Identifier: Apache-2.0
"""Shapes of the facets that have hundreds of values in an event: a fast check that most of them pass.

They have no cycles, and are not tracked by garbage collection, which their number would cause.
"""

from typing import Annotated

import msgspec

from lineage.events.ids import JsonObject

MAX_COLUMN_NAME = 4096
"""Characters of a column's name. Engines generate names from expressions, so that any character is allowed."""

_Text = Annotated[str, msgspec.Meta(min_length=1)]
_ColumnName = Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_COLUMN_NAME)]


class Column(msgspec.Struct, gc=False):
    """Column of a schema."""

    name: _Text
    type: str | None = None
    fields: "list[Column] | None" = None


class Schema(msgspec.Struct, gc=False):
    """Schema facet."""

    fields: list[Column] | None = None


class Transformation(msgspec.Struct, gc=False):
    """Kind of dependency of one column on another one."""

    type: _Text
    subtype: str | None = None


class InputField(msgspec.Struct, gc=False):
    """Column that another one depends on."""

    namespace: str
    name: str
    field: _Text
    transformations: list[Transformation] | None = None


class OutputField(msgspec.Struct, gc=False):
    """Column with those that it depends on."""

    input_fields: list[InputField] = msgspec.field(name="inputFields")


class ColumnLineage(msgspec.Struct, gc=False):
    """columnLineage facet."""

    fields: dict[_ColumnName, OutputField]
    dataset: list[InputField] | None = None


def has_shape(facet: JsonObject, shape: type[msgspec.Struct]) -> bool:
    """Return whether a facet is valid; False also if that is not certain."""
    try:
        msgspec.convert(facet, shape)
    except (msgspec.ValidationError, RecursionError):
        return False
    return True
