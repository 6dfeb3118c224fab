# SPDX-License-Identifier: Apache-2.0
"""Inputs and outputs of a query, derived from the frames that it has written so far."""

import time
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from pyspark.sql import DataFrame, SparkSession

from lineagelab_spark import destinations, frames
from lineagelab_spark.datasets import Source
from lineagelab_spark.deduplicated_warnings import DeduplicatedWarnings
from lineagelab_spark.description import Description, Sink, Write, accumulated, describe, input_fields
from lineagelab_spark.frames import FramePlan
from lineagelab_spark.known_rows import NO_KNOWN_ROWS, KnownRows
from lineagelab_spark.operators import derive_columns
from lineagelab_spark.plan import PlanLineage, derive, opaque, summary
from lineagelab_spark.plan_columns import PlanColumns
from lineagelab_spark.plan_json import parse
from lineagelab_spark.progress import Progress

MAX_VARIANTS = 8
"""Limit of distinct lineages kept per write. Plans can depend on data (a schema id that is in one batch and not in the
next), so the lineage of a run is that of all variants."""

MAX_FINGERPRINTS = 64
"""Limit of fingerprints of known plans per write."""

MAX_READ_SHARE = 0.01
"""Maximum share of time spent on reading the plans of one write: a read of 10 ms runs at most once per second."""

MAX_READ_INTERVAL = 30.0
"""Maximum seconds between reads: the first read, in a cold JVM, takes far longer than the next."""

FINGERPRINT_TTL = 300.0
"""Seconds for which plans with the same fingerprint are taken as equal."""

SINK_TTL = 30.0
"""Seconds for which the columns of a table are cached while nothing else has changed."""

STREAMING_LEAVES = frozenset({"StreamingRelation", "StreamingRelationV2"})


class WriteId(NamedTuple):
    """Id of a write in a micro-batch: the `nth` write to its table, from 0."""

    table: str
    nth: int = 0


class WrittenFrame(NamedTuple):
    """Written frame, and the micro-batch in which it was created; None for the stream itself."""

    frame: DataFrame
    batch: DataFrame | None
    by_position: bool = False


@dataclass(frozen=True)
class _Stream:
    """Plan of the query's streaming frame. `columns` is None if it could not be derived."""

    columns: PlanColumns | None
    sources: tuple[Source, ...]

    @property
    def streaming(self) -> list[int]:
        """Places of the streaming leaves, in order."""
        leaves = self.columns.leaves if self.columns else ()
        return [place for place, leaf in enumerate(leaves) if leaf.kind in STREAMING_LEAVES]

    def named(self, write: Write) -> Write:
        """Return a write with the topics that the patterns of the stream are known to select."""
        if not any(source.pattern_at and source.datasets for source in self.sources):
            return write
        number = len(self.sources)
        return replace(write, sources=(*self.sources, *write.sources[number:]))


@dataclass
class _WriteHistory:
    """Plans of one write seen so far, and their distinct lineages."""

    fingerprints: dict[int, Write] = field(default_factory=dict)
    variants: list[Write] = field(default_factory=list)
    next_read: float = 0.0
    """Earliest time of the next read, by the monotonic clock."""
    expires: float = 0.0
    """Time after which known fingerprints are ignored, by the monotonic clock."""

    def add(self, fingerprint: int, write: Write) -> None:
        """Add a write as the latest variant."""
        same = [known for known in self.variants if known.has_same_lineage_as(write)]
        self.variants = [*(known for known in self.variants if known not in same), write][-MAX_VARIANTS:]
        self.fingerprints[fingerprint] = write
        if len(self.fingerprints) > MAX_FINGERPRINTS:
            del self.fingerprints[next(iter(self.fingerprints))]


