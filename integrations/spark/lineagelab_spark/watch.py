# SPDX-License-Identifier: Apache-2.0
"""Watches one start of a streaming query: takes in what its threads tell, and makes its events of it.

The query's threads only leave frames here. Everything else, plans, progress and events, is done by `step`, which a
thread of lineage's own calls.
"""

import threading
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Protocol

from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery

from lineagelab_common.identifiers import ParentRun
from lineagelab_common.spool import Spool
from lineagelab_spark import frames, run_events, running
from lineagelab_spark.complaints import Complaints
from lineagelab_spark.datasets import Dataset
from lineagelab_spark.lifecycle import EventType, Lifecycle, Phase
from lineagelab_spark.open_runs import OpenRuns
from lineagelab_spark.progress import Window, rows_read
from lineagelab_spark.run_events import Failure, QueryRun, Statistics
from lineagelab_spark.snapshots import AddedRows, write_options
from lineagelab_spark.written import Frame, Place, Written

_ENDS = frozenset({EventType.COMPLETE, EventType.FAIL, EventType.ABORT})

POLL_SECONDS = 5.0
"""Between two looks at a query at most: Spark keeps the progress of 100 batches, and none takes less than 50 ms."""

START_SECONDS = 5.0
"""For which the first batch waits to learn the id of its run. `start()` returns within some ten milliseconds."""


@dataclass(frozen=True)
class Setting:
    """What the runs of one application have in common.

    Attributes:
        interval: seconds between the RUNNING events of a run.
    """

    namespace: str
    application: str
    spark_version: str
    interval: float
    parent: ParentRun | None
    spool: Spool
    open_runs: OpenRuns


@dataclass(frozen=True)
class _Started:
    """A query that runs, and its run."""

    query: StreamingQuery
    run: QueryRun
    at_milliseconds: int


class Told(Protocol):
    """What the threads of a query tell. All of it returns at once, but for the first `append_options`."""

    def started(self, query: StreamingQuery) -> None:
        """The query runs."""

    def describe(self, place: Place, frame: Frame) -> None:
        """A frame is written. Those of a batch are taken together when it is over."""

    def append_options(self, table: str) -> dict[str, str]:
        """With what to append to a table, so that its snapshots tell how many rows the run has added to it."""

    def batch_began(self) -> None:
        """A micro-batch is handed out."""

    def batch_over(self, raised: BaseException | None) -> None:
        """The micro-batch is written, or was given up for what its function has raised."""

    def stopping(self) -> None:
        """The driver is about to stop the query, which runs."""


class NoWatch:
    """For queries without lineage."""

    def started(self, query: StreamingQuery) -> None: ...

    def describe(self, place: Place, frame: Frame) -> None: ...

    def append_options(self, table: str) -> dict[str, str]:
        return {}

    def batch_began(self) -> None: ...

    def batch_over(self, raised: BaseException | None) -> None: ...

    def stopping(self) -> None: ...


