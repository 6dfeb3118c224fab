# SPDX-License-Identifier: Apache-2.0
"""Column lineage: origins, edges and columns, and their composition.

Subtypes are those of OpenLineage. DIRECT: values flow into the output; INDIRECT: a column affects values or rows
without flowing into them.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from lineagelab_common.text_enum import TextEnum
from lineagelab_spark.datatypes import Shape


class Subtype(TextEnum):
    """OpenLineage transformation subtypes. The DIRECT ones come first, from weakest to strongest."""

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
    """Column of a source, or a field of it.

    Attributes:
        leaf: ordinal of the source in `PlanColumns.leaves`.
        column: name of the source's column.
        path: names of nested struct fields.
        decoded: True if `path` refers to the decoded value (Avro, JSON), not to the column itself.
        byte_range: bytes [start, end), 1-based, that are read; empty for all. `(1, 1)`: only presence of a value is
            tested. Used while a plan is derived, never part of its result.
    """

    leaf: int
    column: str
    path: tuple[str, ...] = ()
    decoded: bool = False
    byte_range: tuple[int, ...] = ()

    @property
    def without_byte_range(self) -> "Origin":
        """This origin without its byte range."""
        return replace(self, byte_range=())


@dataclass(frozen=True, order=True)
class Edge:
    """Flow from `origin` to an output column, or to all rows of an output.

    Attributes:
        masking: the value cannot be recovered from the output (hashes, counts).
    """

    origin: Origin
    subtype: Subtype
    masking: bool = False

    @property
    def without_byte_range(self) -> "Edge":
        """This edge without the byte range of its origin."""
        return replace(self, origin=self.origin.without_byte_range)

    def transformed(self, subtype: Subtype, masking: bool = False) -> "Edge":
        """Return this edge after another DIRECT step; INDIRECT edges are unchanged."""
        if not self.subtype.is_direct:
            return self
        strongest = max(self.subtype, subtype, key=_STRENGTH.__getitem__)
        return Edge(self.origin, strongest, self.masking or masking)


@dataclass(frozen=True)
class Column:
    """Lineage of an output column of a plan node.

    Attributes:
        edges: edges of the column, all fields merged.
        fields: (name, column) of each field of a struct, or of the structs in an array, in order. None if fields are
            not tracked separately: the lineage of a single field is then unknown.
        unknown: reasons why edges of this column may be missing or wrong; empty if the edges are complete.
    """

    edges: frozenset[Edge] = frozenset()
    fields: tuple[tuple[str, "Column"], ...] | None = None
    unknown: frozenset[str] = frozenset()

    @staticmethod
    def of(origin: Origin, shape: Shape = None) -> "Column":
        """Return an unmodified source column; each field of a struct is a separate origin."""
        edges = frozenset({Edge(origin, Subtype.IDENTITY)})
        if shape is None:
            return Column(edges)
        below = ((name, replace(origin, path=(*origin.path, name)), inner) for name, inner in shape)
        return Column(edges, tuple((name, Column.of(field, inner)) for name, field, inner in below))

    @staticmethod
    def struct(fields: Iterable[tuple[str, "Column"]]) -> "Column":
        given = tuple(fields)
        merged = union(column for _, column in given)
        return Column(merged.edges, given, merged.unknown)

    @property
    def is_constant(self) -> bool:
        """True if the column, and so each of its fields, has no source."""
        return not self.edges and not self.unknown

    @property
    def is_source(self) -> bool:
        """True for an unmodified column, or field, of a source."""
        known = len(self.edges) == 1 and not self.unknown
        return known and all(edge.subtype is Subtype.IDENTITY for edge in self.edges)

    def field(self, ordinal: int, name: str) -> "Column | None":
        """Return the field at a position; None if unknown.

        Names are compared ignoring case, as Spark's plans keep the user's spelling. A different name at that position
        means that the tracked fields are not those of Spark's struct.
        """
        if self.is_constant:
            return Column()
        if self.fields is None or not 0 <= ordinal < len(self.fields):
            return None
        known, column = self.fields[ordinal]
        return column if known.casefold() == name.casefold() else None

    def transformed(self, subtype: Subtype, masking: bool = False) -> "Column":
        """Return the result of an expression over this column: one value without fields."""
        return replace(self, edges=frozenset(edge.transformed(subtype, masking) for edge in self.edges), fields=None)

    def because(self, reason: str) -> "Column":
        """Return this column as unknown for an additional reason."""
        return replace(self, unknown=self.unknown | {reason})

    def transformed_values(self, subtype: Subtype, masking: bool = False) -> "Column":
        """Return the result of an expression that selects values and preserves struct fields."""
        return self._every(lambda edges: frozenset(edge.transformed(subtype, masking) for edge in edges))

    def with_indirect(self, other: "Column") -> "Column":
        """Return this column with the edges and reasons of another one, on each of its fields too."""
        return self._every(lambda own: own | other.edges, other.unknown)

    def with_size_of(self, array: "Column", subtype: Subtype) -> "Column":
        """Return this array with INDIRECT edges from another one of the same size, where it has no edges from it."""
        size = array.as_indirect(subtype)
        sources = {(edge.origin.leaf, edge.origin.column) for edge in size.edges}

        def change(edges: frozenset[Edge]) -> frozenset[Edge]:
            known = any((edge.origin.leaf, edge.origin.column) in sources for edge in edges)
            return edges if known else edges | size.edges

        return self._every(change, array.unknown)

    def as_indirect(self, subtype: Subtype) -> "Column":
        """Return this column's origins as INDIRECT edges."""
        return Column(frozenset(Edge(edge.origin, subtype) for edge in self.edges), unknown=self.unknown)

    def with_leaves(self, places: Mapping[int, int]) -> "Column":
        """Return this column with other ordinals of the leaves, by the present ones."""
        return self._every(
            lambda edges: frozenset(
                replace(edge, origin=replace(edge.origin, leaf=places[edge.origin.leaf])) for edge in edges
            )
        )

    def renamed(self, names: Iterable[str]) -> "Column | None":
        """Return this struct with other field names, by position; None if its fields are not tracked separately."""
        given = tuple(names)
        if self.fields is None or len(given) != len(self.fields):
            return None
        return replace(self, fields=tuple((n, column) for n, (_, column) in zip(given, self.fields, strict=True)))

    def _every(
        self, change: Callable[[frozenset[Edge]], frozenset[Edge]], unknown: frozenset[str] = frozenset()
    ) -> "Column":
        fields = self.fields and tuple((name, column._every(change, unknown)) for name, column in self.fields)
        return Column(change(self.edges), fields, self.unknown | unknown)


