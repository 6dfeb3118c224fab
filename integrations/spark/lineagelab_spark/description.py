# SPDX-License-Identifier: Apache-2.0
"""Inputs and outputs of a job, derived from the plans of its writes. Pure: no Spark, no network."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from lineagelab_common.events import ColumnEdge
from lineagelab_spark.datasets import Dataset, Source
from lineagelab_spark.model import Edge, Origin, Subtype
from lineagelab_spark.plan import PlanLineage

Fields = Sequence[tuple[str, str]]
"""(name, type) of each column."""


@dataclass(frozen=True)
class Sink:
    """Table that a job writes to."""

    dataset: Dataset
    fields: Fields


@dataclass(frozen=True)
class Write:
    """Write of a frame to a table.

    Attributes:
        lineage: lineage of the frame's plan.
        sources: source of each leaf of the plan.
        stream_leaves: number of leading leaves that belong to the plan of the stream, for a frame of a micro-batch.
        by_position: columns are matched with those of the table by position, as `insertInto` does, not by name.
        changes_rows: the write changes rows of the table that it also reads (MERGE, UPDATE, DELETE): of its columns
            only those of the table count, and the table itself is no input.
    """

    lineage: PlanLineage
    sources: tuple[Source, ...]
    sink: Sink
    stream_leaves: int = 0
    by_position: bool = False
    changes_rows: bool = False

    def has_same_lineage_as(self, other: "Write") -> bool:
        """Return True if both have the same lineage, regardless of the table's current columns."""
        return replace(self, sink=other.sink) == other

    @property
    def gaps(self) -> list[str]:
        """Reasons why column lineage is incomplete: nodes without a rule, and sources without a dataset name."""
        return sorted(self.lineage.unknown | self.unnamed(range(len(self.sources))))

    def unnamed(self, leaves: Iterable[int]) -> set[str]:
        """Return what is read from those of the leaves that have no dataset name."""
        read = (self.sources[leaf] for leaf in leaves if self.lineage.leaves[leaf].is_read)
        return {source.unnamed for source in read if source.unnamed}

    def unknown_columns(self) -> Iterator[tuple[str, set[str]]]:
        """Return the output columns whose lineage is incomplete, with reasons."""
        for column, edges in self.lineage.columns.items():
            reasons = self.unnamed({edge.origin.leaf for edge in edges})
            reasons |= self.lineage.unknown_columns.get(column, frozenset())
            if reasons:
                yield column, reasons

    def sink_columns(self) -> dict[str, str]:
        """Return the column of the table by output column."""
        if self.by_position:
            places = zip(self.lineage.positions, self.sink.fields, strict=False)
            return {name: field for name, (field, _) in places}
        named = {name: _sink_column(name, self.sink) for name in self.lineage.columns}
        if not self.changes_rows:
            return named
        fields = {field for field, _ in self.sink.fields}
        return {name: field for name, field in named.items() if field in fields}


@dataclass
class Output:
    """Lineage of a written table.

    Attributes:
        fields: type by column name.
        inputs: datasets that contribute to the table.
        columns: edges by column; None if the plan could not be derived.
        rows: INDIRECT edges that affect rows and so hold for every column.
        unknown: reasons by column, for columns with incomplete lineage. Their edges are omitted, as consumers would
            take a part for all of it.
        reasons: why `rows` or `inputs` are incomplete.
    """

    fields: dict[str, str]
    inputs: set[Dataset] = field(default_factory=set)
    columns: dict[str, set[ColumnEdge]] | None = field(default_factory=dict)
    rows: set[ColumnEdge] = field(default_factory=set)
    unknown: dict[str, set[str]] = field(default_factory=dict)
    reasons: set[str] = field(default_factory=set)

    @property
    def known(self) -> dict[str, set[ColumnEdge]]:
        """Edges of the columns whose lineage is complete."""
        return {name: edges for name, edges in (self.columns or {}).items() if name not in self.unknown}


@dataclass
class Description:
    """All inputs and outputs of a job.

    Attributes:
        inputs: field types by name, for each dataset that is read.
    """

    inputs: dict[Dataset, dict[str, str]] = field(default_factory=dict)
    outputs: dict[Dataset, Output] = field(default_factory=dict)

    @property
    def is_cross_product(self) -> bool:
        """True if every input contributes to every output."""
        return all(output.inputs == self.inputs.keys() for output in self.outputs.values())


def describe(writes: Iterable[Write], *, own_tables: bool = False) -> Description:
    """Merge writes to the inputs and outputs of their job: a table that is written twice is one output.

    Args:
        writes: in order; if a field of a dataset changes its type, the last one wins.
        own_tables: True: a table that is both read and written is the job's own state, not an input, unless its values
            flow into another table; for streaming queries that deduplicate against their output. False: it is an input.
    """
    given = list(writes)
    written = {write.sink.dataset for write in given} if own_tables else set()
    description = Description()
    for write in given:
        inputs = _input_fields(write)
        memory = _memory(write, inputs, written)
        for dataset in inputs.keys() - memory:
            description.inputs.setdefault(dataset, {}).update(inputs[dataset])
        _add(description.outputs, write, inputs.keys() - memory, memory)
    for dataset, output in description.outputs.items():
        if sum(write.sink.dataset == dataset for write in given) > 1 and output.columns is not None:
            # An earlier frame may have a column that the table no longer has.
            output.columns = {name: edges for name, edges in output.columns.items() if name in output.fields}
            output.unknown = {name: reasons for name, reasons in output.unknown.items() if name in output.fields}
    return description