class Watch:
    """One start of a query. `describe` to `stopping` are for the query's own threads, and return at once."""

    def __init__(self, setting: Setting, stream: DataFrame) -> None:
        self._setting = setting
        self._lock = threading.Lock()
        self._is_started = threading.Event()
        self._started: _Started | None = None
        self._ready: dict[Place, Frame] = {}
        self._in_batch: dict[Place, Frame] = {}
        self._batch_began: float | None = None
        self._raised: BaseException | None = None
        self._stopped = False
        self.complaints = Complaints(f"a query of {setting.application}")
        self._written = Written(stream, self.complaints)
        self._lifecycle = Lifecycle(setting.interval)
        self._window = Window()
        self._window_began = time.monotonic()
        self._last_batch: tuple[int, str] | None = None
        self._polled = 0.0
        self._last_event = datetime.fromtimestamp(0, UTC)
        self._with_pairs = False
        self._added: dict[str, AddedRows] = {}

    def started(self, query: StreamingQuery) -> None:
        """The query runs."""
        try:
            name = query.name or self._setting.application
            run = QueryRun(
                self._setting.namespace,
                name,
                str(query.runId),
                self._setting.interval,
                self._setting.spark_version,
                self._setting.parent,
            )
            self._started = _Started(query, run, time.time_ns() // 1_000_000)
        finally:
            # Also where that failed: the first batch waits for it.
            self._is_started.set()
        if query.name is None:
            self.complaints.say("it has no queryName, and the application's name is not one for two queries")

    def describe(self, place: Place, frame: Frame) -> None:
        """A frame is written. Those of a batch are taken together when it is over."""
        with self._lock:
            (self._ready if frame.batch is None else self._in_batch)[place] = frame

    def append_options(self, table: str) -> dict[str, str]:
        """With what to append to a table, so that its snapshots tell how many rows the run has added to it."""
        self._is_started.wait(START_SECONDS)
        if self._started is None:
            return {}
        run_id = self._started.run.run_id
        with self._lock:
            self._added.setdefault(table, AddedRows(run_id, self._started.at_milliseconds))
        return write_options(run_id)

    def batch_began(self) -> None:
        """A micro-batch is handed out."""
        with self._lock:
            self._batch_began = time.monotonic()

    def batch_over(self, raised: BaseException | None) -> None:
        """The micro-batch is written, or was given up for what its function has raised."""
        with self._lock:
            self._ready |= self._in_batch
            self._in_batch = {}
            self._batch_began = None
            self._raised = raised

    def stopping(self) -> None:
        """The driver is about to stop the query, which runs."""
        self._stopped = True

    @property
    def is_over(self) -> bool:
        """Whether there is nothing more to come."""
        return self._lifecycle.phase is Phase.ENDED

    def step(self, *, closing: bool) -> float:
        """Does what there is to do.

        Args:
            closing: the driver leaves; what runs now will not be watched to its end.

        Returns:
            Seconds after which to come again, unless somebody calls.
        """
        started = self._started
        if started is None:
            return POLL_SECONDS
        end, failure = self._end(started, closing)
        self._learn(hurry=end is not None)
        if end is EventType.FAIL:
            with self.complaints.survived("what its stream reads is not known"):
                self._written.read_stream()
        before = self._lifecycle.said
        now = time.monotonic()
        self._lifecycle, said = self._lifecycle.step(self._written.description, end, now)
        if said or now - self._polled >= POLL_SECONDS:
            self._polled = now
            with self.complaints.survived("its progress is not known"):
                self._poll(started.query)
        for event_type in said:
            self._say(started, event_type, failure, changed=before != self._lifecycle.said)
        due = self._lifecycle.due
        return POLL_SECONDS if due is None else min(POLL_SECONDS, max(0.0, due - time.monotonic()))

    def _end(self, started: _Started, closing: bool) -> tuple[EventType | None, Failure | None]:
        try:
            if started.query.isActive:
                return (EventType.ABORT if closing else None), None
            end = running.end_of(started.query, stopped=self._stopped)
            return end, running.failure_of(started.query, self._raised) if end is EventType.FAIL else None
        except running.JVM_GONE as error:
            return EventType.FAIL, Failure(f"the JVM of the driver is gone: {error}", "PYTHON", "")

    def _learn(self, *, hurry: bool) -> None:
        with self._lock:
            long = self._batch_began is not None and time.monotonic() - self._batch_began > self._setting.interval
            given, self._ready = self._ready, {}
            if hurry or long:
                given |= self._in_batch
                self._in_batch = {}
        later = self._written.read(given, hurry=hurry)
        with self._lock:
            self._ready = later | self._ready

    def _poll(self, query: StreamingQuery) -> None:
        for batch in running.progress_since(query, self._last_batch):
            self._window = self._window.plus(batch)
            self._last_batch = batch.identity

    def _say(self, started: _Started, event_type: EventType, failure: Failure | None, *, changed: bool) -> None:
        description = self._written.description
        self._with_pairs |= not description.is_cross_product
        statistics = self._statistics() if event_type is not EventType.START else None
        self._last_event = max(datetime.now(UTC), self._last_event + timedelta(milliseconds=1))
        event = run_events.event(
            started.run,
            event_type,
            self._last_event,
            description,
            with_pairs=self._with_pairs,
            statistics=statistics,
            failure=failure if event_type is EventType.FAIL else None,
        )
        keep, run_id = self._setting.open_runs, started.run.run_id
        if event_type in _ENDS:
            keep.keep_end(event)
        elif changed:
            bare = run_events.event(started.run, event_type, self._last_event, description, with_pairs=self._with_pairs)
            keep.keep(bare)
        self._setting.spool.add(event, (lambda: keep.forget(run_id)) if event_type in _ENDS else None)

    def _statistics(self) -> Statistics:
        window, began = self._window, self._window_began
        self._window, self._window_began = Window(), time.monotonic()
        read: dict[Dataset, int] = {}
        with self.complaints.survived("what its streams have read is not known"):
            read = rows_read(window, self._written.streams())
        return Statistics(window, self._window_began - began, read, self._rows_written(window))

    def _rows_written(self, window: Window) -> dict[Dataset, int]:
        sinks = self._written.sinks
        with self._lock:
            added = dict(self._added)
        if not added:
            is_known = len(sinks) == 1 and window.written is not None
            return {sink.dataset: window.written or 0 for sink in sinks.values()} if is_known else {}
        found: dict[Dataset, int] = {}
        # What a first batch that is still being written adds counts once it is known what that is.
        for table in added.keys() & sinks.keys():
            with self.complaints.survived(f"how many rows it has added to {table} is not known"):
                iceberg = frames.iceberg_table(self._written.sessions[table], table)
                found[sinks[table].dataset] = added[table].since_last(iceberg)
        return found
