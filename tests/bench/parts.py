# SPDX-License-Identifier: Apache-2.0
"""A benchmark of several parts, each of which can be measured alone."""

import argparse
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from tests.bench.figures import Figures, shown, tell

Part = Callable[[Figures, Path, int], None]
"""Measures so many rounds, in a folder of its own."""


def run(description: str | None, parts: Mapping[str, tuple[Part, int]]) -> None:
    """Measures what the command line asks for, and prints it.

    Args:
        description: of the benchmark, for its help.
        parts: what is measured, and how many rounds of it unless told otherwise.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--only", choices=parts, help="measure this part alone")
    parser.add_argument("--rounds", type=int, help="repetitions of each part")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every value to this file too")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what was started is ended
    figures = Figures()
    try:
        for name in [given.only] if given.only else parts:
            measure, rounds = parts[name]
            figures.remark(f"{name}: load {shown(os.getloadavg()[0])} at its start")
            with tempfile.TemporaryDirectory(prefix="lineage-lab-bench-") as folder:
                measure(figures, Path(folder), given.rounds or rounds)
            figures.remark(f"{name}: load {shown(os.getloadavg()[0])} at its end")
    finally:  # parts take minutes each: what was measured before one failed is told
        tell(figures, given.json, f"{os.cpu_count()} CPUs")
