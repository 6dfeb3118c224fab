# SPDX-License-Identifier: Apache-2.0
"""Supervisor of one Flink job: submits, watches, reports and restarts it. `lifecycle` decides, `Launcher` acts."""

import logging
import os
import sys
import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from lineagelab_common.heartbeat import DEFAULT_SECONDS, heartbeat_seconds
from lineagelab_common.identifiers import DEFAULT_NAMESPACE
from lineagelab_common.spool import Spool
from lineagelab_common.stop_signal import StopSignal
from lineagelab_flink import checkpoints, lifecycle, restored_topics, statistics
from lineagelab_flink.application_cluster import JOBMANAGER_VARIABLE, ApplicationCluster, ApplicationJob
from lineagelab_flink.cluster import Cluster, SessionCluster
from lineagelab_flink.errors import FlinkError, FlinkUnavailableError
from lineagelab_flink.job_definition import JobDefinition, LineageLookup
from lineagelab_flink.job_id import check_prefix, new_job_id
from lineagelab_flink.job_problem import JobProblem
from lineagelab_flink.launcher_state import StateFile
from lineagelab_flink.lifecycle import (
    FINAL_STATES,
    RESTARTING_STATES,
    ClusterView,
    Event,
    Exit,
    Job,
    Phase,
    Situation,
    Stop,
    Submit,
    Timers,
    Warn,
)
from lineagelab_flink.run_reporter import RunReporter

EXIT_UNUSABLE = 2
"""Exit code for an invalid file or setting."""

POLL_SECONDS = 1.0
STOPPING_POLL_SECONDS = 0.2
CHECKPOINT_SECONDS = 3.0
"""Seconds between two queries of the newest checkpoint. The cluster retains the last three."""

CACHE_SECONDS = 3.5
"""Seconds after which a response about checkpoints is not older than the end of a job: Flink caches them for 3 s."""

SYNC_SAVEPOINT = "SYNC_SAVEPOINT"
"""Flink's type of a savepoint with which a job was stopped."""

INITIALIZING = "INITIALIZING"
"""State of a job of which Flink knows no checkpoints yet: it logs an error when it is asked for them."""

CAUSE_SECONDS = 5.0
"""Seconds between two queries of the cause while Flink restarts the tasks."""

CLOSE_SECONDS = 30.0
"""Seconds to deliver lineage events after the job has ended by itself."""

STOPPED_CLOSE_SECONDS = 5.0
"""The same after SIGTERM or SIGINT."""

TOPICS_TIMEOUT = 30.0
"""Seconds to derive which topics an edited job reads, before it continues from a former state."""

MAX_SPOOL_BYTES = 4 * 2**20
"""Size limit of waiting events, which are rewritten to disk with each change."""

LINEAGE_TIMEOUT = 5.0
"""Seconds for the connection, and for each part of a response."""

DEFINITION_PARAMETER = "lineage-lab.definition"
"""Global parameter of a job that holds the identity of its definition; a job without it is foreign."""

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class LauncherSettings:
    """Address of the lineage service, and files that outlive the launcher.

    Attributes:
        job_id_prefix: first hexadecimal digits of the ids of submitted jobs, by which a lineage transport in the
            cluster recognises jobs whose launcher reports them.
    """

    lineage: str
    namespace: str
    state: Path
    spool: Path
    heartbeat: float = DEFAULT_SECONDS
    job_id_prefix: str = ""

    @classmethod
    def of(cls, environment: Mapping[str, str], scratch: Path) -> "LauncherSettings":
        """Read the settings from the environment; files default to the temporary folder `scratch`.

        Raises:
            ValueError: the heartbeat is not a number of seconds, or the prefix of job ids not hexadecimal.
        """
        prefix = environment.get("FLINK_JOB_ID_PREFIX", "")
        check_prefix(prefix)
        return cls(
            environment.get("LINEAGE_URL", ""),
            environment.get("OPENLINEAGE_NAMESPACE") or DEFAULT_NAMESPACE,
            Path(environment.get("FLINK_STATE") or scratch / "state.json"),
            Path(environment.get("LINEAGE_OPEN_RUNS") or scratch / "undelivered.json"),
            heartbeat_seconds(environment),
            prefix,
        )


