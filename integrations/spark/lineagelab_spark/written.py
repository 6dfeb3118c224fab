# SPDX-License-Identifier: Apache-2.0
"""What a query writes, learned from the frames that it has written so far."""

import time
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from pyspark.sql import DataFrame, SparkSession

from lineagelab_spark import frames
from lineagelab_spark.complaints import Complaints
from lineagelab_spark.datasets import Source
from lineagelab_spark.description import Description, Sink, Write, accumulated, describe, input_fields
from lineagelab_spark.frames import ReadPlan
from lineagelab_spark.plan import PlanLineage, derive, opaque, summary
from lineagelab_spark.tree import parse
from lineagelab_spark.walk import walk
from lineagelab_spark.walked import Batch, Walked

MOST_VARIANTS = 8
"""Of the lineage of one write that are remembered. Data decide about plans, as schema ids do that are in one batch and
not in the next one: a run reads and writes what all of them do."""

MOST_LIKENESSES = 64
"""Of plans that are known to say nothing new."""

MOST_OF_THE_TIME = 0.01
"""Goes into reading the plans of one write: a look that takes 10 ms is taken once in a second at most."""

LONGEST_PAUSE = 30.0
"""Seconds after which it is looked at all the same: the first look, in a cold JVM, says little about the next one."""

SURE_SECONDS = 300.0
"""For which plans that are alike are taken for the same."""

SINK_SECONDS = 30.0
"""For which the columns of a table are taken for known, where nothing else has changed."""

STREAMING_LEAVES = frozenset({"StreamingRelation", "StreamingRelationV2"})


class Place(NamedTuple):
    """One of the writes of a batch: the `nth` to its table, from 0."""

    table: str
    nth: int = 0


class Frame(NamedTuple):
    """A frame that is written, and the micro-batch that it was made in; None where it is the stream itself."""

    frame: DataFrame
    batch: DataFrame | None


@dataclass(frozen=True)
class _Stream:
    """The streaming frame of the query. `walked` is None where its plan could not be followed."""

    walked: Walked | None
    sources: tuple[Source, ...]


@dataclass
class _Learned:
    """What is known of one of the writes: the plans that were seen, and the different things that they meant."""

    likenesses: dict[int, Write] = field(default_factory=dict)
    variants: list[Write] = field(default_factory=list)
    allowed: float = 0.0
    """When it may be looked at again, by the monotonic clock."""
    sure_until: float = 0.0
    """When its plan is read again though it is like one that was seen."""

    def add(self, likeness: int, write: Write) -> None:
        """The latest one is the last one."""
        same = [known for known in self.variants if known.means(write)]
        self.variants = [*(known for known in self.variants if known not in same), write][-MOST_VARIANTS:]
        self.likenesses[likeness] = write
        if len(self.likenesses) > MOST_LIKENESSES:
            del self.likenesses[next(iter(self.likenesses))]