class WriteTracker:
    """Writes of one start of a query. Not thread-safe."""

    def __init__(self, stream: DataFrame, warnings: DeduplicatedWarnings) -> None:
        self._stream_frame = stream
        self._stream: _Stream | None = None
        self._histories: defaultdict[WriteId, _WriteHistory] = defaultdict(_WriteHistory)
        self._sinks: dict[str, tuple[Sink, float]] = {}
        self._warnings = warnings
        self._description = Description()
        self._awaits_topics = False
        self.sessions: dict[str, SparkSession] = {}

    @property
    def description(self) -> Description:
        """Inputs and outputs known so far."""
        return self._description

    @property
    def sinks(self) -> dict[str, Sink]:
        """Sinks by table name, as spelled by the query."""
        return {table: sink for table, (sink, _) in self._sinks.items()}

    @property
    def awaits_topics(self) -> bool:
        """True while a written frame reads topics by a pattern, and none is known that matches it."""
        return self._awaits_topics

    def streams(self) -> list[Source]:
        """Return the source of each streaming leaf of the query's plan, in order."""
        stream = self._stream_plan()
        return [stream.sources[place] for place in stream.streaming]

    def match_topics(self, batch: Progress) -> None:
        """Name the topics that a pattern has selected, which the progress of a micro-batch names."""
        stream = self._stream_plan()
        if len(stream.streaming) != len(batch.sources):
            return  # Spark counts a stream that is read twice only once.
        sources = list(stream.sources)
        for place, progress in zip(stream.streaming, batch.sources, strict=True):
            if sources[place].pattern_at and progress.topics:
                sources[place] = sources[place].with_topics(progress.topics)
        if tuple(sources) != stream.sources:
            self._stream = replace(stream, sources=tuple(sources))
            self._describe()

    def read(self, given: Mapping[WriteId, WrittenFrame], *, is_final: bool) -> dict[WriteId, WrittenFrame]:
        """Read the plans of frames; return the frames that are deferred to limit CPU use.

        Args:
            given: latest frame of each write.
            is_final: read all frames now, as no later call will follow.
        """
        later = {}
        changed = False
        for write_id, frame in given.items():
            history = self._histories[write_id]
            began = time.monotonic()
            if not is_final and began < history.next_read:
                later[write_id] = frame
                continue
            try:
                changed |= self._read_write(write_id, history, frame)
            except Exception as error:
                # For example, the table was dropped. Still report the other frames.
                self._warnings.warn(f"cannot derive what is written to {write_id.table}", error=error)
                later[write_id] = frame
            ended = time.monotonic()
            history.next_read = ended + min(MAX_READ_INTERVAL, (ended - began) / MAX_READ_SHARE)
        if changed:
            self._describe()
        return later

    def read_stream_inputs(self) -> None:
        """Read the inputs of the stream, for a query that has ended without a write.

        The columns of a topic are unknown, unless the stream decodes its messages: a batch function may have meant to.
        """
        stream = self._stream_plan()
        if self._description.outputs or stream.columns is None:
            return
        lineage = summary(stream.columns)
        decoded = {dataset for decoding in lineage.decodings for dataset in stream.sources[decoding.leaf].datasets}
        fields = input_fields(lineage, stream.sources)
        self._description = Description(
            {each: fields[each] if each in decoded or not each.is_topic else {} for each in fields}
        )

    def _read_write(self, write_id: WriteId, history: _WriteHistory, given: WrittenFrame) -> bool:
        """Read one write; return True if its lineage may have changed."""
        now = time.monotonic()
        fingerprint = frames.fingerprint(given.frame)
        known = history.fingerprints.get(fingerprint) if now < history.expires else None
        renewed = self._refresh_sink(given.frame, write_id.table, use_cached=known is not None)
        if known is not None and known is history.variants[-1]:
            return renewed
        if known is None:
            plan = frames.read(given.frame, given.batch)
            known = self._write(plan, given.batch is not None, self._sinks[write_id.table][0])
            known = replace(known, by_position=given.by_position)
            history.expires = now + FINGERPRINT_TTL
        history.add(fingerprint, known)
        awaited = {source.unnamed for source in known.sources if source.pattern_at}
        if gaps := ", ".join(gap for gap in known.gaps if gap not in awaited):
            self._warnings.warn(f"column lineage of {write_id.table} is incomplete, unsupported: {gaps}")
        return True

    def _write(self, plan: FramePlan, in_batch: bool, sink: Sink) -> Write:
        if not in_batch:
            return Write(self._derived(plan, NO_KNOWN_ROWS), plan.sources, sink)
        stream = self._stream_plan()
        sources = stream.sources + plan.sources
        if stream.columns is None:
            return Write(opaque(len(sources), "the plan of the stream"), sources, sink, len(stream.sources))
        lineage = self._derived(plan, KnownRows.of_stream(stream.columns, plan.batch))
        return Write(lineage, sources, sink, len(stream.sources))

    def _stream_plan(self) -> _Stream:
        if self._stream is None:
            plan = frames.read(self._stream_frame)
            columns = None
            with self._warnings.log_exceptions("cannot derive the plan of its stream"):
                columns = derive_columns(parse(plan.text))
            self._stream = _Stream(columns, plan.sources)
        return self._stream

    def _derived(self, plan: FramePlan, known: KnownRows) -> PlanLineage:
        """Return the lineage of a plan; if it cannot be derived, datasets only."""
        with self._warnings.log_exceptions("cannot derive a plan"):
            return derive(plan.text, known)
        return opaque(len(known.leaves) + len(plan.sources), "a plan that cannot be derived")

    def _refresh_sink(self, frame: DataFrame, table: str, *, use_cached: bool) -> bool:
        """Refresh the cached sink of a table or another destination; return True if its columns have changed."""
        session = frame.sparkSession
        self.sessions[table] = session
        known = self._sinks.get(table)
        now = time.monotonic()
        if known is not None and use_cached and now - known[1] < SINK_TTL:
            return False
        self._sinks[table] = destinations.sink(session, table, frame) or frames.sink(session, table), now
        return known is None or known[0] != self._sinks[table][0]

    def _describe(self) -> None:
        writes = [
            replace(self._stream.named(write) if self._stream else write, sink=self._sinks[write_id.table][0])
            for write_id, history in self._histories.items()
            for write in history.variants
        ]
        sources = [source for write in writes for source in write.sources]
        self._awaits_topics = any(source.pattern_at and not source.datasets for source in sources)
        self._description = accumulated(self._description, describe(writes, own_tables=True))
