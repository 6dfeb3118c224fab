# SPDX-License-Identifier: Apache-2.0
"""Observer of a driver's batch writes: derives each from the plan that Spark ran, and emits its run events.

Spark's listener calls `succeeded` and `failed` when an execution has ended. Writes that take longer are found by
`poll`, so that their START is sent while they run.
"""

import threading
import time
from collections import deque
from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from pyspark.sql import SparkSession

from lineagelab_common.identifiers import new_run_id
from lineagelab_spark import events, frames, write_commands, write_events
from lineagelab_spark.checkpoints import ACTIONS, Checkpoints
from lineagelab_spark.datasets import Dataset, Source
from lineagelab_spark.deduplicated_warnings import DeduplicatedWarnings
from lineagelab_spark.description import Description, Sink, Write, describe
from lineagelab_spark.driver_settings import DriverSettings
from lineagelab_spark.frames import FramePlan
from lineagelab_spark.java import JavaObject, items, kind_of, option
from lineagelab_spark.lifecycle import EventType
from lineagelab_spark.plan import PlanLineage, opaque, summary
from lineagelab_spark.profile_runs import WrittenSnapshot, report_profile
from lineagelab_spark.runs import Failure
from lineagelab_spark.write_commands import ENCLOSING, UnsupportedWriteError, WriteCommand
from lineagelab_spark.write_events import WriteRun, Written
from lineagelab_spark.written_rows import rows_written, with_nulls, written_snapshot

MAX_VARIANTS = 64
"""Limit of distinct lineages kept per job: writes of one application to one table are one job with all their edges."""

MAX_INNER = 100
"""Limit of ended inner writes that are remembered until their enclosing command ends."""

POLLED_EXECUTIONS = 20
"""Latest executions that a poll looks at."""


class _InnerWrite(NamedTuple):
    execution: int
    output: tuple[int, ...]


