# SPDX-License-Identifier: Apache-2.0
"""The figures of Flink: what lineage costs, what a fresh cluster takes, and when its first row is in the lake.

Run by `make bench`; alone by `bin/lab bench --only flink`.
"""

import argparse
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from rich.console import Console

from tests.bench import flink_cost, flink_fresh, flink_running
from tests.bench.figures import Figures, shown

Part = Callable[[Figures, Path, int], None]
PARTS: Mapping[str, tuple[Part, int]] = {
    "fresh": (flink_fresh.measure, 3),
    "cost": (flink_cost.measure, 7),
    "running": (flink_running.measure, 3),
}
"""What is measured, and how many rounds of it unless told otherwise."""


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=PARTS, help="measure this part alone")
    parser.add_argument("--rounds", type=int, help="repetitions of each part")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every value to this file too")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what was started is ended
    figures = Figures()
    try:
        for name in [given.only] if given.only else PARTS:
            measure, rounds = PARTS[name]
            figures.remark(f"{name}: load {shown(os.getloadavg()[0])} at its start")
            with tempfile.TemporaryDirectory(prefix="lineage-lab-bench-") as folder:
                measure(figures, Path(folder), given.rounds or rounds)
            figures.remark(f"{name}: load {shown(os.getloadavg()[0])} at its end")
    finally:  # parts take minutes each: what was measured before one failed is told
        _tell(figures, given.json)


def _tell(figures: Figures, file: Path | None) -> None:
    console = Console(width=140, highlight=False)
    console.print(f"{os.cpu_count()} CPUs")
    console.print(figures.table())
    for remark in figures.remarks:
        console.print(remark, markup=False)
    if file:
        file.write_text(figures.render_json(), encoding="utf-8")


if __name__ == "__main__":
    main()
