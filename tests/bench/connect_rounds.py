# SPDX-License-Identifier: Apache-2.0
"""Transforms in parallel in a real worker: Avro records through the lab's converter into a no-op sink.

Each round runs all variants concurrently, created in random order; each ratio is computed within one round. The no-op
transform runs twice: its ratio to itself is the measurement error.
"""

import random
from collections.abc import Sequence
from pathlib import Path

from tests.bench.confidence_intervals import paired_ratio
from tests.bench.connect_worker import RECORDS, RoundResult, bench_worker
from tests.bench.figures import Figures, Goal
from tests.connect.worker import TRANSFORM

NO_OP = "no-op"
AGAIN = "no-op again"
LINEAGE = "lineage"
DEBEZIUM = "Debezium's OpenLineage"
TRANSFORMS = {
    NO_OP: "dev.lineagelab.testing.NoOpTransform",
    AGAIN: "dev.lineagelab.testing.NoOpTransform",
    LINEAGE: TRANSFORM,
    DEBEZIUM: "io.debezium.transforms.openlineage.OpenLineage",
}
"""Class of each transform. Debezium's emits once per schema, here to no destination; later records are measured."""

COMPARED = (AGAIN, LINEAGE, DEBEZIUM)
RATIO = Goal(1.03)
WARM_UP_ROUNDS = 3
"""Rounds in which the JIT compiler warms up, for all variants."""

SEED = 7


def measure(figures: Figures, folder: Path, rounds: int) -> None:
    """Run all rounds in one worker. Raises RuntimeError: a service did not start, or a connector failed."""
    chance = random.Random(SEED)
    results: list[RoundResult] = []
    with bench_worker(folder) as worker:
        for number in range(-WARM_UP_ROUNDS, rounds):
            order = chance.sample(list(TRANSFORMS), len(TRANSFORMS))
            result = worker.run_round({variant: TRANSFORMS[variant] for variant in order})
            if number >= 0:
                results.append(result)
                _add(figures, result)
    if len(results) > 1:
        _add_intervals(figures, results)


def _add(figures: Figures, result: RoundResult) -> None:
    for variant in TRANSFORMS:
        figures.add(f"worker, {variant}: CPU of the task", "ns/record", result.costs[variant].cpu_ns)
    for variant in TRANSFORMS:
        figures.add(f"worker, {variant}: allocated", "B/record", result.costs[variant].allocated_bytes)
    for variant in COMPARED:
        goal = RATIO if variant == LINEAGE else None
        ratio = result.costs[variant].cpu_ns / result.costs[NO_OP].cpu_ns
        figures.add(f"worker, {variant}: CPU of the task against no-op", "ratio", ratio, goal)
    own = f"worker, threads of the lineage plugin while {len(TRANSFORMS)} connectors start, run and end"
    tasks = sum(cost.cpu_ns for cost in result.costs.values()) * RECORDS / 1e9
    figures.add(own, "% of the tasks' CPU", result.plugin_seconds / tasks * 100)
    figures.add(f"{own}: per second", "ms of CPU", result.plugin_seconds / result.seconds * 1000)


def _add_intervals(figures: Figures, results: Sequence[RoundResult]) -> None:
    for variant in COMPARED:
        ratio = paired_ratio([(result.costs[variant].cpu_ns, result.costs[NO_OP].cpu_ns) for result in results])
        figures.remark(f"worker, {variant}: CPU of the task against no-op {ratio}")
