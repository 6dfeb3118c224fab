# SPDX-License-Identifier: Apache-2.0
"""The ways to report a Flink job, as docs/explanation/lineage.md compares them: listener, launcher, or both at once.

The launcher's job runs on the session cluster, and once more on a cluster of its own.
"""

import os
import re
import time
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

import pytest

from infra.services.flink.cluster import APPLICATION_MAIN
from lineagelab_flink.errors import FlinkError
from lineagelab_flink.launch_sql import SqlJob
from lineagelab_flink.rest import FlinkClient
from lineagelab_flink.script import script
from tests.flink.copied_topic import Copies, produce, sql
from tests.flink.flink_cluster import JOBMANAGER, jobs_at
from tests.flink.launched import TERMINAL, ReportedLineage, until
from tests.flink.test_launch_sql import edges

ROWS = 10
LISTENER, LAUNCHER, BOTH, APPLICATION = "listener", "launcher", "both", "application"
PATTERNS = (LISTENER, LAUNCHER, BOTH, APPLICATION)
ADDRESS = re.compile(r"starting a cluster at (\S+)")
FAILING = "INSERT INTO copies SELECT CAST(word AS INT), word FROM numbers;"


@dataclass(frozen=True)
class Reports:
    """Content of a lineage service about a job: states of its runs, and of its first run the events.

    Attributes:
        starts, ends: number of START events, and types of terminal ones in alphabetical order.
        has_columns: an event of the run has column lineage.
        has_message: an event of the run has the message of an error.
    """

    states: tuple[str, ...]
    starts: int
    ends: tuple[str, ...]
    has_columns: bool
    has_message: bool = False


class Jobs:
    """The same job four times, reported in four ways; all are submitted before the first one is waited for."""

    def __init__(self, flink, service, broker, launch_as, name):
        self._flink, self._service, self._broker = flink, service, broker
        self._launch_as = launch_as
        self.topics = {pattern: f"{name}_{pattern}" for pattern in PATTERNS}
        self.launchers = {}
        for topic in self.topics.values():
            broker.topic(topic, f"{topic}_out")
            produce(broker, topic, range(ROWS))

    def start(self, text, *, once=False):
        """Submit the job; `text` returns its script for a topic."""
        for pattern, prefix in ((LAUNCHER, None), (BOTH, ""), (APPLICATION, None)):
            own_cluster = pattern == APPLICATION
            self.launchers[pattern] = self._launch_as(self.topics[pattern], text, once, prefix, own_cluster).start()
        topic = self.topics[LISTENER]
        content = script([(f"{topic}.sql", text(topic))], {"KAFKA_BOOTSTRAP": self._broker.bootstrap})
        SqlJob(topic, content, self._flink.gateway_url, ()).submit(os.urandom(16).hex(), "", "owner:nobody")

    def url(self, pattern):
        """Return the address of the JobManager of a job."""
        if pattern != APPLICATION:
            return self._flink.url
        return until(lambda: ADDRESS.findall(self.launchers[pattern].log()), "the address of the cluster")[-1]

    def running_job(self, pattern):
        """Wait until all tasks of a job run, and return it."""

        def found():
            try:
                jobs = jobs_at(self.url(pattern), self.topics[pattern])
            except FlinkError:  # the cluster of the job is starting
                return None
            return next((job for job in reversed(jobs) if job.runs), None)

        return until(found, f"the job of {pattern} to run")

    @contextmanager
    def client(self, pattern):
        """Client of the JobManager of a job."""
        client = FlinkClient(self.url(pattern))
        try:
            yield client
        finally:
            client.close()

    def await_copies(self):
        """Wait until each job runs and has copied all rows."""
        for pattern, topic in self.topics.items():
            self.running_job(pattern)
            copies = Copies(self._broker, topic)
            copies.await_all(ROWS)
            copies.close()

    def reported(self, pattern):
        return ReportedLineage(self._service.url, self.topics[pattern])

    def await_starts(self):
        """Wait for the datasets of each job and, from launchers, its columns; print the seconds since its start."""

        def is_reported(pattern):
            reported = self.reported(pattern)
            return (
                reported.runs()
                and reported.edges() == edges(self.topics[pattern])
                and self.reports(pattern).has_columns == (pattern != LISTENER)
            )

        arrived = self._await(is_reported, "datasets and columns")
        for pattern, at in arrived.items():
            print(f"{pattern}: {at - self.running_job(pattern).started / 1000:.1f} s after the start")

    def await_reports(self, expected, since=None):
        """Wait for the reports of each pattern; print the seconds since the end of its job, or since `since`."""
        arrived = self._await(lambda pattern: self.reports(pattern) == expected[pattern], f"the reports {expected}")
        for pattern, at in arrived.items():
            print(f"{pattern}: {at - (since or self._ended(pattern)):.1f} s after the end")

    def _await(self, holds, what):
        """Wait for each pattern until `holds`; return when it did, in seconds since 1970."""
        arrived = {}

        def all_hold():
            for pattern in self.topics.keys() - arrived.keys():
                if holds(pattern):
                    arrived[pattern] = time.time()
            return arrived.keys() == self.topics.keys()

        until(all_hold, what, 60)
        return dict(sorted(arrived.items()))

    def _ended(self, pattern):
        """Return when the job ended, in seconds since 1970, as Flink says; a launcher reports it as the run's end."""
        if pattern == APPLICATION:
            return datetime.fromisoformat(self.reported(pattern).runs()[0]["endedAt"]).timestamp()
        return next(job.ended / 1000 for job in jobs_at(self.url(pattern), self.topics[pattern]))

    def reports(self, pattern):
        reported = self.reported(pattern)
        runs = reported.runs()
        events = reported.events(runs[0]["id"]) if runs else []
        outputs = [output for event in events for output in event.get("outputs", [])]
        return Reports(
            tuple(run["state"] for run in runs),
            sum(event["eventType"] == "START" for event in events),
            tuple(sorted(event["eventType"] for event in events if event["eventType"] in TERMINAL)),
            any("columnLineage" in output.get("facets", {}) for output in outputs),
            any("errorMessage" in event["run"].get("facets", {}) for event in events),
        )

    def await_edges(self):
        """Wait until each pattern shows what the job reads and writes."""
        for pattern, topic in self.topics.items():
            self.reported(pattern).await_edges(edges(topic))


