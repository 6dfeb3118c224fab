# SPDX-License-Identifier: Apache-2.0
"""Observer of one start of a streaming query: collects its writes and progress, and emits its run events.

The query's threads only hand over frames. Plans, progress and events are processed by `step`, on the observer thread.
"""

import threading
import time
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Protocol

from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery

from lineagelab_spark import frames, query_status, run_events
from lineagelab_spark.added_rows import AddedRowsCounter, write_options
from lineagelab_spark.datasets import Dataset
from lineagelab_spark.deduplicated_warnings import DeduplicatedWarnings
from lineagelab_spark.description import Description
from lineagelab_spark.driver_settings import DriverSettings
from lineagelab_spark.lifecycle import EventType, Lifecycle, RunPhase
from lineagelab_spark.null_counts import null_counts_of_all
from lineagelab_spark.progress import Window, rows_read
from lineagelab_spark.run_events import QueryRun, Statistics
from lineagelab_spark.runs import Failure
from lineagelab_spark.write_tracker import WriteId, WriteTracker, WrittenFrame

_ENDS = frozenset({EventType.COMPLETE, EventType.FAIL, EventType.ABORT})

POLL_INTERVAL = 5.0
"""Maximum seconds between polls of a query: Spark keeps the progress of 100 batches, each of at least 50 ms."""

START_TIMEOUT = 5.0
"""Seconds that the first batch waits for its run id. `start()` returns within some tens of milliseconds."""


@dataclass(frozen=True, kw_only=True)
class ObserverSettings(DriverSettings):
    """Settings shared by the runs of one application.

    Attributes:
        interval: seconds between RUNNING events.
    """

    interval: float


@dataclass(frozen=True)
class _Started:
    """Started query and its run."""

    query: StreamingQuery
    run: QueryRun
    at_milliseconds: int


class Observer(Protocol):
    """Callbacks for the threads of a query. All are non-blocking except the first `append_options`."""

    def started(self, query: StreamingQuery) -> None:
        """Record that the query has started."""

    def describe(self, write_id: WriteId, frame: WrittenFrame) -> None:
        """Record a written frame; those of a micro-batch are processed when it ends."""

    def append_options(self, table: str) -> dict[str, str]:
        """Return write options that store the run id in the table's snapshots, from which added rows are counted."""

    def batch_began(self) -> None:
        """Record the start of a micro-batch."""

    def batch_ended(self, raised: BaseException | None) -> None:
        """Record the end of a micro-batch; `raised` is the exception of its function, if any."""

    def stopping(self) -> None:
        """Record that the driver is about to stop the running query."""


class NoObserver:
    """No-op observer."""

    def started(self, query: StreamingQuery) -> None: ...

    def describe(self, write_id: WriteId, frame: WrittenFrame) -> None: ...

    def append_options(self, table: str) -> dict[str, str]:
        return {}

    def batch_began(self) -> None: ...

    def batch_ended(self, raised: BaseException | None) -> None: ...

    def stopping(self) -> None: ...


