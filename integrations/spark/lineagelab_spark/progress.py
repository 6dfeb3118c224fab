# SPDX-License-Identifier: Apache-2.0
"""Progress of a streaming query: one JSON record per micro-batch, aggregated to windows. Pure."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lineagelab_spark.datasets import Dataset, Source


@dataclass(frozen=True)
class SourceProgress:
    """Progress of one source in a micro-batch.

    Attributes:
        behind: lag in offsets; None for sources without numeric offsets.
        topics: topics of Kafka in its offsets.
    """

    rows: int
    behind: int | None
    topics: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Progress:
    """Completed micro-batch.

    Attributes:
        identity: batch id and timestamp, unique in the run; ids repeat after batches without data.
        written: rows written; None if the sink does not report them.
    """

    identity: tuple[int, str]
    rows: int
    milliseconds: int
    sources: tuple[SourceProgress, ...]
    written: int | None

    @property
    def batch_id(self) -> int:
        return self.identity[0]


@dataclass(frozen=True, kw_only=True)
class Window:
    """Aggregated micro-batches between two events.

    Attributes:
        milliseconds: total duration of the batches; `longest` is that of the longest one.
        source_rows: rows read by source, in the order of the query's plan.
        behind: lag in offsets after the last batch.
        written: rows written; None if any batch does not report them.
    """

    batches: int = 0
    rows: int = 0
    milliseconds: int = 0
    longest: int = 0
    source_rows: tuple[int, ...] = ()
    behind: int | None = None
    written: int | None = 0
    last_batch: int | None = None

    def plus(self, batch: Progress) -> "Window":
        """Return this window extended by a batch."""
        rows = tuple(source.rows for source in batch.sources)
        before = self.source_rows or (0,) * len(rows)
        behind = [source.behind for source in batch.sources if source.behind is not None]
        known = self.written is not None and batch.written is not None
        return Window(
            batches=self.batches + 1,
            rows=self.rows + batch.rows,
            milliseconds=self.milliseconds + batch.milliseconds,
            longest=max(self.longest, batch.milliseconds),
            source_rows=tuple(map(sum, zip(before, rows, strict=True))) if len(before) == len(rows) else (),
            behind=sum(behind) if behind else None,
            written=(self.written or 0) + (batch.written or 0) if known else None,
            last_batch=batch.batch_id,
        )


def parse(text: str) -> Progress:
    """Parse `StreamingQueryProgress.json`.

    Raises:
        ValueError, KeyError: the text has another form.
    """
    record = json.loads(text)
    written = int(record["sink"].get("numOutputRows", -1))
    return Progress(
        identity=(int(record["batchId"]), str(record["timestamp"])),
        rows=int(record["numInputRows"]),
        milliseconds=_duration(record),
        sources=tuple(
            SourceProgress(
                int(source["numInputRows"]),
                _behind(source.get("endOffset"), source.get("latestOffset")),
                frozenset(topic for topic, _ in _offsets(source.get("endOffset")) or {}),
            )
            for source in record["sources"]
        ),
        written=written if written >= 0 else None,
    )


def _duration(record: dict[str, Any]) -> int:
    """Return the milliseconds of a batch: Spark 3.5 has only those of its phases, of which the trigger is the whole."""
    return int(record["batchDuration"] if "batchDuration" in record else record["durationMs"]["triggerExecution"])


def rows_read(window: Window, sources: Sequence[Source]) -> dict[Dataset, int]:
    """Return the rows read by dataset, where they can be attributed.

    Args:
        window: row counts by source.
        sources: source of each streaming leaf of the query's plan, in order. Spark counts a stream that is read twice
            only once; a source of several topics has one count for all of them.
    """
    datasets = {dataset for source in sources for dataset in source.datasets}
    if len(datasets) == 1:
        return {datasets.pop(): window.rows}
    if len(sources) != len(window.source_rows):
        return {}
    found: dict[Dataset, int] = {}
    for source, rows in zip(sources, window.source_rows, strict=True):
        if len(source.datasets) == 1:
            found[source.datasets[0]] = found.get(source.datasets[0], 0) + rows
    return found


def _behind(end: object, latest: object) -> int | None:
    """Return the lag for offsets of Kafka's form, topic -> partition -> offset (text in some Spark versions)."""
    read, there = _offsets(end), _offsets(latest)
    if read is None or there is None:
        return None
    return sum(max(0, offset - read.get(partition, offset)) for partition, offset in there.items())


def _offsets(value: object) -> dict[tuple[str, str], int] | None:
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except json.JSONDecodeError:
            return None
    if not isinstance(value, dict) or not all(isinstance(partitions, dict) for partitions in value.values()):
        return None
    found: dict[tuple[str, str], Any] = {
        (topic, partition): offset for topic, partitions in value.items() for partition, offset in partitions.items()
    }
    return found if found and all(isinstance(offset, int) for offset in found.values()) else None