@pytest.fixture
def jobs(flink, service, broker, launcher, planner, rest, tmp_path, name, application_mode):
    def launch_as(topic, text, once, prefix, own_cluster):
        folder = tmp_path / topic
        folder.mkdir()
        (folder / f"{topic}.sql").write_text(text(topic))
        options = ("--once",) if once else ()
        own = {"FLINK_STATE": str(folder / "state.json"), "LINEAGE_OPEN_RUNS": str(folder / "open-runs.json")}
        marked = {} if prefix is None else {"FLINK_JOB_ID_PREFIX": prefix}
        cluster = application_mode() if own_cluster else {}
        command = ("lineagelab_flink.launch_sql", *options, str(folder / f"{topic}.sql"))
        return launcher(*command, FLINK_SQL_LINEAGE=planner, **own, **marked, **cluster)

    yield Jobs(flink, service, broker, launch_as, name)
    for topic, job in rest.jobs():
        if topic.startswith(name) and not job.is_over:
            rest.cancel(job.job_id)


def test_finished(jobs):
    jobs.start(lambda topic: sql(topic, bounded=True))
    jobs.await_reports(
        {
            LISTENER: Reports(("COMPLETED",), 1, ("COMPLETE",), has_columns=False),
            LAUNCHER: Reports(("COMPLETED",), 1, ("COMPLETE",), has_columns=True),
            APPLICATION: Reports(("COMPLETED",), 1, ("COMPLETE",), has_columns=True),
            BOTH: Reports(("COMPLETED",), 2, ("COMPLETE", "COMPLETE"), has_columns=True),
        }
    )
    jobs.await_edges()


def test_cancelled(jobs):
    jobs.start(sql)
    jobs.await_starts()
    jobs.await_copies()
    for pattern in PATTERNS:
        with jobs.client(pattern) as rest:
            rest.cancel(jobs.running_job(pattern).job_id)
    jobs.await_reports(
        {
            LISTENER: Reports(("ABORTED",), 1, ("ABORT",), has_columns=False),
            LAUNCHER: Reports(("ABORTED",), 1, ("ABORT",), has_columns=True),
            APPLICATION: Reports(("ABORTED",), 1, ("ABORT",), has_columns=True),
            BOTH: Reports(("ABORTED",), 2, ("ABORT", "ABORT"), has_columns=True),
        }
    )
    jobs.await_edges()


def test_stopped_with_a_savepoint(jobs):
    jobs.start(sql)
    jobs.await_copies()
    for pattern in PATTERNS:
        with jobs.client(pattern) as rest:
            rest.stop_with_savepoint(jobs.running_job(pattern).job_id)
    jobs.await_reports(
        {
            LISTENER: Reports(("COMPLETED",), 1, ("COMPLETE",), has_columns=False),
            LAUNCHER: Reports(("ABORTED",), 1, ("ABORT",), has_columns=True),
            APPLICATION: Reports(("ABORTED",), 1, ("ABORT",), has_columns=True),
            BOTH: Reports(("ABORTED",), 2, ("ABORT", "COMPLETE"), has_columns=True),
        }
    )
    jobs.await_edges()


def test_failed(jobs):
    jobs.start(lambda topic: "SET 'restart-strategy.type' = 'none';" + sql(topic, FAILING), once=True)
    jobs.await_reports(
        {
            LISTENER: Reports(("FAILED",), 1, ("FAIL",), has_columns=False),
            LAUNCHER: Reports(("FAILED",), 1, ("FAIL",), has_columns=True, has_message=True),
            APPLICATION: Reports(("FAILED",), 1, ("FAIL",), has_columns=True, has_message=True),
            BOTH: Reports(("FAILED",), 2, ("FAIL", "FAIL"), has_columns=True, has_message=True),
        }
    )
    jobs.await_edges()


def test_killed_jobmanager(jobs, flink):
    """A session cluster loses its jobs; a launcher starts its job again."""
    jobs.start(sql)
    jobs.await_copies()
    for pattern in (LAUNCHER, BOTH, APPLICATION):
        until(lambda pattern=pattern: jobs.reports(pattern).has_columns, f"the start of {pattern}")
    killed = time.time()
    jobs.launchers[APPLICATION].jvm(APPLICATION_MAIN).kill()
    flink.restart(JOBMANAGER)
    jobs.await_reports(
        {
            LISTENER: Reports(("RUNNING",), 1, (), has_columns=False),
            LAUNCHER: Reports(("ABORTED", "RUNNING"), 1, ("ABORT",), has_columns=True),
            APPLICATION: Reports(("ABORTED", "RUNNING"), 1, ("ABORT",), has_columns=True),
            BOTH: Reports(("ABORTED", "RUNNING"), 2, ("ABORT",), has_columns=True),
        },
        since=killed,
    )
    jobs.await_edges()
