# SPDX-License-Identifier: Apache-2.0
"""One record through the lineage transform and nothing else, measured by JMH."""

import json
import subprocess
from pathlib import Path
from typing import Any

from infra.artifacts import Artifacts
from tests.bench.figures import Figures, Goal
from tests.connect.plugins import benchmark

OVER_NOTHING = Goal(10)
ALLOCATED = Goal(0.01)
"""Bytes a record. The smallest object has 16; what shows here is of other threads, JMH's own among them."""

STEADY = "ONE_TOPIC"
"""Records come in batches of one partition. That each is of another topic than the one before is the worst case."""

ALLOCATION = "gc.alloc.rate.norm"

Result = dict[str, Any]
"""As JMH writes it."""


def measure(figures: Figures, folder: Path) -> None:
    """Every benchmark of the module, several forks each."""
    report = folder / "jmh.json"
    class_path = f"{benchmark()}/*"
    words = [str(Artifacts.open().java()), "-cp", class_path, "org.openjdk.jmh.Main", "-prof", "gc"]
    subprocess.run([*words, "-rf", "json", "-rff", str(report)], check=True, cwd=folder)
    results = {_key(result): result for result in json.loads(report.read_text())}
    for (name, traffic, service), result in results.items():
        if name == "lineage":
            where = f"apply, {traffic.lower().replace('_', ' ')}, service {service.lower()}"
            nothing = results["nothing", traffic, service]
            _add(figures, where, result, nothing, OVER_NOTHING if traffic == STEADY else None)


def _add(figures: Figures, where: str, lineage: Result, nothing: Result, goal: Goal | None) -> None:
    with_it, without = lineage["primaryMetric"], nothing["primaryMetric"]
    figures.add(f"{where}: lineage", "ns", with_it["score"])
    figures.add(f"{where}: a transform that does nothing", "ns", without["score"])
    figures.add(f"{where}: lineage over it", "ns", with_it["score"] - without["score"], goal)
    figures.add(f"{where}: lineage allocates", "B", lineage["secondaryMetrics"][ALLOCATION]["score"], ALLOCATED)
    error = with_it["scoreError"] + without["scoreError"]
    figures.remark(f"{where}: JMH's 99.9 % error of the difference is at most {error:.2f} ns")


def _key(result: Result) -> tuple[str, str, str]:
    return result["benchmark"].rpartition(".")[2], result["params"]["traffic"], result["params"]["service"]
