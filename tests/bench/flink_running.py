# SPDX-License-Identifier: Apache-2.0
"""What lineage takes while a job runs on: CPU time in a minute in which no row comes, with lineage and without.

Two clusters run the job at once. A minute has two intervals of both who speak, the listener and the launcher.
"""

import subprocess
import threading
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import psutil

from infra.namespaces import TABLE_LIVE_ORDERS
from infra.services.flink.settings import GATEWAY, JOBMANAGER
from tests.bench.figures import Figures
from tests.bench.flink_cost import at_once, full_topic
from tests.bench.flink_fresh import has_rows
from tests.bench.flink_job import Launch
from tests.bench.flink_place import JVMS, prepared_cluster
from tests.bench.spark_intervals import paired_difference
from tests.flink.launched import until

ORDERS = 1_000
WINDOW_SECONDS = 60
SETTLING = 1
"""Windows that are not told: the first one still has what a start leaves to do."""


@dataclass(frozen=True)
class Resident:
    """A job that runs on."""

    launch: Launch
    process: "subprocess.Popen[bytes]"

    def cpu_seconds(self) -> dict[str, float]:
        """User and system time so far of all that speaks, or would speak, of the job."""
        jvms = self.launch.cluster.cpu_seconds()
        taken = psutil.Process(self.process.pid).cpu_times()
        return {
            "JobManager": jvms[JOBMANAGER],
            "gateway": jvms[GATEWAY],
            "launcher": taken.user + taken.system,
        }


def measure(figures: Figures, folder: Path, rounds: int) -> None:
    """So many windows, after one that settles it."""
    with full_topic(folder, ORDERS) as stream, ExitStack() as started:
        clusters = [started.enter_context(prepared_cluster(stream.place(name))) for name in ("on", "off")]
        on, off = clusters
        at_once(lambda: on.start(*JVMS, lineage=True), lambda: off.start(*JVMS, lineage=False))
        launches = (
            Launch(cluster, cluster.place.folder / "job", bounded=False, lineage=cluster is on) for cluster in clusters
        )
        both = [Resident(launch, started.enter_context(launch.running())) for launch in launches]
        until(lambda: all(has_rows(each.launch.warehouse) for each in both), f"rows in {TABLE_LIVE_ORDERS} of both")
        windows = [_window(*both) for _ in range(SETTLING + rounds)][SETTLING:]
    _tell(figures, windows)


def _window(*jobs: Resident) -> tuple[dict[str, float], ...]:
    """What each job's processes take in one window, in milliseconds of CPU time a minute."""
    before = [job.cpu_seconds() for job in jobs]
    threading.Event().wait(WINDOW_SECONDS)
    after = [job.cpu_seconds() for job in jobs]
    a_minute = 60_000 / WINDOW_SECONDS
    return tuple(
        {name: (now[name] - then[name]) * a_minute for name in now} for now, then in zip(after, before, strict=True)
    )


def _tell(figures: Figures, windows: list[tuple[dict[str, float], ...]]) -> None:
    for on, off in windows:
        for way, taken in (("lineage on", on), ("lineage off", off)):
            for name, milliseconds in taken.items():
                figures.add(f"a job without rows, {way}: CPU of {name} in a minute", "ms", milliseconds)
    if len(windows) > 1:
        more = paired_difference([(sum(on.values()), sum(off.values())) for on, off in windows])
        figures.remark(f"a job without rows: lineage takes {more} ms of CPU time in a minute")
