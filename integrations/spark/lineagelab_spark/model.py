# SPDX-License-Identifier: Apache-2.0
"""The vocabulary of column lineage, and how it composes.

Subtypes are OpenLineage's. DIRECT ones say that values flow, INDIRECT ones that a column decides about values
or rows without flowing into them.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

from lineagelab_spark.datatypes import Shape


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
        part: the bytes of it that are looked at, from the first to before the last, counted from 1; empty for all.
            `(1, 1)` looks at none: only at whether there is a value. Known within a plan, and of no one's concern
            outside.
    """

    leaf: int
    column: str
    path: tuple[str, ...] = ()
    decoded: bool = False
    part: tuple[int, ...] = ()

    @property
    def whole(self) -> "Origin":
        """The column that this is a part of."""
        return replace(self, part=())


@dataclass(frozen=True, order=True)
class Edge:
    """`origin` reaches an output, or all of its rows, in the way `subtype` says.

    Attributes:
        masking: the value cannot be read back from the output (hashes, counts).
    """

    origin: Origin
    subtype: Subtype
    masking: bool = False

    @property
    def whole(self) -> "Edge":
        """This edge from all of its column."""
        return replace(self, origin=self.origin.whole)

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
        fields: (name, column) of each field of a struct, or of the structs in an array, in order. None where
            they are not told apart: then nothing can be said of a single one.
    """

    edges: frozenset[Edge] = frozenset()
    fields: tuple[tuple[str, "Column"], ...] | None = None

    @staticmethod
    def of(origin: Origin, shape: Shape = None) -> "Column":
        """A source's own column. Each field of a struct is an origin of its own."""
        whole = frozenset({Edge(origin, Subtype.IDENTITY)})
        if shape is None:
            return Column(whole)
        below = ((name, replace(origin, path=(*origin.path, name)), inner) for name, inner in shape)
        return Column(whole, tuple((name, Column.of(field, inner)) for name, field, inner in below))

    @staticmethod
    def struct(fields: Iterable[tuple[str, "Column"]]) -> "Column":
        given = tuple(fields)
        return Column(union(column for _, column in given).edges, given)

    @property
    def is_constant(self) -> bool:
        """Made of no source: so is each field, known or not."""
        return not self.edges

    @property
    def is_source(self) -> bool:
        """A source's own column, or field, as it is."""
        return len(self.edges) == 1 and all(edge.subtype is Subtype.IDENTITY for edge in self.edges)

    def field(self, ordinal: int, name: str) -> "Column | None":
        """A field by its place; None where it is not known.

        The name must be that of the field, but for its case, which is the user's in Spark's plans. Another name
        at that place says that the fields are not those that Spark has.
        """
        if self.is_constant:
            return Column()
        if self.fields is None or not 0 <= ordinal < len(self.fields):
            return None
        known, column = self.fields[ordinal]
        return column if known.casefold() == name.casefold() else None

    def through(self, subtype: Subtype, masking: bool = False) -> "Column":
        """The result of an expression over this column: one value, no fields."""
        return Column(frozenset(edge.through(subtype, masking) for edge in self.edges))

    def each(self, subtype: Subtype, masking: bool = False) -> "Column":
        """The result of an expression that chooses among values and leaves each field in its place."""
        return self._every(lambda edges: frozenset(edge.through(subtype, masking) for edge in edges))

    def decided_by(self, edges: frozenset[Edge]) -> "Column":
        """This column with INDIRECT edges, which hold for each of its fields too."""
        return self._every(lambda own: own | edges)

    def deciding(self, subtype: Subtype) -> frozenset[Edge]:
        """The INDIRECT edges of something that this column decides about."""
        return frozenset(Edge(edge.origin, subtype) for edge in self.edges)

    def _every(self, change: Callable[[frozenset[Edge]], frozenset[Edge]]) -> "Column":
        if self.fields is None:
            return Column(change(self.edges))
        return Column(change(self.edges), tuple((name, column._every(change)) for name, column in self.fields))


def union(columns: Iterable[Column]) -> Column:
    """All that any of the columns is made of; fields are kept where all columns have the same ones.

    A constant, as the NULL beside a struct, adds nothing to any field.
    """
    given = list(columns)
    edges = frozenset(edge for column in given for edge in column.edges)
    structs = [column.fields for column in given if column.fields is not None or not column.is_constant]
    known = [fields for fields in structs if fields is not None]
    if not known or len(known) != len(structs) or len({_names(fields) for fields in known}) > 1:
        return Column(edges)
    return Column(edges, tuple((same[0][0], union(column for _, column in same)) for same in zip(*known, strict=True)))


def _names(fields: tuple[tuple[str, Column], ...]) -> tuple[str, ...]:
    return tuple(name.casefold() for name, _ in fields)


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
