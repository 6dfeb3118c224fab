# SPDX-License-Identifier: Apache-2.0
"""What Spark says of the progress of a query: one JSON for each micro-batch, summed up to a window. Pure."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lineagelab_spark.datasets import Dataset, Source


@dataclass(frozen=True)
class SourceProgress:
    """What a micro-batch read of one source.

    Attributes:
        behind: how many offsets the source is ahead of what was read; None where it does not count in offsets.
    """

    rows: int
    behind: int | None


@dataclass(frozen=True)
class Progress:
    """A micro-batch that is through.

    Attributes:
        identity: tells it from the other ones of its run; ids alone come twice where a batch had no data.
        written: rows, None where the sink does not say.
    """

    identity: tuple[int, str]
    rows: int
    milliseconds: int
    sources: tuple[SourceProgress, ...]
    written: int | None

    @property
    def batch_id(self) -> int:
        return self.identity[0]


@dataclass(frozen=True)
class Window:
    """The micro-batches between two events.

    Attributes:
        source_rows: of each source, in the order of the query's plan.
        behind: offsets that are still to be read, after the last batch.
        written: rows, None where some batch does not say.
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
        """This window with one more batch at its end."""
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
    """One progress of a query, `StreamingQueryProgress.json`.

    Raises:
        ValueError, KeyError: it is none.
    """
    said = json.loads(text)
    written = int(said["sink"].get("numOutputRows", -1))
    return Progress(
        identity=(int(said["batchId"]), str(said["timestamp"])),
        rows=int(said["numInputRows"]),
        milliseconds=int(said["batchDuration"]),
        sources=tuple(
            SourceProgress(int(source["numInputRows"]), _behind(source.get("endOffset"), source.get("latestOffset")))
            for source in said["sources"]
        ),
        written=written if written >= 0 else None,
    )


def rows_read(window: Window, sources: Sequence[Source]) -> dict[Dataset, int]:
    """How many rows came from each dataset, as far as it can be told.

    Args:
        window: counts by source.
        sources: what each streaming leaf of the query's plan reads, in order. Spark counts a stream that is read
            twice once; what a source of several topics read is known of all of them together only.
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
    """Of Kafka's offsets, topic -> partition -> offset; other sources have others. Some Sparks write JSON in JSON."""
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
