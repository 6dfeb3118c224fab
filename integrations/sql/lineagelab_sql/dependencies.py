# SPDX-License-Identifier: Apache-2.0
"""Columns on which a value or the rows of a relation depend, and their composition. Pure.

Subtypes are those of OpenLineage's `columnLineage` facet. IDENTITY, TRANSFORMATION and AGGREGATION are DIRECT: values
flow into the output. The others are INDIRECT: a column decides about values or rows.
"""

from collections.abc import Iterable
from typing import NamedTuple

IDENTITY, TRANSFORMATION, AGGREGATION = "IDENTITY", "TRANSFORMATION", "AGGREGATION"
JOIN, GROUP_BY, FILTER, SORT, WINDOW, CONDITIONAL = "JOIN", "GROUP_BY", "FILTER", "SORT", "WINDOW", "CONDITIONAL"

_STRENGTH = {IDENTITY: 0, TRANSFORMATION: 1, AGGREGATION: 2}
"""DIRECT subtypes. A chain of them has the strongest one."""


class Dependency(NamedTuple):
    """Dependency on a column of a table, `catalog.schema.table` in lower case.

    Attributes:
        masking: the value cannot be read from the result, which is a hash of it.
    """

    table: str
    column: str
    subtype: str = IDENTITY
    masking: bool = False

    @property
    def is_direct(self) -> bool:
        return self.subtype in _STRENGTH


Dependencies = frozenset[Dependency]
NONE: Dependencies = frozenset()


def union(parts: Iterable[Dependencies]) -> Dependencies:
    """Return the dependencies of several parts of an expression."""
    return frozenset().union(*parts)


def through(subtype: str, dependencies: Dependencies, masking: bool = False) -> Dependencies:
    """Return the dependencies of an expression of the DIRECT `subtype` over a value; indirect ones are unchanged."""
    return frozenset(
        each._replace(subtype=max(subtype, each.subtype, key=_STRENGTH.__getitem__), masking=masking or each.masking)
        if each.is_direct
        else each
        for each in dependencies
    )


def indirectly(subtype: str, dependencies: Dependencies) -> Dependencies:
    """Return the dependencies of something that is decided by a value, by an INDIRECT `subtype`."""
    return frozenset(each._replace(subtype=subtype, masking=False) for each in dependencies)
