# SPDX-License-Identifier: Apache-2.0
"""The ways to report a Flink job, as docs/explanation/lineage.md compares them: listener, launcher, or both at once."""

import os
import time
from dataclasses import dataclass

import httpx
import pytest

from lineagelab_flink.launch_sql import SqlJob
from lineagelab_flink.script import script
from tests.flink.flink_cluster import JOBMANAGER
from tests.flink.launched import TERMINAL, ReportedLineage, until
from tests.flink.test_launch_sql import Copies, edges, produce, running_job, sql

ROWS = 10
LISTENER, LAUNCHER, BOTH = "listener", "launcher", "both"
PATTERNS = (LISTENER, LAUNCHER, BOTH)
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
    """The same job three times, reported in three ways; all are submitted before the first one is waited for."""

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
        for pattern, prefix in ((LAUNCHER, None), (BOTH, "")):
            self.launchers[pattern] = self._launch_as(self.topics[pattern], text, once, prefix).start()
        topic = self.topics[LISTENER]
        content = script([(f"{topic}.sql", text(topic))], {"KAFKA_BOOTSTRAP": self._broker.bootstrap})
        SqlJob(topic, content, self._flink.gateway_url, ()).submit(os.urandom(16).hex(), "", "owner:nobody")

    def await_copies(self):
        """Wait until each job runs and has copied all rows."""
        for topic in self.topics.values():
            running_job(self._flink, topic)
            copies = Copies(self._broker, topic)
            copies.await_all(ROWS)
            copies.close()

    def reported(self, pattern):
        return ReportedLineage(self._service.url, self.topics[pattern])

    def await_starts(self):
        """Wait for the datasets of each job and, from launchers, its columns; print the seconds since its start."""
        started = {pattern: running_job(self._flink, topic).started for pattern, topic in self.topics.items()}

        def is_reported(pattern):
            reported = self.reported(pattern)
            return (
                reported.runs()
                and reported.edges() == edges(self.topics[pattern])
                and self.reports(pattern).has_columns == (pattern != LISTENER)
            )

        arrived = self._await(is_reported, "datasets and columns")
        for pattern, at in arrived.items():
            print(f"{pattern}: {at - started[pattern] / 1000:.1f} s after the start")

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
        """Return when the job ended, in seconds since 1970, as Flink says."""
        found = httpx.get(f"{self._flink.url}/jobs/overview", trust_env=False).json()["jobs"]
        return next(job["end-time"] / 1000 for job in found if job["name"] == self.topics[pattern])

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
def jobs(flink, service, broker, launcher, planner, rest, tmp_path, name):
    def launch_as(topic, text, once, prefix):
        folder = tmp_path / topic
        folder.mkdir()
        (folder / f"{topic}.sql").write_text(text(topic))
        options = ("--once",) if once else ()
        own = {"FLINK_STATE": str(folder / "state.json"), "LINEAGE_OPEN_RUNS": str(folder / "open-runs.json")}
        marked = {} if prefix is None else {"FLINK_JOB_ID_PREFIX": prefix}
        command = ("lineagelab_flink.launch_sql", *options, str(folder / f"{topic}.sql"))
        return launcher(*command, FLINK_SQL_LINEAGE=planner, **own, **marked)

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
            BOTH: Reports(("COMPLETED",), 2, ("COMPLETE", "COMPLETE"), has_columns=True),
        }
    )
    jobs.await_edges()


def test_cancelled(jobs, flink, rest):
    jobs.start(sql)
    jobs.await_starts()
    jobs.await_copies()
    for topic in jobs.topics.values():
        rest.cancel(running_job(flink, topic).job_id)
    jobs.await_reports(
        {
            LISTENER: Reports(("ABORTED",), 1, ("ABORT",), has_columns=False),
            LAUNCHER: Reports(("ABORTED",), 1, ("ABORT",), has_columns=True),
            BOTH: Reports(("ABORTED",), 2, ("ABORT", "ABORT"), has_columns=True),
        }
    )
    jobs.await_edges()


def test_stopped_with_a_savepoint(jobs, flink, rest):
    jobs.start(sql)
    jobs.await_copies()
    for topic in jobs.topics.values():
        rest.stop_with_savepoint(running_job(flink, topic).job_id)
    jobs.await_reports(
        {
            LISTENER: Reports(("COMPLETED",), 1, ("COMPLETE",), has_columns=False),
            LAUNCHER: Reports(("ABORTED",), 1, ("ABORT",), has_columns=True),
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
            BOTH: Reports(("FAILED",), 2, ("FAIL", "FAIL"), has_columns=True, has_message=True),
        }
    )
    jobs.await_edges()


def test_killed_jobmanager(jobs, flink):
    """A session cluster loses its jobs; a launcher starts its job again."""
    jobs.start(sql)
    jobs.await_copies()
    for pattern in (LAUNCHER, BOTH):
        until(lambda pattern=pattern: jobs.reports(pattern).has_columns, f"the start of {pattern}")
    killed = time.time()
    flink.restart(JOBMANAGER)
    jobs.await_reports(
        {
            LISTENER: Reports(("RUNNING",), 1, (), has_columns=False),
            LAUNCHER: Reports(("ABORTED", "RUNNING"), 1, ("ABORT",), has_columns=True),
            BOTH: Reports(("ABORTED", "RUNNING"), 2, ("ABORT",), has_columns=True),
        },
        since=killed,
    )
    jobs.await_edges()
