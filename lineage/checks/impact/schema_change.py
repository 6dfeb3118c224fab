# SPDX-License-Identifier: Apache-2.0
"""Columns that a candidate schema drops, renames or retypes. Pure.

Types are compared if both are known.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lineage.checks.columns import METADATA, Column, canonical_type


@dataclass(frozen=True)
class ColumnChange:
    """Change of a column that its readers notice; `how` is `dropped`, `renamed to x` or `string instead of int64`."""

    column: str
    how: str


def changed_columns(current: Mapping[str, str], candidate: Sequence[Column]) -> list[ColumnChange]:
    """Return the columns of the current schema, name -> type, that the candidate changes, in their order.

    Metadata columns of a topic, which a schema of its value does not have, do not count as dropped.
    """
    by_name = {column.name: column for column in candidate}
    by_alias = {alias: column for column in candidate for alias in column.aliases}
    changes = []
    for column, kind in current.items():
        if column in by_name:
            before, after = canonical_type(kind), by_name[column].type
            if before and after and before != after:
                changes.append(ColumnChange(column, f"{after} instead of {before}"))
        elif column in by_alias:
            changes.append(ColumnChange(column, f"renamed to {by_alias[column].name}"))
        elif column not in METADATA:
            changes.append(ColumnChange(column, "dropped"))
    return changes
