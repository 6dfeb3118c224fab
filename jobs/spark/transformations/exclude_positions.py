# SPDX-License-Identifier: Apache-2.0
"""Exclusion of records by partition and offset."""

from collections import defaultdict
from collections.abc import Iterable

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

Place = tuple[int, int]
"""Partition and offset of a record."""

_EXCLUDED = b"\1"


def exclude_positions(rows: DataFrame, places: Iterable[Place]) -> DataFrame:
    """Return the rows of all records except those at the given positions.

    The positions of a partition are encoded as one literal, with a byte per offset from the first to the last. Planning
    ten thousand literals takes seconds, and a join takes a Spark job even for a single position.

    Args:
        rows: have `partition` (int) and `offset` (bigint).
        places: positions of the excluded records, close to each other, as in a batch.
    """
    offsets: defaultdict[int, list[int]] = defaultdict(list)
    for partition, offset in places:
        offsets[partition].append(offset)
    for partition in sorted(offsets):
        rows = rows.where(~_is_one_of(partition, offsets[partition]))
    return rows


def _is_one_of(partition: int, offsets: list[int]) -> Column:
    first, last = min(offsets), max(offsets)
    flags = bytearray(last - first + 1)
    for offset in offsets:
        flags[offset - first : offset - first + 1] = _EXCLUDED
    # Offsets outside of the literal are skipped: a negative index would count from its end.
    is_inside = (F.col("partition") == partition) & F.col("offset").between(first, last)
    flag = F.substring(F.lit(bytes(flags)), (F.col("offset") - first + 1).cast("int"), F.lit(1))
    return F.when(is_inside, flag == F.lit(_EXCLUDED)).otherwise(F.lit(False))
