# SPDX-License-Identifier: Apache-2.0
"""CPU overhead of lineage in Flink: the SQL job over a million rows, with the listener and the launcher's lineage, and
without.

Two clusters concurrently read one topic to its end, one with lineage and one without, so that both are subject to the
same machine load. Two JVMs never compile alike, a difference that would be mistaken for lineage. Therefore the
clusters swap roles for the second half of the rounds: the TaskManager stays warm, JobManager and gateway are
restarted. A round consists of one pair of trials of each half, so that differences between the TaskManagers cancel out.

Lineage costs nothing per row: the listener runs in JobManager and gateway, the launcher is a separate process. Their
CPU time per job, from START to COMPLETE, is reported separately; it is more precise than the ratio, which contains
the noise of all rows.
"""

import math
import statistics
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from infra.namespaces import JOB_ICEBERG_INGESTION, TABLE_LIVE_ORDERS, TOPIC_ORDERS
from infra.services.flink.settings import GATEWAY, JOBMANAGER, TASKMANAGER
from tests.bench.confidence_intervals import Interval, paired_difference, paired_ratio
from tests.bench.expected_runs import expect_ended_runs
from tests.bench.figures import Figures, Goal, format_number
from tests.bench.flink_cluster import JVMS, FlinkCluster, managed_cluster
from tests.bench.flink_job import JobLaunch
from tests.bench.partial_lab import count_rows
from tests.bench.stream_services import StreamServices, stream_services
from tests.flink.launched import ReportedLineage, until

Result = TypeVar("Result")

RATIO = Goal(1.02)
ORDERS = 200_000
WARM_UP, WARM_UP_AFTER_SWAP = 2, 1
"""Discarded trials of each cluster: at the start, and after JobManager and gateway were restarted."""


@dataclass(frozen=True)
class FlinkTrial:
    """CPU seconds of one bounded job from its launch to its last event: of each JVM, and of launcher with planner.

    Attributes:
        rows: number of rows that the job has written.
    """

    lineage: bool
    taskmanager: float
    jobmanager: float
    gateway: float
    launcher: float
    wall: float
    rows: int

    @property
    def cluster(self) -> float:
        """Return the CPU seconds of the processes that run as long as the job does."""
        return self.taskmanager + self.jobmanager


Pair = tuple[FlinkTrial, FlinkTrial]
"""Concurrent trials with lineage and without."""


def measure(figures: Figures, folder: Path, rounds: int) -> None:
    """Measure all rounds, after warm-up trials of both clusters."""
    with stream_services(folder, {TOPIC_ORDERS: ORDERS}) as services, ExitStack() as started:
        one, other = (started.enter_context(managed_cluster(services.partial_lab(name))) for name in ("one", "other"))
        run_concurrently(lambda: one.start(*JVMS, lineage=True), lambda: other.start(*JVMS, lineage=False))
        first = measure_pairs(figures, services, one, other, WARM_UP, rounds, "first")
        run_concurrently(lambda: one.restart_listeners(lineage=False), lambda: other.restart_listeners(lineage=True))
        second = measure_pairs(figures, services, other, one, WARM_UP_AFTER_SWAP, rounds, "second")
        add_ratios(figures, services.records[TOPIC_ORDERS], first, second)


def measure_pairs(
    figures: Figures,
    services: StreamServices,
    on: FlinkCluster,
    off: FlinkCluster,
    warm_up: int,
    rounds: int,
    half: str,
) -> list[Pair]:
    """Measure `warm_up` discarded pairs and `rounds` pairs; add the figures of each pair once it is measured."""
    measured = []
    for number in range(warm_up + rounds):
        measured.append(measure_pair(services, on, off, services.folder / half / str(number)))
        if number >= warm_up:
            add_pair(figures, services.records[TOPIC_ORDERS], *measured[-1])
    return measured[warm_up:]


def measure_pair(services: StreamServices, on: FlinkCluster, off: FlinkCluster, folder: Path) -> Pair:
    """Run two bounded jobs concurrently, so that other load on the machine affects both.

    Raises:
        RuntimeError: a job failed, or the job without lineage reported some.
    """
    reported = ReportedLineage(services.lineage_url, JOB_ICEBERG_INGESTION)
    before = count_listener_completions(reported)

    def await_completion() -> None:
        until(lambda: count_listener_completions(reported) > before, "the listener's COMPLETE event")

    with expect_ended_runs(services.lineage_url, JOB_ICEBERG_INGESTION, 1):
        with_lineage, without = run_concurrently(
            lambda: run_trial(JobLaunch(on, folder / "on", bounded=True, lineage=True), await_completion),
            lambda: run_trial(JobLaunch(off, folder / "off", bounded=True, lineage=False), lambda: None),
        )
    if count_listener_completions(reported) != before + 1:
        raise RuntimeError(f"the cluster without lineage in {off.lab.folder} emitted lineage events")
    return with_lineage, without


