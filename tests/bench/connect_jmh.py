# SPDX-License-Identifier: Apache-2.0
"""One record through the lineage transform and nothing else, measured by JMH.

Told is the processor time of the thread that brings the records. JMH's own score is by the clock, and on a machine
that does more than this it tells how many others there are.
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

OVER_NOTHING = Goal(10)
ALLOCATED = Goal(0)
LINEAGE = "lineage"
NOTHING = "nothing"

Result = dict[str, Any]
"""As JMH writes it."""


@dataclass(frozen=True)
class Iteration:
    """What the benchmark's thread used in a second or so, JMH's own work included."""

    records: float
    cpu_nanos: float
    allocated_bytes: float


def measure(figures: Figures, folder: Path, rounds: int) -> None:
    """Every benchmark of the module once a round, each in a JVM of its own.

    Raises:
        CalledProcessError: Maven failed; it has printed why.
        RuntimeError: JMH, or a benchmark, failed; the text has the end of what it printed.
    """
    jars = benchmark()
    for number in range(rounds):
        _add_round(figures, _run(jars, folder / f"jmh-{number}.json"))


def _run(jars: Path, report: Path) -> list[Result]:
    # Where JMH keeps a lock against a second one: by the processor time of a thread, two can measure at once.
    java = [str(Artifacts.open().java()), f"-Djava.io.tmpdir={report.parent}"]
    words = [*java, "-cp", f"{jars}/*", "org.openjdk.jmh.Main", "-foe", "true", "-rf", "json", "-rff", str(report)]
    log = report.with_suffix(".log")
    with log.open("w") as output:
        status = subprocess.run(words, check=False, cwd=report.parent, stdout=output, stderr=output).returncode
    if status != 0:
        raise RuntimeError(f"JMH on {jars} failed ({status}). The end of what it printed:\n{log_tail(log)}")
    results: list[Result] = json.loads(report.read_text())
    return results


def _add_round(figures: Figures, results: Sequence[Result]) -> None:
    found = {_key(result): iterations(result["secondaryMetrics"]) for result in results}
    for (name, traffic, service), lineage in found.items():
        if name == LINEAGE:
            where = f"JMH, {traffic.lower().replace('_', ' ')}, service {service.lower()}"
            _add(figures, where, lineage, found[NOTHING, traffic, service])


def _add(figures: Figures, where: str, lineage: Sequence[Iteration], nothing: Sequence[Iteration]) -> None:
    with_it, without = nanos_of_record(lineage), nanos_of_record(nothing)
    figures.add(f"{where}: a transform that does nothing", "ns/record", without)
    figures.add(f"{where}: lineage over it", "ns/record", with_it - without, OVER_NOTHING)
    figures.add(f"{where}: lineage allocates", "B/record", bytes_of_record(lineage, nothing), ALLOCATED)


def nanos_of_record(iterations: Sequence[Iteration]) -> float:
    """Of the median iteration."""
    return statistics.median(each.cpu_nanos / each.records for each in iterations)


def bytes_of_record(measured: Sequence[Iteration], nothing: Sequence[Iteration]) -> float:
    """What the median iteration allocates over the one that does nothing: JMH's own objects are in both."""
    own, of_harness = (statistics.median(each.allocated_bytes for each in them) for them in (measured, nothing))
    return (own - of_harness) / statistics.median(each.records for each in measured)


def iterations(metrics: Mapping[str, Result]) -> list[Iteration]:
    """The counters of `TransformBenchmark.Used`, iteration by iteration."""
    counters = ("records", "cpuNanos", "allocatedBytes")
    series = ([value for fork in metrics[counter]["rawData"] for value in fork] for counter in counters)
    return [Iteration(*values) for values in zip(*series, strict=True)]


def _key(result: Result) -> tuple[str, str, str]:
    return result["benchmark"].rpartition(".")[2], result["params"]["traffic"], result["params"]["service"]
