# SPDX-License-Identifier: Apache-2.0
"""Cost of the lineage transform per record, measured by JMH.

Reports the CPU time of the benchmark's thread: JMH's own score is wall-clock time, which depends on the load of the
machine.
"""

import json
import statistics
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from infra.targets.local.log_files import log_tail
from infra.toolchain import Artifacts
from tests.bench.figures import Figures, Goal
from tests.connect.plugins import benchmark

COST_ABOVE_NO_OP = Goal(10)
ALLOCATION = Goal(0)
LINEAGE = "lineage"
NO_OP = "nothing"

Result = dict[str, Any]
"""Result of one benchmark in JMH's JSON report."""


@dataclass(frozen=True)
class Iteration:
    """Counters of the benchmark's thread in one iteration of about a second, including JMH's own work."""

    records: float
    cpu_nanos: float
    allocated_bytes: float


def measure(figures: Figures, folder: Path, rounds: int) -> None:
    """Run every benchmark once per round, each in a separate JVM.

    Raises:
        CalledProcessError: the Maven build failed.
        RuntimeError: JMH or a benchmark failed; the message has the end of its output.
    """
    jars = benchmark()
    for number in range(rounds):
        _add_round(figures, _run(jars, folder / f"jmh-{number}.json"))


def _run(jars: Path, report: Path) -> list[Result]:
    # JMH's lock file is in this folder: concurrent runs are fine, as CPU time per thread is measured.
    java = [str(Artifacts.open().java()), f"-Djava.io.tmpdir={report.parent}"]
    words = [*java, "-cp", f"{jars}/*", "org.openjdk.jmh.Main", "-foe", "true", "-rf", "json", "-rff", str(report)]
    log = report.with_suffix(".log")
    with log.open("w") as output:
        status = subprocess.run(words, check=False, cwd=report.parent, stdout=output, stderr=output).returncode
    if status != 0:
        raise RuntimeError(f"JMH on {jars} failed with exit status {status}. End of its output:\n{log_tail(log)}")
    results: list[Result] = json.loads(report.read_text())
    return results


def _add_round(figures: Figures, results: Sequence[Result]) -> None:
    found = {_key(result): iterations(result["secondaryMetrics"]) for result in results}
    for (name, traffic, service), lineage in found.items():
        if name == LINEAGE:
            where = f"JMH, {traffic.lower().replace('_', ' ')}, service {service.lower()}"
            _add(figures, where, lineage, found[NO_OP, traffic, service])


def _add(figures: Figures, where: str, lineage: Sequence[Iteration], no_op: Sequence[Iteration]) -> None:
    lineage_nanos, no_op_nanos = nanos_per_record(lineage), nanos_per_record(no_op)
    figures.add(f"{where}: no-op transform", "ns/record", no_op_nanos)
    figures.add(f"{where}: lineage transform above no-op", "ns/record", lineage_nanos - no_op_nanos, COST_ABOVE_NO_OP)
    figures.add(f"{where}: allocated by lineage transform", "B/record", bytes_per_record(lineage, no_op), ALLOCATION)


def nanos_per_record(iterations: Sequence[Iteration]) -> float:
    """Return CPU nanoseconds per record of the median iteration."""
    return statistics.median(each.cpu_nanos / each.records for each in iterations)


def bytes_per_record(measured: Sequence[Iteration], no_op: Sequence[Iteration]) -> float:
    """Return the bytes per record allocated in the median iteration, minus those of the no-op transform (JMH's own)."""
    own, of_harness = (statistics.median(each.allocated_bytes for each in them) for them in (measured, no_op))
    return (own - of_harness) / statistics.median(each.records for each in measured)


def iterations(metrics: Mapping[str, Result]) -> list[Iteration]:
    """Return the counters of `TransformBenchmark.ThreadUsage` by iteration."""
    counters = ("records", "cpuNanos", "allocatedBytes")
    series = ([value for fork in metrics[counter]["rawData"] for value in fork] for counter in counters)
    return [Iteration(*values) for values in zip(*series, strict=True)]


def _key(result: Result) -> tuple[str, str, str]:
    return result["benchmark"].rpartition(".")[2], result["params"]["traffic"], result["params"]["service"]
