# SPDX-License-Identifier: Apache-2.0
"""Benchmarks of Flink: start and memory of a new cluster, CPU overhead of lineage per record and of an idle job.

Run by `make bench`; alone by `bin/lab bench --only flink`.
"""

from collections.abc import Mapping

from tests.bench import flink_idle, flink_overhead, flink_startup
from tests.bench.parts import Part, run_parts

PARTS: Mapping[str, Part] = {
    "fresh": Part(flink_startup.measure, 3),
    "cost": Part(flink_overhead.measure, 7),
    "running": Part(flink_idle.measure, 3),
}

if __name__ == "__main__":
    run_parts(__doc__, PARTS)
