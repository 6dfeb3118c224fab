# SPDX-License-Identifier: Apache-2.0
"""Leaves out records that somebody has named by their place in the topic."""

from collections import defaultdict
from collections.abc import Iterable

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

Place = tuple[int, int]
"""Partition and offset of a record."""

_LEFT_OUT = b"\1"


def without(rows: DataFrame, places: Iterable[Place]) -> DataFrame:
    """The rows of all other records.

    The places of a partition are one literal with a byte for each offset from the first to the last of them. To plan
    ten thousand literals takes seconds, and to join as many rows takes a job of its own, also for one of them.

    Args:
        rows: have `partition` (int) and `offset` (bigint).
        places: of the records that are left out: near each other, as those of a batch are.
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
        flags[offset - first : offset - first + 1] = _LEFT_OUT
    # Outside of the literal nothing is looked up: before its beginning it would be counted from its end.
    is_inside = (F.col("partition") == partition) & F.col("offset").between(first, last)
    flag = F.substring(F.lit(bytes(flags)), (F.col("offset") - first + 1).cast("int"), F.lit(1))
    return F.when(is_inside, flag == F.lit(_LEFT_OUT)).otherwise(F.lit(False))