def run_trial(launch: JobLaunch, await_events: Callable[[], None]) -> FlinkTrial:
    """Run one bounded job; `await_events` waits for its last event. Raises RuntimeError: the job failed."""
    before, began = launch.cluster.cpu_seconds(), time.monotonic()
    usage = launch.run()
    wall = time.monotonic() - began
    await_events()
    after = launch.cluster.cpu_seconds()
    used = {name: after[name] - before[name] for name in after}
    return FlinkTrial(
        lineage=launch.lineage,
        taskmanager=used[TASKMANAGER],
        jobmanager=used[JOBMANAGER],
        gateway=used[GATEWAY],
        launcher=usage.cpu_seconds,
        wall=wall,
        rows=count_rows(launch.warehouse, TABLE_LIVE_ORDERS),
    )


def run_concurrently(*tasks: Callable[[], Result]) -> list[Result]:
    """Run tasks in threads and return their results; once all have ended, raise the error of the first that failed."""
    with ThreadPoolExecutor(len(tasks)) as pool:
        return [done.result() for done in [pool.submit(task) for task in tasks]]


def count_listener_completions(reported: ReportedLineage) -> int:
    """Return the number of COMPLETE events that the cluster's listener, not the launcher, has sent."""
    own = [event for event in reported.events() if not event["producer"].startswith("urn:lineage-lab:")]
    return sum(event["eventType"] == "COMPLETE" for event in own)


def add_pair(figures: Figures, records: int, on: FlinkTrial, off: FlinkTrial) -> None:
    """Add the figures of one pair."""
    for way, trial in (("lineage on", on), ("lineage off", off)):
        name = f"{JOB_ICEBERG_INGESTION}, {way}"
        per_million = trial.cluster * 1e6 / records
        figures.add(f"{name}: CPU of TaskManager and JobManager per 1,000,000 records", "s", per_million)
        figures.add(f"{name}: CPU of TaskManager per job", "s", trial.taskmanager)
        figures.add(f"{name}: CPU of JobManager per job", "s", trial.jobmanager)
        figures.add(f"{name}: CPU of gateway per job", "s", trial.gateway)
        figures.add(f"{name}: CPU of launcher and planner per job", "s", trial.launcher)
        figures.add(f"{name}: wall time per job", "s", trial.wall)


def add_ratios(figures: Figures, records: int, first: Sequence[Pair], second: Sequence[Pair]) -> None:
    """Add the CPU ratio of each round, and remarks with confidence intervals.

    Raises:
        RuntimeError: the trials wrote different numbers of rows.
    """
    if len(written := {trial.rows for pair in (*first, *second) for trial in pair}) != 1:
        raise RuntimeError(f"trials over one topic wrote different numbers of rows: {sorted(written)}")
    for on, off in zip(*mean_cluster_costs(first, second), strict=True):
        figures.add(f"{JOB_ICEBERG_INGESTION}, on / off: CPU of TaskManager and JobManager", "ratio", on / off, RATIO)
    figures.remark(f"{JOB_ICEBERG_INGESTION}: {records:,} records, {written.pop():,} rows per trial")
    if len(first) > 1:
        for text in cost_remarks(records, first, second):
            figures.remark(text)


def mean_cluster_costs(first: Sequence[Pair], second: Sequence[Pair]) -> tuple[list[float], list[float]]:
    """Return the CPU seconds with lineage and without, by round: geometric means over both clusters."""
    rounds = list(zip(first, second, strict=True))
    sides = ([math.sqrt(one[side].cluster * two[side].cluster) for one, two in rounds] for side in (0, 1))
    with_lineage, without = sides
    return with_lineage, without


def cost_remarks(records: int, first: Sequence[Pair], second: Sequence[Pair]) -> list[str]:
    """Return the CPU ratio, and the CPU seconds per job that lineage adds to each process, with their intervals."""
    ratio = paired_ratio(list(zip(*mean_cluster_costs(first, second), strict=True)))
    pairs = [*first, *second]
    per_million = statistics.median(off.cluster for _, off in pairs) / records * 1e6

    def added(process: str) -> Interval:
        return paired_difference([(getattr(on, process), getattr(off, process)) for on, off in pairs])

    processes = {"jobmanager": "JobManager", "gateway": "gateway", "launcher": "launcher and planner"}
    return [
        f"{JOB_ICEBERG_INGESTION}, on / off, CPU of TaskManager and JobManager: {ratio}",
        *(f"CPU seconds per job that lineage adds to {name}: {added(field)}" for field, name in processes.items()),
        f"JobManager's share relative to a job of 1,000,000 records ({format_number(per_million)} s): ratio "
        f"{added('jobmanager').transformed(lambda seconds: 1 + seconds / per_million)}",
    ]