class Launcher:
    """Launcher of one job. With `once`, a failed job ends it."""

    def __init__(
        self,
        definition: JobDefinition,
        cluster: Cluster,
        settings: LauncherSettings,
        stop: threading.Event,
        *,
        once: bool,
    ) -> None:
        self._definition = definition
        self._once = once
        self._stop = stop
        self._cluster = cluster
        self._flink = cluster.client
        self._spool = Spool(settings.lineage, settings.spool, max_bytes=MAX_SPOOL_BYTES, timeout=LINEAGE_TIMEOUT)
        self._state_file = StateFile(settings.state)
        self._state_file.update(job_state="")
        self._timers = Timers()
        self._problem = JobProblem(self._state_file.state.problem, time.monotonic())
        self._cause_queried = 0.0
        self._last_warning = ""
        self._checkpoint_queried = 0.0
        self._has_savepoint = False
        self._is_gone = False
        self._finished_since: float | None = None
        self._lookup = LineageLookup(definition)
        self._reporter = RunReporter(
            settings.namespace,
            definition,
            self._flink,
            self._spool,
            self._state_file,
            self._lookup,
            settings.heartbeat,
            settings.job_id_prefix,
        )
        self._heartbeat = settings.heartbeat
        self._job_id_prefix = settings.job_id_prefix

    def run(self) -> bool:
        """Supervise the job until it has ended or the launcher is stopped; return False where the job failed."""
        try:
            while (exit_action := self._turn()) is None:
                if self._stop.is_set():
                    time.sleep(STOPPING_POLL_SECONDS)  # Flink is cancelling the job
                else:
                    self._stop.wait(POLL_SECONDS)
            return not exit_action.failed
        finally:
            self._cluster.close()
            is_stopped = self._stop.is_set()
            if is_stopped or self._state_file.state.job_state not in FINAL_STATES:
                self._state_file.update(job_state="")
            never = threading.Event()
            seconds = STOPPED_CLOSE_SECONDS if is_stopped else CLOSE_SECONDS
            self._spool.close(seconds, never if is_stopped else self._stop)

    def _turn(self) -> Exit | None:
        """Observe the cluster once and act; return None where another turn is due."""
        self._cluster.restart_taskmanager()
        end = self._cluster.take_failure()
        if end and self._state_file.state.memory.started is None and not self._refused(FlinkError(end)):
            return Exit(failed=True)
        view = self._view(end)
        launch = self._launch()
        if view is not None and view.own is not None and view.own.state != INITIALIZING:
            self._store_newest_checkpoint(view.own.is_over)
            launch = self._launch()
            if self._may_have_been_stopped(view.own, launch.now):
                return None
        if (
            launch.memory.phase is Phase.OPEN
            and self._needs_lookup(launch.memory.definition)
            and self._reporter.store_lineage()
        ):
            launch = replace(launch, timers=replace(self._timers, running=launch.now), awaits_lineage=False)
        after, self._timers, actions = lifecycle.step(launch, view)
        for action in actions:
            if isinstance(action, Event):
                self._reporter.report(action)
                # The backoff counts from the end of the report, which may take seconds.
                spent, launch = time.monotonic() - launch.now, replace(launch, now=time.monotonic())
                self._timers = replace(self._timers, submit=self._timers.submit + spent)
        self._state_file.update(memory=after, job_state=lifecycle.reported_state(view))
        failure = self._failure(view)
        self._store_problem(self._problem.observed(view, actions, after.failures, failure, time.monotonic()))
        if not actions and view is not None:
            self._last_warning = ""
        for action in actions:
            if isinstance(action, Warn):
                self._warn(action.text)
            elif isinstance(action, Submit) and not self._submit(again=action.again):
                return Exit(failed=True)
            elif isinstance(action, Stop):
                self._stop_job(after.job_id)
        return next((action for action in actions if isinstance(action, Exit)), None)

    def _may_have_been_stopped(self, job: Job, now: float) -> bool:
        """Return whether a finished streaming job may have been stopped with a savepoint that Flink does not list yet.

        Another client, or a launcher that was killed, may have stopped it.
        """
        state = self._state_file.state
        if job.state != "FINISHED" or state.memory.stopped or state.processing == "BATCH":
            self._finished_since = None
            return False
        if self._finished_since is None:
            self._finished_since = now
        return now - self._finished_since < CACHE_SECONDS

    def _failure(self, view: ClusterView | None) -> str:
        """Return the cause of the last failure of the job's tasks, queried regularly while Flink restarts them."""
        if view is not None and view.own is not None and view.own.state in RESTARTING_STATES:
            now = time.monotonic()
            if now - self._cause_queried >= CAUSE_SECONDS:
                self._cause_queried = now
                self._reporter.read_failure(view.own.job_id)
        return self._reporter.last_failure

    def _store_problem(self, problem: JobProblem) -> None:
        self._problem = problem
        self._state_file.update(problem=problem.text)

    def _launch(self) -> Situation:
        memory = self._state_file.state.memory
        return Situation(
            memory=memory,
            timers=self._timers,
            definition=self._definition.identity,
            stop=self._stop.is_set(),
            now=time.monotonic(),
            new_id=new_job_id(self._job_id_prefix, names_datasets=self._definition.names_datasets),
            once=self._once,
            awaits_lineage=self._lacks_lineage(memory.definition) and self._lookup.is_pending,
            gone=self._is_gone,
            heartbeat=self._heartbeat,
        )

    def _view(self, failure: str) -> ClusterView | None:
        """Return the jobs of this name; None where the cluster does not respond.

        Args:
            failure: with which the job's own JobManager has ended; empty if it has not.
        """
        self._is_gone = False
        if self._cluster.has_no_jobs():
            memory = self._state_file.state.memory
            if not failure or memory.started is None:
                return ClusterView()
            return ClusterView(Job(memory.job_id, memory.started, "FAILED", time.time_ns() // 10**6, cause=failure))
        try:
            jobs = self._flink.jobs()
            known = self._state_file.state.memory.job_id
            name, own = next(((name, job) for name, job in jobs if known and job.job_id == known), ("", None))
            if own is not None and name != self._definition.name and not self._definition.names_datasets:
                self._warn(
                    f"the job names itself {name!r}, so that its datasets are reported for another job of that name: "
                    f"call execute({self._definition.name!r}), or declare its columns"
                )
            others = [job for name, job in jobs if name == self._definition.name and not job.is_over and job is not own]
            if own is not None or not others:
                return ClusterView(own)
            return ClusterView(None, others[0], self._flink.global_parameter(others[0].job_id, DEFINITION_PARAMETER))
        except FlinkError as error:
            log.debug("%s", error)
            self._is_gone = isinstance(error, FlinkUnavailableError) and error.is_gone
            return None

    def _store_newest_checkpoint(self, at_once: bool) -> None:
        """Store the newest checkpoint of the job. None is newer than the savepoint with which it was stopped."""
        now = time.monotonic()
        if self._has_savepoint or (not at_once and now - self._checkpoint_queried < CHECKPOINT_SECONDS):
            return
        memory = self._state_file.state.memory
        self._checkpoint_queried = now
        try:
            found = statistics.last_checkpoint(self._flink.checkpoints(memory.job_id))
        except FlinkError as error:
            log.debug("cannot query the newest checkpoint: %s", error)
            return
        if found is None or (at_once and memory.asked and not found.get("is_savepoint")):
            return  # Flink caches responses for 3 s: the savepoint may be missing
        is_stopped = at_once and found.get("checkpoint_type") == SYNC_SAVEPOINT
        self._state_file.update(memory=replace(memory, restore=str(found["external_path"]), stopped=is_stopped))

    def _needs_lookup(self, definition: str) -> bool:
        """Start the lookup of a definition's lineage unless it is stored; return whether it is needed."""
        if not self._lacks_lineage(definition):
            return False
        self._lookup.begin()
        return True

    def _lacks_lineage(self, definition: str) -> bool:
        """Return whether a definition is the launcher's and its lineage is not stored."""
        return definition == self._definition.identity != self._state_file.state.described.definition

    def _submit(self, *, again: bool) -> bool:
        """Submit the job; return False where a failed submission ends the launcher.

        A job that is submitted again may have checkpoints of its own.
        """
        stored = self._state_file.state.memory
        self._has_savepoint = False
        self._needs_lookup(stored.definition)
        restore = stored.restored
        try:
            may_have_checkpoints = (stored.job_id if again else "", stored.previous)
            restore = checkpoints.to_restore(restore, self._job_folders(may_have_checkpoints))
            if restore != stored.restored:
                self._state_file.update(memory=replace(stored, restore=restore, restored=restore))
            before = self._state_file.state.described
            if restore and before.inputs and before.definition != self._definition.identity:
                restored_topics.require(before, self._lookup.wait(TOPICS_TIMEOUT), restore)
            log.info("submitting job %s%s", stored.job_id, f", restored from {restore}" if restore else "")
            self._definition.submit(stored.job_id, restore, f"{DEFINITION_PARAMETER}:{self._definition.identity}")
            self._store_problem(self._problem.submitted())
        except FlinkError as error:
            return self._refused(error)
        return True

    def _refused(self, error: FlinkError) -> bool:
        """Store that a submission has failed; return whether it is retried."""
        after, self._timers = lifecycle.refused(self._launch())
        self._state_file.update(memory=after)
        self._store_problem(self._problem.refused(error, time.monotonic()))
        is_retried = not self._once or isinstance(error, FlinkUnavailableError)
        retry = f"; retrying in {lifecycle.backoff(after.failures):.0f} s" if is_retried else ""
        log.error("cannot submit the job: %s%s", error, retry)
        return is_retried

    def _job_folders(self, job_ids: Iterable[str]) -> list[str]:
        """Return the folders of jobs' checkpoints; none for an empty id, or if the cluster has no folder for them."""
        known = [job_id for job_id in job_ids if job_id]
        folder = self._cluster.checkpoint_folder() if known else ""
        return [f"{folder.rstrip('/')}/{job_id}" for job_id in known] if folder else []

    def _stop_job(self, job_id: str) -> None:
        """Stop the job with a savepoint, or cancel it; the next turn observes the result."""
        try:
            savepoint = self._flink.stop_with_savepoint(job_id)
            self._state_file.update(memory=replace(self._state_file.state.memory, restore=savepoint, stopped=True))
            self._has_savepoint = True
            log.info("stopped job %s; the next one will be restored from %s", job_id, savepoint)
        except FlinkUnavailableError as error:
            log.warning("cannot stop job %s: %s; retrying", job_id, error)
            self._state_file.update(memory=replace(self._state_file.state.memory, asked=False))
        except FlinkError as error:
            log.warning("%s; cancelling without a savepoint", error)
            self._cancel(job_id)

    def _cancel(self, job_id: str) -> None:
        try:
            self._flink.cancel(job_id)
        except FlinkError as error:
            log.debug("cannot cancel job %s, it or the cluster has ended: %s", job_id, error)

    def _warn(self, text: str) -> None:
        if text != self._last_warning:
            log.warning("%s: %s", self._definition.name, text)
        self._last_warning = text


def run(definition: JobDefinition, cluster: Cluster, settings: LauncherSettings, *, once: bool = False) -> int:
    """Run a launcher until its job has ended, or until SIGTERM or SIGINT; return the exit code.

    Args:
        definition: of the job.
        cluster: on which it runs.
        settings: of the launcher.
        once: a failed job ends the launcher, with exit code 1.

    Raises:
        OSError: the state file or the spool cannot be written.
    """
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    logging.getLogger("httpx").setLevel(logging.WARNING)
    stop = StopSignal()
    stop.install()
    log.info("supervising %s, definition %s", definition.name, definition.identity)
    return 0 if Launcher(definition, cluster, settings, stop, once=once).run() else 1


def run_by_environment(definition: JobDefinition, subject: str, *, once: bool = False) -> int:
    """Run a launcher with settings of the environment, as `run` does; return 2 where they are invalid.

    Args:
        definition: of the job.
        subject: what the command was to run, for the message.
        once: as for `run`.

    Raises:
        OSError: the state file or the spool cannot be written.
    """
    with TemporaryDirectory(prefix="launch-") as scratch:
        try:
            settings = LauncherSettings.of(os.environ, Path(scratch))
            cluster: Cluster
            if os.environ.get(JOBMANAGER_VARIABLE):
                cluster = own = ApplicationCluster.of(os.environ, Path(scratch))
                definition = ApplicationJob(definition, own)
            else:
                cluster = SessionCluster(os.environ["FLINK_URL"])
        except KeyError as error:
            print(f"cannot run {subject}: environment variable {error.args[0]} is not set", file=sys.stderr)
            return EXIT_UNUSABLE
        except ValueError as error:
            print(f"cannot run {subject}: {error}", file=sys.stderr)
            return EXIT_UNUSABLE
        return run(definition, cluster, settings, once=once)