class Written:
    """What one start of a query has written. Not for several threads."""

    def __init__(self, stream: DataFrame, complaints: Complaints) -> None:
        self._stream_frame = stream
        self._stream: _Stream | None = None
        self._learned: defaultdict[Place, _Learned] = defaultdict(_Learned)
        self._sinks: dict[str, tuple[Sink, float]] = {}
        self._complaints = complaints
        self._description = Description()
        self.sessions: dict[str, SparkSession] = {}

    @property
    def description(self) -> Description:
        """All that is known so far."""
        return self._description

    @property
    def sinks(self) -> dict[str, Sink]:
        """The sinks by the name of their table, as the query calls it."""
        return {table: sink for table, (sink, _) in self._sinks.items()}

    def streams(self) -> list[Source]:
        """What each streaming leaf of the query's plan reads, in order."""
        stream = self._outer()
        leaves = stream.walked.leaves if stream.walked else ()
        return [s for s, leaf in zip(stream.sources, leaves, strict=False) if leaf.kind in STREAMING_LEAVES]

    def read(self, given: Mapping[Place, Frame], *, hurry: bool) -> dict[Place, Frame]:
        """Learns from frames. Returns those that have to wait, lest it took too much of the machine.

        Args:
            given: the latest frame of each write.
            hurry: there is no later.
        """
        later = {}
        changed = False
        for place, frame in given.items():
            learned = self._learned[place]
            began = time.monotonic()
            if not hurry and began < learned.allowed:
                later[place] = frame
                continue
            try:
                changed |= self._learn(place, learned, frame)
            except Exception as error:
                # The table is gone, say. What the other frames are made of is worth telling all the same.
                self._complaints.say(f"what is written to {place.table} is not known", error=error)
                later[place] = frame
            ended = time.monotonic()
            learned.allowed = ended + min(LONGEST_PAUSE, (ended - began) / MOST_OF_THE_TIME)
        if changed:
            self._describe()
        return later

    def read_stream(self) -> None:
        """Learns from the stream alone, for a query that has ended before it wrote anything."""
        stream = self._outer()
        if not self._description.outputs and stream.walked is not None:
            self._description = Description(input_fields(summary(stream.walked), stream.sources))

    def _learn(self, place: Place, learned: _Learned, given: Frame) -> bool:
        """Whether anything may be new."""
        now = time.monotonic()
        likeness = frames.likeness(given.frame)
        known = learned.likenesses.get(likeness) if now < learned.sure_until else None
        renewed = self._renew_sink(given.frame.sparkSession, place.table, may_wait=known is not None)
        if known is not None and known is learned.variants[-1]:
            return renewed
        if known is None:
            plan = frames.read(given.frame, given.batch)
            known = self._write(plan, given.batch is not None, self._sinks[place.table][0])
            learned.sure_until = now + SURE_SECONDS
        learned.add(likeness, known)
        if known.gaps:
            gaps = ", ".join(known.gaps)
            self._complaints.say(f"columns of {place.table} are left out, since nothing is known of {gaps}")
        return True

    def _write(self, plan: ReadPlan, in_batch: bool, sink: Sink) -> Write:
        if not in_batch:
            return Write(self._followed(plan, None), plan.sources, sink)
        stream = self._outer()
        sources = stream.sources + plan.sources
        if stream.walked is None:
            return Write(opaque(len(sources), "the plan of the stream"), sources, sink, len(stream.sources))
        lineage = self._followed(plan, Batch(stream.walked, plan.batch))
        return Write(lineage, sources, sink, len(stream.sources))

    def _outer(self) -> _Stream:
        if self._stream is None:
            plan = frames.read(self._stream_frame)
            walked = None
            with self._complaints.survived("the plan of its stream cannot be followed"):
                walked = walk(parse(plan.text))
            self._stream = _Stream(walked, plan.sources)
        return self._stream

    def _followed(self, plan: ReadPlan, batch: Batch | None) -> PlanLineage:
        """Where a plan cannot be followed, its datasets are known all the same."""
        with self._complaints.survived("a plan cannot be followed"):
            return derive(plan.text, batch)
        leaves = len(plan.sources) + (len(batch.stream.leaves) if batch else 0)
        return opaque(leaves, "a plan that cannot be followed")

    def _renew_sink(self, session: SparkSession, table: str, *, may_wait: bool) -> bool:
        """Whether the columns of the table are others than they were."""
        self.sessions[table] = session
        known = self._sinks.get(table)
        now = time.monotonic()
        if known is not None and may_wait and now - known[1] < SINK_SECONDS:
            return False
        self._sinks[table] = frames.sink(session, table), now
        return known is None or known[0] != self._sinks[table][0]

    def _describe(self) -> None:
        writes = [
            replace(write, sink=self._sinks[place.table][0])
            for place, learned in self._learned.items()
            for write in learned.variants
        ]
        self._description = accumulated(self._description, describe(writes, own_tables=True))
