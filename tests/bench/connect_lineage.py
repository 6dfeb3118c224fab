# SPDX-License-Identifier: Apache-2.0
"""What the Connect lineage transform costs a record: alone (JMH), and in a real worker beside other transforms.

The worker reads Avro records through the lab's converter into a sink that does nothing. Rounds are interleaved, in an
order that is drawn anew for each, so that what else the machine does meets all alike. Told is the processor time of
the task's own thread; the wall clock of a busy machine says little.
"""

import argparse
import random
import statistics
import tempfile
from collections.abc import Sequence
from math import comb
from pathlib import Path

from rich.console import Console

from tests.bench import connect_jmh
from tests.bench.connect_worker import DEBEZIUM, LINEAGE, NO_OP, BenchWorker, bench_worker
from tests.bench.figures import Figures, Goal

ROUNDS = 7
WARM_UP_ROUNDS = 2
RECORDS = 1_000_000
RATIO = Goal(1.03)
CONFIDENCE = 0.95
SEED = 7


def main() -> None:
    """Measures, prints, and writes JSON where it is wanted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--records", type=int, default=RECORDS)
    parser.add_argument("--no-jmh", action="store_true", help="leave the transform alone out")
    parser.add_argument("--no-worker", action="store_true", help="leave the worker out")
    parser.add_argument("--json", type=Path, help="write the figures to this file too")
    arguments = parser.parse_args()
    figures = Figures()
    with tempfile.TemporaryDirectory(prefix="connect-bench-") as folder:
        if not arguments.no_jmh:
            connect_jmh.measure(figures, Path(folder))
        if not arguments.no_worker:
            with bench_worker(Path(folder), arguments.records) as worker:
                _rounds(figures, worker, arguments.rounds)
    console = Console()
    console.print(figures.table())
    for remark in figures.remarks:
        console.print(remark)
    if arguments.json:
        arguments.json.write_text(figures.render_json())


def _rounds(figures: Figures, worker: BenchWorker, rounds: int) -> None:
    chance = random.Random(SEED)
    ratios: dict[str, list[float]] = {LINEAGE: [], DEBEZIUM: []}
    for number in range(-WARM_UP_ROUNDS, rounds):
        order = [NO_OP, LINEAGE, DEBEZIUM]
        chance.shuffle(order)
        costs = {variant: worker.run(variant) for variant in order}
        if number < 0:
            continue  # the JVM has not compiled what it will
        for variant in (NO_OP, LINEAGE, DEBEZIUM):
            figures.add(f"worker, Avro, {variant}: CPU of the task", "ns/record", costs[variant].cpu_ns)
            figures.add(f"worker, Avro, {variant}: allocated", "B/record", costs[variant].allocated_bytes)
        for variant, found in ratios.items():
            found.append(costs[variant].cpu_ns / costs[NO_OP].cpu_ns)
            name = f"worker, Avro, {variant}: CPU against no-op"
            figures.add(name, "ratio", found[-1], RATIO if variant == LINEAGE else None)
    for variant, found in ratios.items():
        low, high, certainty = median_interval(found)
        figures.remark(
            f"{variant} against no-op: median {statistics.median(found):.4f},"
            f" {certainty:.1%} interval {low:.4f} to {high:.4f} of {len(found)} interleaved rounds"
        )


def median_interval(values: Sequence[float], confidence: float = CONFIDENCE) -> tuple[float, float, float]:
    """The narrowest interval of order statistics that holds the median with `confidence`, and how sure that is.

    It assumes nothing of how the values are spread. With fewer than 6 values there is none so sure: then it is all.
    """
    ordered = sorted(values)
    count = len(ordered)
    best = 0
    for left_out in range(count // 2):
        if _certainty(count, left_out) >= confidence:
            best = left_out
    return ordered[best], ordered[-1 - best], _certainty(count, best)


def _certainty(count: int, left_out: int) -> float:
    """How probably the median of what `count` values were drawn from is between all but `left_out` on each side."""
    return 1 - 2 * sum(comb(count, index) for index in range(left_out + 1)) / 2**count


if __name__ == "__main__":
    main()