def _memory(write: Write, inputs: Collection[Dataset], written: set[Dataset]) -> set[Dataset]:
    """Return the tables that a write reads as the job's own state, of those that the job writes."""
    own = {write.sink.dataset}
    if write.changes_rows:
        return own
    memory = written - _flowing(write)
    return memory if set(inputs) - memory else written & own


def _flowing(write: Write) -> set[Dataset]:
    """Return the datasets other than the sink whose values flow into a write."""
    leaves = {e.origin.leaf for edges in write.lineage.columns.values() for e in edges if e.subtype.is_direct}
    return {dataset for leaf in leaves for dataset in write.sources[leaf].datasets} - {write.sink.dataset}


def accumulated(before: Description, now: Description) -> Description:
    """Return the inputs and outputs of a run so far, without changing the arguments.

    Consumers treat datasets that an event omits as no longer used by the job.
    """
    inputs = {dataset: fields for dataset, fields in before.inputs.items() if dataset not in now.outputs}
    for dataset, fields in now.inputs.items():
        inputs[dataset] = {**inputs.get(dataset, {}), **fields}
    outputs = dict(before.outputs)
    for dataset, output in now.outputs.items():
        earlier = outputs[dataset].inputs if dataset in outputs else set()
        outputs[dataset] = replace(output, inputs=(earlier | output.inputs) & inputs.keys())
    return Description(inputs, outputs)


def input_fields(lineage: PlanLineage, sources: Sequence[Source]) -> dict[Dataset, dict[str, str]]:
    """Return the field types of each input; a dataset that is read twice is one input."""
    inputs: dict[Dataset, dict[str, str]] = {}
    for ordinal, (leaf, source) in enumerate(zip(lineage.leaves, sources, strict=True)):
        if not leaf.is_read:
            continue
        for dataset in source.datasets:
            fields = inputs.setdefault(dataset, {})
            for decoding in sorted(lineage.decodings, key=lambda d: d.fields):
                if decoding.leaf == ordinal and dataset.is_topic:
                    fields.update(decoding.fields)
            fields.update({field_name(Origin(ordinal, name), dataset): kind for name, kind in leaf.fields})
    return inputs


def field_name(origin: Origin, dataset: Dataset) -> str:
    """Return the field name of an origin in its dataset.

    The fields of a topic are those of its decoded messages; Spark's other columns of a record (key, offset, ...) get
    an underscore prefix to avoid name clashes.
    """
    if not dataset.is_topic:
        return origin.column if origin.decoded else ".".join((origin.column, *origin.path))
    if origin.decoded:
        return ".".join(origin.path)
    return "_" + ".".join((origin.column, *origin.path))


def _input_fields(write: Write) -> dict[Dataset, dict[str, str]]:
    """Return the inputs of a write; an unresolved source in a micro-batch is taken to be the stream itself."""
    inputs = input_fields(write.lineage, write.sources)
    if write.gaps:
        for source in write.sources[: write.stream_leaves]:
            for dataset in source.datasets:
                inputs.setdefault(dataset, {})
    return inputs


def _add(
    outputs: dict[Dataset, Output], write: Write, inputs: Collection[Dataset], memory: Collection[Dataset]
) -> None:
    output = outputs.setdefault(write.sink.dataset, Output({}))
    output.fields = dict(write.sink.fields)
    output.inputs.update(inputs)
    if (write.gaps and not write.lineage.columns) or output.columns is None:
        output.columns = None
        output.rows.clear()
        return
    names = write.sink_columns()
    for column, edges in write.lineage.columns.items():
        if column in names:
            output.columns.setdefault(names[column], set()).update(_edges(edges, write.sources, memory))
    for column, reasons in write.unknown_columns():
        if column in names:
            output.unknown.setdefault(names[column], set()).update(reasons)
    output.rows.update(_edges(write.lineage.rows, write.sources, memory))
    output.reasons.update(write.lineage.unknown_rows | write.unnamed(range(len(write.sources))))


def _sink_column(column: str, sink: Sink) -> str:
    """Return the sink's spelling of a column; with several that differ in case only, the exact match."""
    names = [name for name, _ in sink.fields]
    same = [name for name in names if name.casefold() == column.casefold()]
    return same[0] if len(same) == 1 else column


def _edges(edges: Iterable[Edge], sources: Sequence[Source], memory: Collection[Dataset]) -> Iterator[ColumnEdge]:
    for edge in edges:
        for dataset in sources[edge.origin.leaf].datasets:
            if dataset not in memory:
                yield ColumnEdge(dataset, field_name(edge.origin, dataset), _subtype(edge, dataset), edge.masking)


def _subtype(edge: Edge, dataset: Dataset) -> Subtype:
    """Return TRANSFORMATION for a value decoded from a table's column, which is the column with the encoded text."""
    is_part = edge.origin.decoded and not dataset.is_topic
    return Subtype.TRANSFORMATION if is_part and edge.subtype is Subtype.IDENTITY else edge.subtype
