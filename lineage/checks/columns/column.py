# SPDX-License-Identifier: Apache-2.0
"""Column of a schema."""

from dataclasses import dataclass

METADATA = frozenset({"_key", "_value", "_topic", "_partition", "_offset", "_timestamp", "_timestampType", "_headers"})
"""Columns of a topic that are no fields of its value: those of a Kafka record, whose value is not decoded in them."""


@dataclass(frozen=True, slots=True)
class Column:
    """Column of a dataset, field of a record.

    Attributes:
        name: a nested one by path (`address.city`).
        type: as `canonical_type` spells it; empty if it is not known.
        nullable: None if it is not known, as in every `schema` facet of OpenLineage.
        aliases: former names.
    """

    name: str
    type: str
    nullable: bool | None = None
    aliases: tuple[str, ...] = ()
