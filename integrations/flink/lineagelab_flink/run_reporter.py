# SPDX-License-Identifier: Apache-2.0
"""Reporter of a job's runs: gathers the content of each event and adds the event to the spool.

What cannot be gathered is omitted from the event; a failure to gather it never stops the job.
"""

import logging
import time

from lineagelab_common.heartbeat import DEFAULT_SECONDS
from lineagelab_common.spool import Spool
from lineagelab_flink import run_events, statistics
from lineagelab_flink.errors import FlinkError, root_cause
from lineagelab_flink.job_definition import JobDefinition, LineageLookup
from lineagelab_flink.job_id import listener_reports_start
from lineagelab_flink.launcher_state import JobLineage, StateFile
from lineagelab_flink.lifecycle import Event, EventType, JobState
from lineagelab_flink.rest import FlinkClient
from lineagelab_flink.run_events import Failure, FlinkRun, RunUpdate, Window
from lineagelab_flink.statistics import JobMetrics

CAUSE_TIMEOUT = 8.0
"""Seconds to wait for the cause of a failure: Flink caches responses for 3 s."""

CAUSE_POLL = 0.5

log = logging.getLogger(__name__)


class RunReporter:
    """Reports the runs of one job.

    Attributes:
        last_failure: cause of the last known failure of the job's tasks; empty for none.
    """

    def __init__(
        self,
        namespace: str,
        definition: JobDefinition,
        flink: FlinkClient,
        spool: Spool,
        state_file: StateFile,
        lookup: LineageLookup,
        heartbeat: float = DEFAULT_SECONDS,
        job_id_prefix: str = "",
    ) -> None:
        self._heartbeat = heartbeat
        self._job_id_prefix = job_id_prefix
        self._namespace = namespace
        self._definition = definition
        self._flink = flink
        self._spool = spool
        self._state_file = state_file
        self._lookup = lookup
        self._last_metrics: tuple[float, JobMetrics] | None = None
        self._last_event = 0
        self.last_failure = ""

    def report(self, action: Event) -> None:
        """Add an event to the spool, with the lineage of the job if it is known.

        Raises:
            OSError: the spool or the state file cannot be written.
        """
        job = action.of
        if job.started is None:
            return  # the job was never observed: it has no run
        if action.what is EventType.START:
            self._store_job_kind(job)
        self.store_lineage()
        run = FlinkRun(
            namespace=self._namespace,
            name=self._definition.name,
            job_id=job.job_id,
            started=job.started,
            processing=self._state_file.state.processing,
            job_type=self._definition.job_type,
            version=self._state_file.state.version,
            restored=job.restored,
            heartbeat=self._heartbeat,
            unknown_lineage=self._lookup.failure if job.definition == self._definition.identity else "",
        )
        self._last_event = max(self._last_event + 1, time.time_ns() // 10**6)
        update = RunUpdate(
            what=action.what,
            at=action.at if action.at is not None else self._last_event,
            why=action.why,
            window=self._window(action.what, job.job_id),
            failure=self._failure(action) if action.what is EventType.FAIL else None,
        )
        known = self._state_file.state.described
        described = known if known.definition == job.definition else JobLineage()
        if action.what is not EventType.START or not listener_reports_start(job.job_id, self._job_id_prefix):
            self._spool.add(run_events.event(run, described, update))
        if action.what is not EventType.RUNNING:
            log.info("%s of job %s%s", action.what, job.job_id, f": {action.why}" if action.why else "")
        if update.failure is not None:
            self.last_failure = update.failure.message
            log.error("job %s failed: %s", job.job_id, update.failure.message)

    def _store_job_kind(self, job: JobState) -> None:
        """Store version and kind of the job at the start of its run, while the cluster responds."""
        try:
            version, kind = self._flink.version(), str(self._flink.job(job.job_id).get("job-type", "STREAMING"))
            self._state_file.update(version=version, processing=kind)
        except FlinkError as error:
            log.debug("cannot query the kind of the job: %s", error)

    def store_lineage(self) -> bool:
        """Store the job's lineage if it is known; return whether it is new."""
        found = self._lookup.wait(0.0)
        if found is None or found == self._state_file.state.described:
            return False
        self._state_file.update(described=found)
        return True

    def _window(self, what: EventType, job_id: str) -> Window | None:
        if what is EventType.START:
            self._last_metrics = (time.monotonic(), JobMetrics(read={}, written={}))
            return None
        try:
            after = statistics.query_metrics(self._flink, job_id)
        except FlinkError as error:
            log.debug("cannot query the metrics of job %s: %s", job_id, error)
            return None
        now = time.monotonic()
        began, before = self._last_metrics or (now, JobMetrics())
        self._last_metrics = (now, after)
        return Window(now - began, before, after)

    def read_failure(self, job_id: str) -> None:
        """Store the cause of the last failure of a job's tasks in `last_failure`, if the cluster reports one."""
        try:
            trace = run_events.stack_trace_of(self._flink.exceptions(job_id))
        except FlinkError as error:
            log.debug("cannot query the failures of job %s: %s", job_id, error)
            return
        if trace:
            self.last_failure = root_cause(trace)

    def _failure(self, action: Event) -> Failure:
        if action.why:
            return Failure(action.why)
        job_id, deadline = action.of.job_id, time.monotonic() + CAUSE_TIMEOUT
        while True:
            try:
                exceptions = self._flink.exceptions(job_id)
            except FlinkError as error:
                return Failure(f"unknown cause: {error}")
            trace = run_events.stack_trace_of(exceptions)
            if trace or time.monotonic() > deadline:
                return run_events.failure_of(exceptions, root_cause(trace))
            time.sleep(CAUSE_POLL)
