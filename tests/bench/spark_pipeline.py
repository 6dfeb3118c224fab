# SPDX-License-Identifier: Apache-2.0
"""The figures of the Spark pipeline: the batch job's start, what lineage costs a stream, and how fresh the lake is.

Run by `make bench`; alone by `bin/lab bench --only spark`. Linux only: what a driver takes is what all of its
processes take (`tests.bench.spark_process`).
"""

from collections.abc import Mapping

from tests.bench import spark_batch, spark_freshness, spark_streaming
from tests.bench.parts import Part, run

PARTS: Mapping[str, tuple[Part, int]] = {
    "batch": (spark_batch.measure, 5),
    "streaming": (spark_streaming.measure, 12),
    "freshness": (spark_freshness.measure, 1),
}
"""What is measured, and how many rounds of it unless told otherwise."""

if __name__ == "__main__":
    run(__doc__, PARTS)
