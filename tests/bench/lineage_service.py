# SPDX-License-Identifier: Apache-2.0
"""The figures of the lineage service, measured from outside: real processes on loopback, a real log on the disk.

Run by `make bench`; alone by `bin/lab bench --only lineage`.
"""

import argparse
import os
import tempfile
import time
from pathlib import Path

from tests.bench import lineage_fold, lineage_ingest, lineage_reads
from tests.bench.figures import Figures, Goal, quantile, shown, tell
from tests.bench.lineage_reads import LargeGraph
from tests.bench.marquez_beside import beside

LARGE = LargeGraph(100_000, columns=5, p99_ms=Goal(20))
HUGE = LargeGraph(1_000_000, columns=1, p99_ms=Goal(200))
"""Of narrow tables, so that it fits beside others into the memory of a small machine."""


def commit_ms(folder: Path) -> float:
    """Median milliseconds of writing 4 KiB and having it on the disk: what no accepted event can go below."""
    times = []
    with (folder / "commit").open("wb", buffering=0) as file:
        for _ in range(200):
            began = time.monotonic()
            file.write(b"x" * 4096)
            os.fdatasync(file.fileno())
            times.append((time.monotonic() - began) * 1e3)
    return quantile(times, 0.5)


def measure(figures: Figures, folder: Path, rounds: int, huge: bool) -> None:
    """All parts; ours and Marquez's rounds take turns."""
    figures.add("commit of 4 KiB to this disk", "ms", commit_ms(folder))
    with beside(figures, folder) as marquez_round:
        for number in range(rounds):
            lineage_fold.one_round(figures)
            with tempfile.TemporaryDirectory(dir=folder) as place:
                lineage_ingest.one_round(figures, Path(place))
            marquez_round(number)
    for graph in (LARGE, HUGE) if huge else (LARGE,):
        lineage_reads.measure(figures, folder, graph, rounds)


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="repetitions of each figure")
    parser.add_argument("--huge", action="store_true", help="a graph of 1,000,000 nodes too (minutes, several GB)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every value to this file too")
    parser.add_argument("--data", type=Path, help="folder on the disk to measure (default: the temporary one)")
    given = parser.parse_args()
    figures = Figures()
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="lineage-lab-bench-", dir=given.data) as folder:
        measure(figures, Path(folder), given.rounds, given.huge)
    after = os.getloadavg()[0]
    heading = f"{os.cpu_count()} CPUs, load {shown(load)} before and {shown(after)} after"
    tell(figures, given.json, f"{heading}, medians of {given.rounds} rounds")


if __name__ == "__main__":
    main()
