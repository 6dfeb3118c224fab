# SPDX-License-Identifier: Apache-2.0
"""Command line of a benchmark with several parts that can be measured alone."""

import argparse
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from tests.bench.figures import Figures, format_number, print_figures


class Part(NamedTuple):
    """Part of a benchmark: `measure` adds the figures of a number of rounds and may use the folder.

    `only_if_named` is a part that takes too long for every run of the benchmark.
    """

    measure: Callable[[Figures, Path, int], None]
    default_rounds: int
    only_if_named: bool = False


def run_parts(description: str | None, parts: Mapping[str, Part]) -> None:
    """Parse the command line, measure the selected parts, and print their figures.

    Args:
        description: of the benchmark, for `--help`.
        parts: by the name that `--only` accepts.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--only", choices=parts, help="measure this part alone")
    parser.add_argument("--rounds", type=int, help="repetitions of each part")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every value to this file too")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # run the finally blocks that stop processes
    figures = Figures()
    try:
        for name in [given.only] if given.only else [name for name, part in parts.items() if not part.only_if_named]:
            part = parts[name]
            figures.remark(f"{name}: load {format_number(os.getloadavg()[0])} at its start")
            with tempfile.TemporaryDirectory(prefix="lineage-lab-bench-") as folder:
                part.measure(figures, Path(folder), given.rounds or part.default_rounds)
            figures.remark(f"{name}: load {format_number(os.getloadavg()[0])} at its end")
    finally:  # a failed part must not discard the figures of earlier ones, which take minutes each
        print_figures(figures, given.json, f"{os.cpu_count()} CPUs")
