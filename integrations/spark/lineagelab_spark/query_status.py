# SPDX-License-Identifier: Apache-2.0
"""Progress and outcome of a streaming query, read from Spark.

Spark's progress records are polled (0.5 ms per batch). A `StreamingQueryListener` in Python would block `start()`, miss
events just before the driver exits, and take 24 ms of CPU per batch, mostly to copy unused data.
"""

import traceback

from py4j.protocol import Py4JNetworkError
from pyspark.sql.streaming.query import StreamingQuery

from lineagelab_spark import progress
from lineagelab_spark.java import kind_of
from lineagelab_spark.lifecycle import EventType
from lineagelab_spark.progress import Progress
from lineagelab_spark.runs import Failure

JVM_GONE = (Py4JNetworkError, OSError)
"""Exceptions of py4j calls after the JVM has exited."""

_FINITE_TRIGGERS = {"OneTimeTrigger", "AvailableNowTrigger"}


def progress_since(query: StreamingQuery, last: tuple[int, str] | None) -> list[Progress]:
    """Return the micro-batches completed since the one with identity `last`; Spark keeps the latest 100."""
    records = query._jsq.recentProgress()
    found: list[Progress] = []
    for place in reversed(range(len(records))):
        batch = progress.parse(records[place].json())
        if batch.identity == last:
            break
        found.append(batch)
    return found[::-1]


def end_of(query: StreamingQuery, *, stopped: bool) -> EventType:
    """Return the terminal event type of an inactive query.

    Args:
        query: inactive query.
        stopped: True if this process stopped it; an exception of the interrupted batch is then not a failure.
    """
    if stopped:
        return EventType.ABORT
    if query.exception() is not None:
        return EventType.FAIL
    return EventType.COMPLETE if _trigger(query) in _FINITE_TRIGGERS else EventType.ABORT


def failure_of(query: StreamingQuery, raised: BaseException | None) -> Failure:
    """Return the cause of a query's failure.

    Args:
        query: failed query.
        raised: exception of its last `foreachBatch` function; Spark keeps only its text, in an exception of its own.
    """
    if raised is not None:
        trace = "".join(traceback.format_exception(raised))
        return Failure(_summary(f"{type(raised).__name__}: {raised}"), "PYTHON", trace)
    error = query.exception()
    return Failure(_summary(str(error)), "JAVA", str(getattr(error, "_stackTrace", "")))


def _trigger(query: StreamingQuery) -> str:
    return kind_of(query._jsq.streamingQuery().trigger()).rstrip("$")


def _summary(message: str) -> str:
    """Return the message without the plans and JVM stack traces that Spark appends."""
    for appendix in ("\n=== Streaming Query ===", "\n\nJVM stacktrace", "\n\tat "):
        message = message.partition(appendix)[0]
    return message
