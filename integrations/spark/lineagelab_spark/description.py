# SPDX-License-Identifier: Apache-2.0
"""What one job reads and writes, from the plans of all that it writes. Pure: no Spark, no network."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from lineagelab_common.events import ColumnEdge
from lineagelab_spark.datasets import Dataset, Source
from lineagelab_spark.model import Edge, Origin
from lineagelab_spark.plan import PlanLineage

Fields = Sequence[tuple[str, str]]
"""(name, type) of each column."""


@dataclass(frozen=True)
class Sink:
    """The table that is written."""

    dataset: Dataset
    fields: Fields


@dataclass(frozen=True)
class Write:
    """A frame that is written to a table.

    Attributes:
        lineage: of the frame's plan.
        sources: what each leaf of the plan reads.
        stream_leaves: how many leaves, the first ones, are those of the stream whose micro-batches the frame is of.
    """

    lineage: PlanLineage
    sources: tuple[Source, ...]
    sink: Sink
    stream_leaves: int = 0

    def means(self, other: "Write") -> bool:
        """Whether both say the same of their table, whatever its columns are now."""
        return replace(self, sink=other.sink) == other

    @property
    def gaps(self) -> list[str]:
        """What keeps the column lineage from being complete: nodes without a rule, and sources without a name."""
        read = (source for leaf, source in zip(self.lineage.leaves, self.sources, strict=True) if leaf.is_read)
        return sorted(self.lineage.unknown | {source.unnamed for source in read if source.unnamed})


@dataclass
class Output:
    """A table that is written.

    Attributes:
        fields: name -> type of its columns.
        inputs: the datasets that reach it.
        columns: the edges of each column; None where they are not known: a part of them would read as all.
        rows: edges that hold for every column, since they decide about rows.
    """

    fields: dict[str, str]
    inputs: set[Dataset] = field(default_factory=set)
    columns: dict[str, set[ColumnEdge]] | None = field(default_factory=dict)
    rows: set[ColumnEdge] = field(default_factory=set)


@dataclass
class Description:
    """All that a job reads and writes.

    Attributes:
        inputs: name -> type of each field, of each dataset that is read.
    """

    inputs: dict[Dataset, dict[str, str]] = field(default_factory=dict)
    outputs: dict[Dataset, Output] = field(default_factory=dict)

    @property
    def is_cross_product(self) -> bool:
        """Whether every input reaches every output."""
        return all(output.inputs == self.inputs.keys() for output in self.outputs.values())


def describe(writes: Iterable[Write], *, own_tables: bool = False) -> Description:
    """What is read and written, all writes together: a table that is written twice is one output.

    Args:
        writes: in order; where fields of a dataset differ in type, the last one is right.
        own_tables: False: a table that is read and written is an input. True: it is the job's memory of what it
            wrote before, as for a streaming query that looks whether a row is new: no input of it.
    """
    given = list(writes)
    memory = {write.sink.dataset for write in given} if own_tables else set()
    description = Description()
    for write in given:
        inputs = _input_fields(write)
        for dataset in inputs.keys() - memory:
            description.inputs.setdefault(dataset, {}).update(inputs[dataset])
        _add(description.outputs, write, inputs.keys() - memory, memory)
    for dataset, output in description.outputs.items():
        if sum(write.sink.dataset == dataset for write in given) > 1 and output.columns is not None:
            # An earlier frame may have had a column that the table has lost since.
            output.columns = {name: edges for name, edges in output.columns.items() if name in output.fields}
    return description


def accumulated(before: Description, now: Description) -> Description:
    """What a run has read and written so far, where `now` is what it does now. Both stay as they are.

    Consumers take what an event leaves out for something that the job no longer does.
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
    """Name and type of every field of every input; a dataset that is read twice is one input."""
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
    """The name of an origin among the fields of its dataset.

    A topic's fields are those of its decoded messages; the columns in which Spark hands out the rest of a record
    (key, offset ...) get an underscore, so that they cannot be taken for them.
    """
    if not dataset.is_topic:
        return ".".join((origin.column, *origin.path))
    if origin.decoded:
        return ".".join(origin.path)
    return "_" + ".".join((origin.column, *origin.path))


def _input_fields(write: Write) -> dict[Dataset, dict[str, str]]:
    """Where a frame of a stream has a source that nobody knows, that is likely the stream once more."""
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
    if write.gaps or output.columns is None:
        output.columns = None
        output.rows.clear()
        return
    for column, edges in write.lineage.columns.items():
        output.columns.setdefault(_spelled(column, write.sink), set()).update(_edges(edges, write.sources, memory))
    output.rows.update(_edges(write.lineage.rows, write.sources, memory))


def _spelled(column: str, sink: Sink) -> str:
    """The sink's spelling of a column: where case counts there may be several, and the exact one is meant."""
    names = [name for name, _ in sink.fields]
    same = [name for name in names if name.casefold() == column.casefold()]
    return same[0] if len(same) == 1 else column


def _edges(edges: Iterable[Edge], sources: Sequence[Source], memory: Collection[Dataset]) -> Iterator[ColumnEdge]:
    for edge in edges:
        for dataset in sources[edge.origin.leaf].datasets:
            if dataset not in memory:
                yield ColumnEdge(dataset, field_name(edge.origin, dataset), edge.subtype, edge.masking)
