# SPDX-License-Identifier: Apache-2.0
"""Asks Spark how a query goes.

Its own records are read. A `StreamingQueryListener` in Python would hold up `start()`, would miss what happens just
before the driver leaves, and takes 24 ms of CPU for each batch, most of them to copy what nobody wants: reading takes
0.5 ms.
"""

import traceback

from py4j.protocol import Py4JNetworkError
from pyspark.sql.streaming.query import StreamingQuery

from lineagelab_spark import progress
from lineagelab_spark.lifecycle import EventType
from lineagelab_spark.progress import Progress
from lineagelab_spark.run_events import Failure

JVM_GONE = (Py4JNetworkError, OSError)
"""What any call raises once the JVM is gone."""

_END_BY_THEMSELVES = {"OneTimeTrigger", "AvailableNowTrigger"}


def progress_since(query: StreamingQuery, last: tuple[int, str] | None) -> list[Progress]:
    """The micro-batches that are through since the one of this identity; Spark keeps the last 100."""
    records = query._jsq.recentProgress()
    found: list[Progress] = []
    for place in reversed(range(len(records))):
        batch = progress.parse(records[place].json())
        if batch.identity == last:
            break
        found.append(batch)
    return found[::-1]


def end_of(query: StreamingQuery, *, stopped: bool) -> EventType:
    """How a query that is no longer active has ended.

    Args:
        query: as Spark knows it.
        stopped: whether this process stopped it. What a batch that was cut short complained of is then no failure.
    """
    if stopped:
        return EventType.ABORT
    if query.exception() is not None:
        return EventType.FAIL
    return EventType.COMPLETE if _trigger(query) in _END_BY_THEMSELVES else EventType.ABORT


def failure_of(query: StreamingQuery, raised: BaseException | None) -> Failure:
    """Why a query has failed.

    Args:
        query: that has.
        raised: by the function that wrote its last batch. Spark has only the text of it, wrapped in its own.
    """
    if raised is not None:
        trace = "".join(traceback.format_exception(raised))
        return Failure(_first_part(f"{type(raised).__name__}: {raised}"), "PYTHON", trace)
    error = query.exception()
    return Failure(_first_part(str(error)), "JAVA", str(getattr(error, "_stackTrace", "")))


def _trigger(query: StreamingQuery) -> str:
    return str(query._jsq.streamingQuery().trigger().getClass().getSimpleName()).rstrip("$")


def _first_part(message: str) -> str:
    """Without the plans and the stacks of the JVM that Spark puts after what happened."""
    return message.partition("\n=== Streaming Query ===")[0].partition("\n\nJVM stacktrace")[0]
