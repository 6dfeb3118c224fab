# SPDX-License-Identifier: Apache-2.0
"""Benchmarks of the Spark pipeline: batch job, CPU overhead of lineage in a streaming query, lag by rate, freshness.

Run by `make bench`; alone by `bin/lab bench --only spark`. Linux only: a driver's usage includes all of its processes
(`tests.bench.measured_process`).
"""

from collections.abc import Mapping

from tests.bench import spark_batch, spark_freshness, spark_overhead, spark_rates
from tests.bench.parts import Part, run_parts

PARTS: Mapping[str, Part] = {
    "batch": Part(spark_batch.measure, 5),
    "streaming": Part(spark_overhead.measure, 12),
    "rates": Part(spark_rates.measure, 3),
    "freshness": Part(spark_freshness.measure, 1),
}

if __name__ == "__main__":
    run_parts(__doc__, PARTS)
