# SPDX-License-Identifier: Apache-2.0
"""Benchmark of a lab's lifecycle: time to start, to start again unchanged, and to stop; memory of its services.

Run by `make bench`; alone by `bin/lab bench --only lifecycle`. Measured from outside, through the commands that a user
runs.
"""

import argparse
import os
import resource
import shutil
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from infra.cli.stack import Stack
from infra.project import PROJECT
from infra.toolchain import Artifacts
from tests.bench.figures import Figures, format_number, print_figures
from tests.stack_files import BENCH, stack_file

OWN_VARIABLES = {"PYTHONPATH", "LINEAGE_LAB_STACK"}


def lab_command(stack: str, *words: str) -> tuple[str, ...]:
    """Return a command line of `bin/lab` on a stack."""
    return (str(PROJECT / "bin" / "lab"), *words, "--stack", stack)


def pulumi_up_command(stack: str, *words: str) -> tuple[str, ...]:
    """Return the command line of a plain `pulumi up` of a stack."""
    flags = ("--yes", "--skip-preview", "--suppress-outputs", "--non-interactive")
    return ("pulumi", "up", *flags, *words, "--stack", stack)


def user_environment(**more: str) -> dict[str, str]:
    """Return the environment of a user's shell, without the variables of this benchmark."""
    return {name: value for name, value in os.environ.items() if name not in OWN_VARIABLES} | more


def measure_command(figures: Figures, name: str, words: Sequence[str], environment: Mapping[str, str]) -> None:
    """Run a command and add its wall time, and the CPU time of the processes that it waited for.

    Raises:
        SystemExit: the command failed; the message has its output.
    """
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(
        words, cwd=PROJECT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    seconds, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(words)} failed with exit status {done.returncode}:\n{done.stdout}")
    figures.add(name, "s", seconds)
    figures.add(f"{name}: CPU", "s", after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)


def measure_round(figures: Figures, stack: str) -> None:
    """Start and stop a lab on a warm cache."""
    environment = user_environment()
    reset_stack(stack)
    measure_command(figures, "up to verified graph, warm", lab_command(stack, "up"), environment)
    measure_command(figures, "pulumi up, unchanged", pulumi_up_command(stack), environment)
    measure_command(figures, "pulumi up --refresh, unchanged", pulumi_up_command(stack, "--refresh"), environment)
    measure_command(figures, "lab up again", lab_command(stack, "up"), environment)
    memory = Stack(stack, Artifacts.open()).runtime.memory()
    for name, mib in memory.items():
        figures.add(f"memory of {name}", "MiB", mib)
    figures.add("memory of all services (sum)", "MiB", sum(memory.values()))
    measure_command(figures, "down", lab_command(stack, "down"), environment)


def reset_stack(stack: str, **more: str) -> None:
    """Remove the remains of an earlier round."""
    environment = user_environment(**more)
    subprocess.run(lab_command(stack, "reset"), cwd=PROJECT, env=environment, check=True, stdout=subprocess.DEVNULL)


def measure_cold_round(figures: Figures) -> None:
    """Start and stop a lab on an empty cache, which is removed afterwards."""
    cache = Path(tempfile.mkdtemp(prefix="lineage-lab-bench-"))
    environment = user_environment(LINEAGE_LAB_CACHE=str(cache))
    try:
        measure_command(figures, "up to verified graph, cold", lab_command(BENCH, "up"), environment)
        measure_command(figures, "down", lab_command(BENCH, "down"), environment)
        size = sum(path.lstat().st_size for path in cache.rglob("*"))
        figures.add("size of the cache on disk", "MiB", size / 2**20)
    finally:
        reset_stack(BENCH, LINEAGE_LAB_CACHE=str(cache))
        shutil.rmtree(cache)


def main() -> None:
    """Run the benchmark and print its figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3, help="labs on a warm cache")
    parser.add_argument("--no-cold", action="store_true", help="skip the lab on an empty cache")
    parser.add_argument("--stack", default=BENCH, help="another stack than the local one; never on an empty cache")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every value to this file too")
    given = parser.parse_args()
    figures = Figures()
    with stack_file(given.stack):
        try:
            for _ in range(given.rounds):
                measure_round(figures, given.stack)
        finally:
            reset_stack(given.stack)
        if not given.no_cold and given.stack == BENCH:
            measure_cold_round(figures)
    print_figures(figures, given.json, f"{os.cpu_count()} CPUs, load {format_number(os.getloadavg()[0])} at the end")


if __name__ == "__main__":
    main()
