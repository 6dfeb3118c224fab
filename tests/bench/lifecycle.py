# SPDX-License-Identifier: Apache-2.0
"""The figures of the README: how long a lab takes to stand up, to look twice, to go, and what memory it takes.

Run by `make bench`. Everything is measured from outside, through the command that a user types.
"""

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.table import Table

from infra.cli.stack import Stack
from infra.project import PROJECT
from infra.toolchain import Artifacts
from tests.stack_files import BENCH, stack_file


@dataclass
class Figures:
    """Every measurement by what it measures, in the order in which it was first taken."""

    seconds: dict[str, list[float]] = field(default_factory=dict)
    cpu_seconds: dict[str, list[float]] = field(default_factory=dict)
    mib: dict[str, list[float]] = field(default_factory=dict)

    def timed(self, what: str, words: tuple[str, ...], environment: dict[str, str]) -> None:
        """Runs a command, which must succeed, and keeps its wall time and the CPU time of what it waited for."""
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        done = subprocess.run(
            words, cwd=PROJECT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(words)} failed:\n{done.stdout}")
        self.seconds.setdefault(what, []).append(time.monotonic() - began)
        cpu = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
        self.cpu_seconds.setdefault(what, []).append(cpu)


def lab(stack: str, *words: str) -> tuple[str, ...]:
    """The command line of `bin/lab` on a stack."""
    return (str(PROJECT / "bin" / "lab"), *words, "--stack", stack)


def pulumi_up(stack: str, *words: str) -> tuple[str, ...]:
    """The command line of a plain update of a stack."""
    flags = ("--yes", "--skip-preview", "--suppress-outputs", "--non-interactive")
    return ("pulumi", "up", *flags, *words, "--stack", stack)


def clean_environment(**more: str) -> dict[str, str]:
    """The environment as a user's shell has it."""
    ours = {"PYTHONPATH", "LINEAGE_LAB_STACK"}
    return {name: value for name, value in os.environ.items() if name not in ours} | more


def one_round(figures: Figures, stack: str) -> None:
    """A lab from nothing to nothing, on a warm cache."""
    environment = clean_environment()
    reset(stack)
    figures.timed("up to verified graph, warm", lab(stack, "up"), environment)
    figures.timed("pulumi up, unchanged", pulumi_up(stack), environment)
    figures.timed("pulumi up --refresh, unchanged", pulumi_up(stack, "--refresh"), environment)
    figures.timed("lab up again", lab(stack, "up"), environment)
    for name, mib in Stack(stack, Artifacts.open()).runtime.memory().items():
        figures.mib.setdefault(name, []).append(mib)
    figures.timed("down", lab(stack, "down"), environment)


def reset(stack: str, **more: str) -> None:
    """Removes what an earlier round may have left."""
    environment = clean_environment(**more)
    subprocess.run(lab(stack, "reset"), cwd=PROJECT, env=environment, check=True, stdout=subprocess.DEVNULL)


def cold_round(figures: Figures) -> None:
    """A lab on an empty cache, which is removed afterwards."""
    cache = Path(tempfile.mkdtemp(prefix="lineage-lab-bench-"))
    environment = clean_environment(LINEAGE_LAB_CACHE=str(cache))
    try:
        figures.timed("up to verified graph, cold", lab(BENCH, "up"), environment)
        figures.timed("down", lab(BENCH, "down"), environment)
        size = sum(path.lstat().st_size for path in cache.rglob("*"))
        figures.mib.setdefault("(cache on disk)", []).append(size / 2**20)
    finally:
        reset(BENCH, LINEAGE_LAB_CACHE=str(cache))
        shutil.rmtree(cache)


def shown(figures: Figures) -> Table:
    """Medians with their spread."""
    table = Table(box=None, pad_edge=False)
    for heading in ("figure", "median", "lowest", "highest", "CPU s", "n"):
        table.add_column(heading, justify="left" if heading == "figure" else "right")
    for what, values in figures.seconds.items():
        cpu = statistics.median(figures.cpu_seconds[what])
        table.add_row(f"{what}, s", *_spread(values, 1), f"{cpu:.1f}", str(len(values)))
    for what, values in figures.mib.items():
        table.add_row(f"{what}, MiB", *_spread(values, 0), "", str(len(values)))
    services = [values for what, values in figures.mib.items() if not what.startswith("(")]
    totals = [sum(each) for each in zip(*services, strict=True)]
    table.add_row("all services, MiB (sum)", *_spread(totals, 0), "", str(len(totals)))
    return table


def _spread(values: list[float], digits: int) -> tuple[str, str, str]:
    return tuple(f"{value:.{digits}f}" for value in (statistics.median(values), min(values), max(values)))


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3, help="labs on a warm cache")
    parser.add_argument("--no-cold", action="store_true", help="leave out the lab on an empty cache")
    parser.add_argument("--stack", default=BENCH, help="another stack than the local one; never cold")
    given = parser.parse_args()
    figures = Figures()
    with stack_file(given.stack):
        try:
            for _ in range(given.rounds):
                one_round(figures, given.stack)
        finally:
            reset(given.stack)
        if not given.no_cold and given.stack == BENCH:
            cold_round(figures)
    console = Console(width=120)
    console.print(f"{os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f} at the end")
    console.print(shown(figures))


if __name__ == "__main__":
    main()
