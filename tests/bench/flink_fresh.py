# SPDX-License-Identifier: Apache-2.0
"""A fresh cluster: its memory, and the time from a job's launch to the first row that the lake shows."""

import time
from pathlib import Path

from infra.namespaces import TABLE_LIVE_ORDERS
from tests.bench.figures import Figures, Goal
from tests.bench.flink_cost import full_topic
from tests.bench.flink_job import Launch
from tests.bench.flink_place import JVMS, prepared_cluster
from tests.bench.spark_place import rows, table_in
from tests.flink.launched import until

MEMORY = Goal(900)
ORDERS = 10_000


def measure(figures: Figures, folder: Path, rounds: int) -> None:
    """So many clusters, one after another, and two launches of the job on each."""
    with full_topic(folder, ORDERS) as stream:
        for number in range(rounds):
            place = stream.place(f"cluster-{number}")
            began = time.monotonic()
            with prepared_cluster(place) as cluster:
                cluster.start(*JVMS, lineage=True)
                figures.add("a fresh cluster of three JVMs: start", "s", time.monotonic() - began)
                figures.add("a fresh cluster of three JVMs: PSS", "MiB", cluster.pss_mib(), MEMORY)
                for which in ("first", "second"):
                    launch = Launch(cluster, place.folder / which, bounded=False, lineage=True)
                    figures.add(f"launch to first row in the lake, {which} job of a cluster", "s", first_row(launch))
                figures.add("the cluster after two jobs: PSS", "MiB", cluster.pss_mib())


def first_row(launch: Launch) -> float:
    """Seconds from the launcher's start to the commit of the first row. A checkpoint's interval is part of them."""
    began = time.time()
    with launch.running():
        until(lambda: has_rows(launch.warehouse), f"a row in {TABLE_LIVE_ORDERS}")
        history = table_in(launch.warehouse, TABLE_LIVE_ORDERS).metadata.snapshots
    first = min(shot.timestamp_ms for shot in history if shot.summary and shot.summary["total-records"] != "0")
    return first / 1000 - began


def has_rows(warehouse: Path) -> bool:
    """Whether the table is there, and not empty."""
    hint = warehouse / TABLE_LIVE_ORDERS.replace(".", "/") / "metadata" / "version-hint.text"
    return hint.exists() and rows(warehouse, TABLE_LIVE_ORDERS) > 0