class BatchObserver:
    """Observer of the writes of all sessions of one Spark context. Thread-safe."""

    def __init__(self, spark: SparkSession, settings: DriverSettings) -> None:
        self._spark = spark
        self._settings = settings
        self._lock = threading.RLock()
        self._checkpoints = Checkpoints()
        self._variants: dict[str, list[Write]] = {}
        self._open: dict[int, tuple[WriteRun, Description]] = {}
        self._ended: deque[int] = deque(maxlen=10 * POLLED_EXECUTIONS)
        self._inner: deque[_InnerWrite] = deque(maxlen=MAX_INNER)
        self._snapshots: dict[str, WrittenSnapshot] = {}
        self._is_stopped = False
        self.warnings = DeduplicatedWarnings(settings.application)

    def succeeded(self, action: str, execution: JavaObject) -> None:
        """Report an execution that has succeeded: a `QueryExecution`, and the name of its action."""
        with self._lock, self.warnings.log_exceptions("a write is not reported"):
            if self._is_stopped:
                return
            plan = execution.analyzed()
            if action in ACTIONS:
                next_rdd = int(self._spark.sparkContext._jsc.sc().newRddId())
                self._checkpoints.add(plan, next_rdd, *frames.read_plan(self._spark, plan))
            else:
                self._end(execution, plan, None)

    def failed(self, execution: JavaObject, error: JavaObject) -> None:
        """Report an execution that has failed with a Java exception."""
        with self._lock, self.warnings.log_exceptions("a failed write is not reported"):
            if not self._is_stopped:
                self._end(execution, execution.analyzed(), _failure(error))

    def poll(self) -> None:
        """Send START of the writes that are running."""
        with self._lock, self.warnings.log_exceptions("running writes are not reported"):
            for execution in self._running():
                number = int(execution.id())
                if number not in self._open and number not in self._ended:
                    self._start(execution, number)

    def stop(self) -> None:
        """Send ABORT of the writes that are running, as the driver stops Spark under them; ignore what follows."""
        self.poll()
        with self._lock:
            self._is_stopped = True
            for number in list(self._open):
                run, description = self._open.pop(number)
                self._emit(run, EventType.ABORT, _now(), description)

    def profile(self) -> None:
        """Profile the tables that were written, if the settings demand it: after the last write, as it takes time."""
        with self._lock:
            snapshots = list(self._snapshots.values())
            self._snapshots.clear()
        for snapshot in snapshots:
            with self.warnings.log_exceptions(f"{snapshot.table} is not profiled"):
                report_profile(self._spark, self._settings, snapshot, self.warnings)

    def _running(self) -> Iterable[JavaObject]:
        """Return the latest executions that have not ended."""
        store = self._spark._jsparkSession.sharedState().statusStore()
        count = int(store.executionsCount())
        recent = items(store.executionsList(max(0, count - POLLED_EXECUTIONS), POLLED_EXECUTIONS))
        jvm: JavaObject = self._spark._jvm
        for entry in recent:
            if option(entry.completionTime()) is None:
                execution = jvm.org.apache.spark.sql.execution.SQLExecution.getQueryExecution(entry.executionId())
                if execution is not None:
                    yield execution

    def _start(self, execution: JavaObject, number: int) -> None:
        plan = execution.analyzed()
        try:
            command = None if write_commands.is_staged(plan) else write_commands.read(plan)
        except UnsupportedWriteError:
            self._ended.append(number)  # its end says so
            return
        if command is None:
            return
        run = self._run(execution, command)
        description = self._describe(run.job, command, keep=False)
        self._open[number] = run, description
        self._emit(run, EventType.START, run.began, description)

    def _end(self, execution: JavaObject, plan: JavaObject, failure: Failure | None) -> None:
        number = int(execution.id())
        self._ended.append(number)
        if kind_of(plan) in ENCLOSING:
            self._end_enclosing(number, plan, failure)
            return
        if write_commands.is_staged(plan):
            return
        try:
            command = write_commands.read(plan)
        except UnsupportedWriteError as error:
            self.warnings.warn(f"a write is not seen: {error}")
            return
        if command is None:
            return
        self._inner.append(_InnerWrite(number, write_commands.output_ids(command.query)))
        known = self._open.pop(number, None)
        run = known[0] if known else self._run(execution, command)
        description = self._describe(run.job, command, keep=failure is None)
        if known is None:
            self._emit(run, EventType.START, run.began, description)
        end = EventType.COMPLETE if failure is None else EventType.FAIL
        written = self._written(execution, command, run.began) if failure is None else {}
        self._emit(run, end, max(_now(), run.began + 1), description, written, failure)

    def _end_enclosing(self, number: int, plan: JavaObject, failure: Failure | None) -> None:
        """Account for a command whose rows an inner command writes: that one is reported, if there was one."""
        output = write_commands.output_ids(plan.query())
        if not any(inner.execution > number and inner.output == output for inner in self._inner):
            kind = kind_of(plan)
            problem = f"has failed before it wrote: {failure.message}" if failure else "wrote in a way that is not seen"
            self.warnings.warn(f"a {kind} {problem}")

    def _run(self, execution: JavaObject, command: WriteCommand) -> WriteRun:
        settings = self._settings
        return WriteRun(
            namespace=settings.namespace,
            job=events.job_name(settings.application, command.command, command.table.replace("/", "_")),
            run_id=new_run_id(),
            began=_began(execution),
            spark_version=settings.spark_version,
            parent=settings.parent,
        )

    def _describe(self, job: str, command: WriteCommand, *, keep: bool) -> Description:
        """Return the inputs and outputs of a job: those of this write and of earlier ones that it leaves in place."""
        write = self._write(command)
        known_writes = [] if command.replaces_all else self._variants.get(job, [])
        before = [known for known in known_writes if not known.has_same_lineage_as(write)]
        variants = [*before, write][-MAX_VARIANTS:]
        if keep:
            self._variants[job] = variants
        if write.gaps:
            self.warnings.warn(f"column lineage of {job} is incomplete, unsupported: {', '.join(write.gaps)}")
        description = describe(replace(known, sink=write.sink) for known in variants)
        return description if command.dataset is not None else Description(description.inputs)

    def _write(self, command: WriteCommand) -> Write:
        """Return the write of a command; a table that does not exist has no name, and is left out by the caller."""
        lineage, sources = self._derived(*frames.read_plan(self._spark, command.query))
        fields = command.fields or write_commands.fields_of(command.query)
        sink = Sink(command.dataset or Dataset("", command.table), fields)
        return Write(lineage, sources, sink, by_position=command.by_position, changes_rows=command.changes_rows)

    def _derived(self, plan: FramePlan, leaves: list[JavaObject]) -> tuple[PlanLineage, tuple[Source, ...]]:
        """Return the lineage of a plan and the source of each leaf; if it cannot be derived, datasets only."""
        with self.warnings.log_exceptions("cannot derive a plan"):
            derived = self._checkpoints.derive(plan, leaves)
            return summary(derived.columns), derived.sources
        return opaque(len(plan.sources), "a plan that cannot be derived"), plan.sources

    def _written(self, execution: JavaObject, command: WriteCommand, began: int) -> dict[Dataset, Written]:
        if command.dataset is None:
            return {}
        found = Written()
        with self.warnings.log_exceptions(f"cannot count the rows written to {command.table}"):
            application = str(self._spark.sparkContext.applicationId)
            found = rows_written(execution, command.jvm_table, application, began)
            with self.warnings.log_exceptions(f"cannot count the nulls written to {command.table}"):
                found = with_nulls(found, self._spark._jvm, command.jvm_table, application, began)
            if self._settings.profile_rows:
                self._keep_snapshot(
                    command.table, command.dataset, written_snapshot(command.jvm_table, application, began)
                )
        return {command.dataset: found}

    def _keep_snapshot(self, table: str, dataset: Dataset, found: tuple[int, int | None] | None) -> None:
        """Remember the last snapshot of a table for `profile`."""
        if found is not None:
            self._snapshots[table] = WrittenSnapshot(table, dataset, *found)

    def _emit(
        self,
        run: WriteRun,
        event_type: EventType,
        milliseconds: int,
        description: Description,
        written: dict[Dataset, Written] | None = None,
        failure: Failure | None = None,
    ) -> None:
        event = write_events.event(run, event_type, milliseconds, description, written=written, failure=failure)
        open_runs = self._settings.open_runs
        if event_type is EventType.START:
            open_runs.store(event)
            self._settings.spool.add(event)
            return
        open_runs.store_terminal_event(event)
        self._settings.spool.add(event, lambda: open_runs.remove(run.run_id))


def _began(execution: JavaObject) -> int:
    """Return when an execution began, in milliseconds since 1970: the first of its phases, which is its analysis."""
    phases = execution.tracker().phases().values().toList()
    return min((int(phase.startTimeMs()) for phase in items(phases)), default=_now())


def _failure(error: JavaObject) -> Failure:
    """Return the failure of a Java exception: its root cause, and its stack trace."""
    cause = error
    while cause.getCause() is not None:
        cause = cause.getCause()
    trace = "\n\tat ".join([str(cause.toString()), *(str(frame.toString()) for frame in cause.getStackTrace())])
    return Failure(str(cause.toString()), "JAVA", trace)


def _now() -> int:
    return time.time_ns() // 1_000_000
