# SPDX-License-Identifier: Apache-2.0
"""Ends and durations of the runs of each job, and delays of their events."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lineage.graph.run_record import TERMINAL_RANK

_SECOND = 1e9


def job_reliability(events: DataFrame) -> DataFrame:
    """Return one row for each job with runs.

    The end of a run is its strongest terminal event, as in the lineage service; a run lasts from its first event to
    that one. An end that the service infers is none.

    Args:
        events: has `kind`, `event_type`, `run_id`, `job_namespace`, `job_name`, `event_time`, `accepted_at`
            (timestamps) and `effective_ns`.

    Returns:
        `job_namespace`, `job_name`, `runs`, `completed`, `failed`, `aborted`, `without_end` (numbers of runs),
        `median_seconds`, `p95_seconds` (of runs with an end, null without any), `p95_event_delay` (seconds from the
        time of an event to its acceptance), `first_event`, `last_event`.
    """
    ranks = F.create_map(*(F.lit(each) for pair in TERMINAL_RANK.items() for each in pair))
    rank = ranks[F.col("event_type")]
    runs = (
        events.where("kind = 'run'")
        .groupBy("job_namespace", "job_name", "run_id")
        .agg(
            F.max(F.when(rank.isNotNull(), F.struct(rank.alias("rank"), "effective_ns", "event_type"))).alias("end"),
            F.min("effective_ns").alias("begin"),
        )
        .withColumn("seconds", (F.col("end.effective_ns") - F.col("begin")) / _SECOND)
        .groupBy("job_namespace", "job_name")
        .agg(
            F.count("*").alias("runs"),
            *(_count(event_type).alias(name) for event_type, name in _ENDS.items()),
            F.count_if(F.col("end").isNull()).alias("without_end"),
            F.percentile("seconds", 0.5).alias("median_seconds"),
            F.percentile("seconds", 0.95).alias("p95_seconds"),
        )
    )
    delay = F.unix_millis("accepted_at") - F.unix_millis("event_time")
    delays = (
        events.where("kind = 'run'")
        .groupBy("job_namespace", "job_name")
        .agg(
            (F.percentile(delay, 0.95) / 1e3).alias("p95_event_delay"),
            F.min("event_time").alias("first_event"),
            F.max("event_time").alias("last_event"),
        )
    )
    return runs.join(delays, ["job_namespace", "job_name"])


_ENDS = {"COMPLETE": "completed", "FAIL": "failed", "ABORT": "aborted"}


def _count(event_type: str) -> Column:
    return F.count_if(F.col("end.event_type") == event_type)