def union(columns: Iterable[Column]) -> Column:
    """Merge columns; fields are kept if all columns have the same ones.

    A constant, such as the NULL alternative of a struct, contributes no edges.
    """
    given = list(columns)
    edges = frozenset(edge for column in given for edge in column.edges)
    unknown = frozenset(reason for column in given for reason in column.unknown)
    structs = [column.fields for column in given if column.fields is not None or not column.is_constant]
    known = [fields for fields in structs if fields is not None]
    if not known or len(known) != len(structs) or len({_names(fields) for fields in known}) > 1:
        return Column(edges, unknown=unknown)
    fields = tuple((same[0][0], union(column for _, column in same)) for same in zip(*known, strict=True))
    return Column(edges, fields, unknown)


def _names(fields: tuple[tuple[str, Column], ...]) -> tuple[str, ...]:
    return tuple(name.casefold() for name, _ in fields)


def merge_edges(edges: Iterable[Edge]) -> frozenset[Edge]:
    """Keep one DIRECT edge per origin, the strongest; it is masking only if all edges of that origin are."""
    direct: dict[Origin, Edge] = {}
    indirect: set[Edge] = set()
    for edge in edges:
        if not edge.subtype.is_direct:
            indirect.add(edge)
            continue
        known = direct.get(edge.origin)
        if known is not None:
            edge = replace(edge.transformed(known.subtype), masking=edge.masking and known.masking)
        direct[edge.origin] = edge
    return frozenset(direct.values()) | indirect
