# SPDX-License-Identifier: Apache-2.0
"""Start of a new Flink cluster: its time, its memory, and the time from a job's launch to its first committed row."""

import time
from pathlib import Path

from infra.namespaces import TABLE_LIVE_ORDERS, TOPIC_ORDERS
from tests.bench.figures import Figures, Goal
from tests.bench.flink_cluster import JVMS, managed_cluster
from tests.bench.flink_job import JobLaunch
from tests.bench.partial_lab import count_rows, read_table
from tests.bench.stream_services import stream_services
from tests.flink.launched import until

MEMORY = Goal(900)
ORDERS = 10_000


def measure(figures: Figures, folder: Path, rounds: int) -> None:
    """Start `rounds` clusters one after another and launch the job twice on each."""
    with stream_services(folder, {TOPIC_ORDERS: ORDERS}) as services:
        for number in range(rounds):
            lab = services.partial_lab(f"cluster-{number}")
            began = time.monotonic()
            with managed_cluster(lab) as cluster:
                cluster.start(*JVMS, lineage=True)
                figures.add("new cluster of three JVMs: start", "s", time.monotonic() - began)
                figures.add("new cluster of three JVMs: PSS", "MiB", cluster.pss_mib(), MEMORY)
                for which in ("first", "second"):
                    launch = JobLaunch(cluster, lab.folder / which, bounded=False, lineage=True)
                    seconds = seconds_to_first_row(launch)
                    figures.add(f"launch to first committed row, {which} job of a cluster", "s", seconds)
                figures.add("cluster after two jobs: PSS", "MiB", cluster.pss_mib())


def seconds_to_first_row(launch: JobLaunch) -> float:
    """Return the seconds from the launcher's start to the commit of the first row, including a checkpoint interval."""
    began = time.time()
    with launch.running():
        until(lambda: has_rows(launch.warehouse), f"a row in {TABLE_LIVE_ORDERS}")
        snapshots = read_table(launch.warehouse, TABLE_LIVE_ORDERS).metadata.snapshots
    with_rows = (snapshot for snapshot in snapshots if snapshot.summary and snapshot.summary["total-records"] != "0")
    return min(snapshot.timestamp_ms for snapshot in with_rows) / 1000 - began


def has_rows(warehouse: Path) -> bool:
    """Return True if the job's table exists and is not empty."""
    hint = warehouse / TABLE_LIVE_ORDERS.replace(".", "/") / "metadata" / "version-hint.text"
    return hint.exists() and count_rows(warehouse, TABLE_LIVE_ORDERS) > 0
