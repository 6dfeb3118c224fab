# SPDX-License-Identifier: Apache-2.0
"""CPU time that lineage adds to an idle Flink job: without records, with lineage and without.

Two clusters run the job concurrently. Each one-minute window contains two reporting intervals of the listener and of
the launcher.
"""

import subprocess
import threading
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import psutil

from infra.namespaces import TABLE_LIVE_ORDERS, TOPIC_ORDERS
from infra.services.flink.settings import GATEWAY, JOBMANAGER
from tests.bench.confidence_intervals import paired_difference
from tests.bench.figures import Figures
from tests.bench.flink_cluster import JVMS, managed_cluster
from tests.bench.flink_job import JobLaunch
from tests.bench.flink_overhead import run_concurrently
from tests.bench.flink_startup import has_rows
from tests.bench.stream_services import stream_services
from tests.flink.launched import until

ORDERS = 1_000
WINDOW_SECONDS = 60
WARM_UP_WINDOWS = 1
"""Discarded windows: the first one includes work that follows the start."""

Usage = dict[str, float]
"""CPU milliseconds per minute by process."""


@dataclass(frozen=True)
class RunningJob:
    """Unbounded job and its launcher's process."""

    launch: JobLaunch
    process: "subprocess.Popen[bytes]"

    def cpu_seconds(self) -> dict[str, float]:
        """Return user and system time so far of the processes that emit lineage if it is on."""
        jvms = self.launch.cluster.cpu_seconds()
        used = psutil.Process(self.process.pid).cpu_times()
        return {
            "JobManager": jvms[JOBMANAGER],
            "gateway": jvms[GATEWAY],
            "launcher": used.user + used.system,
        }


def measure(figures: Figures, folder: Path, rounds: int) -> None:
    """Measure `rounds` windows, after the discarded ones."""
    with stream_services(folder, {TOPIC_ORDERS: ORDERS}) as services, ExitStack() as started:
        clusters = [started.enter_context(managed_cluster(services.partial_lab(name))) for name in ("on", "off")]
        on, off = clusters
        run_concurrently(lambda: on.start(*JVMS, lineage=True), lambda: off.start(*JVMS, lineage=False))
        launches = (
            JobLaunch(cluster, cluster.lab.folder / "job", bounded=False, lineage=cluster is on) for cluster in clusters
        )
        jobs = [RunningJob(launch, started.enter_context(launch.running())) for launch in launches]
        until(lambda: all(has_rows(job.launch.warehouse) for job in jobs), f"rows in both tables {TABLE_LIVE_ORDERS}")
        windows = [_measure_window(*jobs) for _ in range(WARM_UP_WINDOWS + rounds)][WARM_UP_WINDOWS:]
    _add_windows(figures, windows)


def _measure_window(*jobs: RunningJob) -> tuple[Usage, ...]:
    """Measure the CPU time of each job's processes in one window."""
    before = [job.cpu_seconds() for job in jobs]
    threading.Event().wait(WINDOW_SECONDS)
    after = [job.cpu_seconds() for job in jobs]
    scale = 60_000 / WINDOW_SECONDS
    return tuple(
        {name: (now[name] - then[name]) * scale for name in now} for now, then in zip(after, before, strict=True)
    )


def _add_windows(figures: Figures, windows: list[tuple[Usage, ...]]) -> None:
    for on, off in windows:
        for way, usage in (("lineage on", on), ("lineage off", off)):
            for name, milliseconds in usage.items():
                figures.add(f"idle job, {way}: CPU of {name} per minute", "ms", milliseconds)
    if len(windows) > 1:
        added = paired_difference([(sum(on.values()), sum(off.values())) for on, off in windows])
        figures.remark(f"idle job: CPU milliseconds per minute that lineage adds: {added}")
