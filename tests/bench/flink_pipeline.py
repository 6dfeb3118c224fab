# SPDX-License-Identifier: Apache-2.0
"""The figures of Flink: what lineage costs, what a fresh cluster takes, and when its first row is in the lake.

Run by `make bench`; alone by `bin/lab bench --only flink`.
"""

from collections.abc import Mapping

from tests.bench import flink_cost, flink_fresh, flink_running
from tests.bench.parts import Part, run

PARTS: Mapping[str, tuple[Part, int]] = {
    "fresh": (flink_fresh.measure, 3),
    "cost": (flink_cost.measure, 7),
    "running": (flink_running.measure, 3),
}
"""What is measured, and how many rounds of it unless told otherwise."""

if __name__ == "__main__":
    run(__doc__, PARTS)
