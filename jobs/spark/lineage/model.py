# SPDX-License-Identifier: Apache-2.0
"""The vocabulary of column lineage, and how it composes.

Subtypes are OpenLineage's. DIRECT ones say that values flow, INDIRECT ones that a column decides about values
or rows without flowing into them.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum


class Subtype(StrEnum):
    """How an input column reaches an output. The DIRECT ones come first, from weakest to strongest."""

    IDENTITY = "IDENTITY"
    TRANSFORMATION = "TRANSFORMATION"
    AGGREGATION = "AGGREGATION"
    JOIN = "JOIN"
    GROUP_BY = "GROUP_BY"
    FILTER = "FILTER"
    SORT = "SORT"
    WINDOW = "WINDOW"
    CONDITIONAL = "CONDITIONAL"

    @property
    def is_direct(self) -> bool:
        return self in _STRENGTH


_STRENGTH = {Subtype.IDENTITY: 0, Subtype.TRANSFORMATION: 1, Subtype.AGGREGATION: 2}


@dataclass(frozen=True, order=True)
class Origin:
    """A column of a source.

    Attributes:
        leaf: ordinal of the source among the plan's leaves, as `LogicalPlan.collectLeaves()` lists them.
        column: the column of the source.
        path: struct fields below it.
        decoded: whether `path` lies in what the column was decoded to (Avro, JSON), not in the column itself.
    """

    leaf: int
    column: str
    path: tuple[str, ...] = ()
    decoded: bool = False


@dataclass(frozen=True, order=True)
class Edge:
    """`origin` reaches an output, or all of its rows, in the way `subtype` says.

    Attributes:
        masking: the value cannot be read back from the output (hashes, counts).
    """

    origin: Origin
    subtype: Subtype
    masking: bool = False

    def through(self, subtype: Subtype, masking: bool = False) -> "Edge":
        """This edge after one more DIRECT step. What was indirect stays as it is."""
        if not self.subtype.is_direct:
            return self
        strongest = max(self.subtype, subtype, key=_STRENGTH.__getitem__)
        return Edge(self.origin, strongest, self.masking or masking)


@dataclass(frozen=True)
class Column:
    """What a column of some plan node is made of.

    Attributes:
        edges: of the column as a whole.
        fields: of a struct whose fields come from different places; None where they are not told apart.
    """

    edges: frozenset[Edge] = frozenset()
    fields: Mapping[str, "Column"] | None = field(default=None, hash=False)

    @staticmethod
    def of(leaf: int, name: str) -> "Column":
        """A source's own column."""
        return Column(frozenset({Edge(Origin(leaf, name), Subtype.IDENTITY)}))

    @staticmethod
    def struct(fields: Mapping[str, "Column"]) -> "Column":
        return Column(union(fields.values()).edges, fields)

    def get(self, name: str) -> "Column":
        """A field of this struct. The field of a source's own struct column is an origin of its own."""
        if self.fields is not None and name in self.fields:
            return self.fields[name]
        return Column(frozenset(_descend(edge, name) for edge in self.edges))

    def through(self, subtype: Subtype, masking: bool = False) -> "Column":
        """The result of an expression over this column: one value, no fields."""
        return Column(frozenset(edge.through(subtype, masking) for edge in self.edges))

    def deciding(self, subtype: Subtype) -> frozenset[Edge]:
        """The INDIRECT edges of something that this column decides about."""
        return frozenset(Edge(edge.origin, subtype) for edge in self.edges)


def union(columns: Iterable[Column]) -> Column:
    """All that any of the columns is made of; fields are kept where all columns have the same ones."""
    given = list(columns)
    edges = frozenset(edge for column in given for edge in column.edges)
    structs = [column.fields for column in given if column.fields is not None]
    if not structs or len(structs) != len(given) or any(s.keys() != structs[0].keys() for s in structs):
        return Column(edges)
    return Column(edges, {name: union(struct[name] for struct in structs) for name in structs[0]})


def simplest(edges: Iterable[Edge]) -> frozenset[Edge]:
    """One DIRECT edge for each origin, the strongest; masking only where every way masks."""
    direct: dict[Origin, Edge] = {}
    indirect: set[Edge] = set()
    for edge in edges:
        if not edge.subtype.is_direct:
            indirect.add(edge)
            continue
        known = direct.get(edge.origin)
        if known is not None:
            edge = replace(edge.through(known.subtype), masking=edge.masking and known.masking)
        direct[edge.origin] = edge
    return frozenset(direct.values()) | indirect


def _descend(edge: Edge, name: str) -> Edge:
    if edge.subtype is not Subtype.IDENTITY:
        return edge.through(Subtype.TRANSFORMATION)
    return replace(edge, origin=replace(edge.origin, path=(*edge.origin.path, name)))