class QueryObserver:
    """Observer of one start of a query. `describe` to `stopping` are called on the query's threads."""

    def __init__(self, settings: ObserverSettings, stream: DataFrame) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._is_started = threading.Event()
        self._started: _Started | None = None
        self._ready: dict[WriteId, WrittenFrame] = {}
        self._in_batch: dict[WriteId, WrittenFrame] = {}
        self._batch_began: float | None = None
        self._raised: BaseException | None = None
        self._stopped = False
        self.warnings = DeduplicatedWarnings(f"a query of {settings.application}")
        self._writes = WriteTracker(stream, self.warnings)
        self._lifecycle = Lifecycle(settings.interval)
        self._window = Window()
        self._window_began = time.monotonic()
        self._last_batch: tuple[int, str] | None = None
        self._polled = 0.0
        self._last_event = datetime.fromtimestamp(0, timezone.utc)
        self._with_pairs = False
        self._added: dict[str, AddedRowsCounter] = {}

    def started(self, query: StreamingQuery) -> None:
        """Record that the query has started."""
        try:
            name = query.name or self._settings.application
            run = QueryRun(
                namespace=self._settings.namespace,
                job=name,
                run_id=str(query.runId),
                interval=self._settings.interval,
                spark_version=self._settings.spark_version,
                parent=self._settings.parent,
            )
            self._started = _Started(query, run, time.time_ns() // 1_000_000)
        finally:
            # Also on failure: the first batch waits for it.
            self._is_started.set()
        if query.name is None:
            self.warnings.warn("no queryName; the application's name is used, ambiguous with several queries")

    def describe(self, write_id: WriteId, frame: WrittenFrame) -> None:
        """Record a written frame; those of a micro-batch are processed when it ends."""
        with self._lock:
            (self._ready if frame.batch is None else self._in_batch)[write_id] = frame

    def append_options(self, table: str) -> dict[str, str]:
        """Return write options that store the run id in the table's snapshots, from which added rows are counted."""
        self._is_started.wait(START_TIMEOUT)
        if self._started is None:
            return {}
        run_id = self._started.run.run_id
        with self._lock:
            self._added.setdefault(table, AddedRowsCounter(run_id, self._started.at_milliseconds))
        return write_options(run_id)

    def batch_began(self) -> None:
        """Record the start of a micro-batch."""
        with self._lock:
            self._batch_began = time.monotonic()

    def batch_ended(self, raised: BaseException | None) -> None:
        """Record the end of a micro-batch; `raised` is the exception of its function, if any."""
        with self._lock:
            self._ready |= self._in_batch
            self._in_batch = {}
            self._batch_began = None
            self._raised = raised

    def stopping(self) -> None:
        """Record that the driver is about to stop the running query."""
        self._stopped = True

    @property
    def has_ended(self) -> bool:
        """True after the terminal event."""
        return self._lifecycle.phase is RunPhase.ENDED

    def step(self, *, closing: bool) -> float:
        """Process pending writes and progress, and emit due events.

        Args:
            closing: the driver exits; a running query is reported as aborted.

        Returns:
            Seconds until the next step, unless woken earlier.
        """
        started = self._started
        if started is None:
            return POLL_INTERVAL
        end, failure = self._end(started, closing)
        self._read_writes(is_final=end is not None)
        if end is EventType.FAIL:
            with self.warnings.log_exceptions("cannot read the inputs of its stream"):
                self._writes.read_stream_inputs()
        before = self._lifecycle.reported
        if self._writes.awaits_topics:
            self._poll(started.query)
        now = time.monotonic()
        # Without its topics, a description is not worth a START before one is due.
        is_early = self._writes.awaits_topics and end is None
        description = Description() if is_early else self._writes.description
        self._lifecycle, events = self._lifecycle.step(description, end, now)
        if events or now - self._polled >= POLL_INTERVAL:
            self._poll(started.query)
        for event_type in events:
            self._emit(started, event_type, failure, changed=before != self._lifecycle.reported)
        due = self._lifecycle.due
        return POLL_INTERVAL if due is None else min(POLL_INTERVAL, max(0.0, due - time.monotonic()))

    def _end(self, started: _Started, closing: bool) -> tuple[EventType | None, Failure | None]:
        try:
            if started.query.isActive:
                return (EventType.ABORT if closing else None), None
            end = query_status.end_of(started.query, stopped=self._stopped)
            return end, query_status.failure_of(started.query, self._raised) if end is EventType.FAIL else None
        except query_status.JVM_GONE as error:
            return EventType.FAIL, Failure(f"the JVM of the driver is gone: {error}", "PYTHON", "")

    def _read_writes(self, *, is_final: bool) -> None:
        with self._lock:
            long = self._batch_began is not None and time.monotonic() - self._batch_began > self._settings.interval
            given, self._ready = self._ready, {}
            if is_final or long:
                given |= self._in_batch
                self._in_batch = {}
        later = self._writes.read(given, is_final=is_final)
        with self._lock:
            self._ready = later | self._ready

    def _poll(self, query: StreamingQuery) -> None:
        self._polled = time.monotonic()
        with self.warnings.log_exceptions("cannot read its progress"):
            for batch in query_status.progress_since(query, self._last_batch):
                self._window = self._window.plus(batch)
                self._last_batch = batch.identity
                self._writes.match_topics(batch)

    def _emit(self, started: _Started, event_type: EventType, failure: Failure | None, *, changed: bool) -> None:
        description = self._writes.description
        self._with_pairs |= not description.is_cross_product
        statistics = self._statistics() if event_type is not EventType.START else None
        self._last_event = max(datetime.now(timezone.utc), self._last_event + timedelta(milliseconds=1))
        event = run_events.event(
            started.run,
            event_type,
            self._last_event,
            description,
            with_pairs=self._with_pairs,
            statistics=statistics,
            failure=failure if event_type is EventType.FAIL else None,
        )
        open_runs, run_id = self._settings.open_runs, started.run.run_id
        if event_type in _ENDS:
            open_runs.store_terminal_event(event)
        elif changed:
            bare = run_events.event(started.run, event_type, self._last_event, description, with_pairs=self._with_pairs)
            open_runs.store(bare)
        self._settings.spool.add(event, (lambda: open_runs.remove(run_id)) if event_type in _ENDS else None)

    def _statistics(self) -> Statistics:
        window, began = self._window, self._window_began
        self._window, self._window_began = Window(), time.monotonic()
        read: dict[Dataset, int] = {}
        with self.warnings.log_exceptions("cannot count the rows that its streams have read"):
            read = rows_read(window, self._writes.streams())
        return Statistics(window, self._window_began - began, read, *self._written(window))

    def _written(self, window: Window) -> tuple[dict[Dataset, int], dict[Dataset, dict[str, int]]]:
        """Return rows, and nulls by column, that the window has written to each dataset, where known."""
        sinks = self._writes.sinks
        with self._lock:
            added = dict(self._added)
        if not added:
            is_known = len(sinks) == 1 and window.written is not None
            return {sink.dataset: window.written or 0 for sink in sinks.values()} if is_known else {}, {}
        rows: dict[Dataset, int] = {}
        nulls: dict[Dataset, dict[str, int]] = {}
        # Tables of a first batch that is still being written are counted once their sink is known.
        for table in added.keys() & sinks.keys():
            with self.warnings.log_exceptions(f"cannot count the rows added to {table}"):
                session = self._writes.sessions[table]
                iceberg = frames.iceberg_table(session, table)
                found = added[table].since_last(iceberg)
                rows[sinks[table].dataset] = found.rows
                with self.warnings.log_exceptions(f"cannot count the nulls added to {table}"):
                    nulls[sinks[table].dataset] = null_counts_of_all(session._jvm, iceberg, found.snapshots)
        return rows, nulls
