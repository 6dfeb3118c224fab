# SPDX-License-Identifier: Apache-2.0
"""Benchmark of the lineage service, measured from outside: real processes on loopback, the log on a real disk.

Run by `make bench`; alone by `bin/lab bench --only lineage`.
"""

import argparse
import os
import tempfile
import time
from pathlib import Path

from tests.bench import (
    lineage_abuse,
    lineage_functions,
    lineage_history,
    lineage_ingest,
    lineage_postgres,
    lineage_reads,
)
from tests.bench.figures import Figures, Goal, format_number, print_figures, quantile
from tests.bench.lineage_reads import LargeGraph
from tests.bench.marquez_comparison import marquez_rounds

LARGE = LargeGraph(100_000, columns=5, p99_ms=Goal(20))
HUGE = LargeGraph(1_000_000, columns=1, p99_ms=Goal(200))
"""One column per table, so that it fits into the memory of a small machine."""


def commit_ms(folder: Path) -> float:
    """Return the median milliseconds of a durable write of 4 KiB: the lower bound of an event's latency."""
    times = []
    with (folder / "commit").open("wb", buffering=0) as file:
        for _ in range(200):
            began = time.monotonic()
            file.write(b"x" * 4096)
            os.fdatasync(file.fileno())
            times.append((time.monotonic() - began) * 1e3)
    return quantile(times, 0.5)


def measure(figures: Figures, folder: Path, rounds: int, huge: bool) -> None:
    """Measure all parts; rounds of the lineage service and of Marquez alternate."""
    figures.add("commit of 4 KiB to this disk", "ms", commit_ms(folder))
    with marquez_rounds(figures, folder) as measure_marquez_round:
        for number in range(rounds):
            lineage_functions.measure_round(figures)
            with tempfile.TemporaryDirectory(dir=folder) as place:
                lineage_ingest.measure_round(figures, Path(place))
            measure_marquez_round(number)
    lineage_history.measure(figures, folder, lineage_history.SHORT)
    lineage_abuse.measure(figures, folder, 1)
    lineage_postgres.measure(figures, folder / "postgres", rounds)
    for graph in (LARGE, HUGE) if huge else (LARGE,):
        lineage_reads.measure(figures, folder, graph, rounds)


def main() -> None:
    """Run the benchmark and print its figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="repetitions of each figure")
    parser.add_argument(
        "--huge", action="store_true", help="measure a graph of 1,000,000 nodes too (minutes, several GB)"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every value to this file too")
    parser.add_argument("--data", type=Path, help="folder on the disk to measure (default: the temporary one)")
    given = parser.parse_args()
    figures = Figures()
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="lineage-lab-bench-", dir=given.data) as folder:
        measure(figures, Path(folder), given.rounds, given.huge)
    after = os.getloadavg()[0]
    heading = f"{os.cpu_count()} CPUs, load {format_number(load)} before and {format_number(after)} after"
    print_figures(figures, given.json, f"{heading}, medians of {given.rounds} rounds")


if __name__ == "__main__":
    main()
