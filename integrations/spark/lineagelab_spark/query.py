# SPDX-License-Identifier: Apache-2.0
"""Lineage of Structured Streaming queries: what a job sees of it.

    lineage = QueryLineage(spark, namespace, url)
    query = lineage.to_table(frame.writeStream.queryName("orders").option(...), "lake.sales.orders")
    query.awaitTermination()
    lineage.close()

One run for each start of a query: START when it is known what it writes, or after half a minute without anything to
write, RUNNING every half minute and when schemas or datasets change, one end. Columns are derived from the plans that
run, also through `foreach_batch`, where Spark hands out rows without their history.

OpenLineage's agent must not listen in such a driver (no `spark.extraListeners`): it sees two runs in each
micro-batch, none of which has both a topic and a table, and no columns.
"""

import atexit
import logging
import os
import time
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from lineagelab_common.identifiers import ParentRun
from lineagelab_common.spool import Spool
from lineagelab_spark.complaints import Complaints
from lineagelab_spark.open_runs import OpenRuns
from lineagelab_spark.watch import NoWatch, Setting, Told, Watch
from lineagelab_spark.worker import Worker
from lineagelab_spark.written import Frame, Place

INTERVAL_SECONDS = 30.0
CLOSE_SECONDS = 5.0
"""About all that `close` waits: for plans that are still to be read, then for the service."""

PARENT = "OPENLINEAGE_PARENT_ID"
OPEN_RUNS = "LINEAGE_OPEN_RUNS"

log = logging.getLogger(__name__)


class BatchOutputs:
    """What the function of a micro-batch writes with."""

    def __init__(self, batch: DataFrame, told: Told) -> None:
        self._batch = batch
        self._told = told
        self._counts: Counter[str] = Counter()

    def append(self, frame: DataFrame, table: str, options: Mapping[str, str] | None = None) -> None:
        """`frame.writeTo(table).options(**options).append()`, and lineage knows what the frame is made of.

        Iceberg's snapshot gets the id of the run into its summary, as `lineage-run-id`.
        """
        self.describe(frame, table)
        frame.writeTo(table).options(**{**self._told.append_options(table), **(options or {})}).append()

    def describe(self, frame: DataFrame, table: str) -> None:
        """Says that `frame` goes to `table` (`catalog.namespace.name`), for who writes it in another way.

        A table in which the query looks up what it has written is its memory, and no input, from the batch on in
        which it is first said to be written. So say it in every batch, rows or no rows: this costs next to nothing.
        """
        self._told.describe(Place(table, self._counts[table]), Frame(frame, self._batch))
        self._counts[table] += 1


Write = Callable[[DataFrame, int, BatchOutputs], None]
"""What a query does with each micro-batch: its rows, its id, and what to write them with."""


class ObservedQuery(StreamingQuery):
    """A query that tells lineage when its driver stops it, or has waited for its end."""

    def __init__(self, query: StreamingQuery, told: Told, call: Callable[[], None]) -> None:
        super().__init__(query._jsq)
        self._told = told
        self._call = call

    def stop(self) -> None:
        """See `StreamingQuery.stop`. A query that has ended before is not stopped by this."""
        if self.isActive:
            self._told.stopping()
        try:
            super().stop()
        finally:
            self._call()

    def awaitTermination(self, timeout: float | None = None) -> bool | None:
        """See `StreamingQuery.awaitTermination`."""
        ended: bool | None = None
        try:
            ended = super().awaitTermination(timeout)  # type: ignore[arg-type]
        finally:
            if ended is not False:
                self._call()
        return ended


class QueryLineage:
    """Lineage of the streaming queries of one driver. It never fails or delays them.

    Args:
        spark: the session of the driver.
        namespace: of the queries' jobs; a job is named as its query.
        url: root of the lineage service; nothing is read or sent where it is empty.
        interval_seconds: between the RUNNING events of a query.

    Environment: `OPENLINEAGE_PARENT_ID` (`namespace/name/runId`) is the run that the queries' runs belong to,
    `LINEAGE_OPEN_RUNS` a file that has, while they last, the runs that somebody has to end if this process is killed.
    """

    def __init__(
        self, spark: SparkSession, namespace: str, url: str, *, interval_seconds: float = INTERVAL_SECONDS
    ) -> None:
        self._worker = Worker()
        self._complaints = Complaints("this driver")
        self._setting: Setting | None = None
        if url:
            with self._complaints.survived("it has none"):
                self._setting = _setting(spark, namespace, url, interval_seconds)
                atexit.register(self.close)

    def to_table(self, writer: DataStreamWriter, table: str) -> StreamingQuery:
        """`writer.toTable(table)`, observed."""
        told = self._watch(writer)
        query = writer.toTable(table)
        told.describe(Place(table), Frame(writer._df, None))
        return self._observed(query, told)

    def foreach_batch(self, writer: DataStreamWriter, write: Write) -> StreamingQuery:
        """`writer.foreachBatch(...).start()`, observed."""
        told = self._watch(writer)

        def each(batch: DataFrame, batch_id: int) -> None:
            raised: BaseException | None = None
            told.batch_began()
            try:
                write(batch, batch_id, BatchOutputs(batch, told))
            except BaseException as error:
                raised = error
                raise
            finally:
                told.batch_over(raised)
                self._worker.call()

        return self._observed(writer.foreachBatch(each).start(), told)

    def close(self) -> None:
        """Says the end of what has not ended yet, and waits a little until everything is sent. Twice is once."""
        if self._setting is None:
            return
        setting, self._setting = self._setting, None
        atexit.unregister(self.close)
        deadline = time.monotonic() + CLOSE_SECONDS
        if not self._worker.close(CLOSE_SECONDS):
            log.warning("Spark does not answer: the ends of its queries are not known to lineage")
        # What the watches have just said takes a moment, however long Spark took.
        setting.spool.close(max(1.0, deadline - time.monotonic()))

    def _watch(self, writer: DataStreamWriter) -> Told:
        if self._setting is not None:
            with self._complaints.survived("a query has none"):
                return Watch(self._setting, writer._df)
        return NoWatch()

    def _observed(self, query: StreamingQuery, told: Told) -> StreamingQuery:
        with self._complaints.survived("a query has none"):
            told.started(query)
            if isinstance(told, Watch):
                self._worker.add(told)
            return ObservedQuery(query, told, self._worker.call)
        return query


class NoQueryLineage(QueryLineage):
    """For drivers that run without a lineage service."""

    def __init__(self) -> None:
        self._worker = Worker()
        self._complaints = Complaints("this driver")
        self._setting = None


def _setting(spark: SparkSession, namespace: str, url: str, interval: float) -> Setting:
    path = os.environ.get(OPEN_RUNS, "")
    return Setting(
        namespace=namespace,
        application=str(spark.conf.get("spark.app.name")),
        spark_version=str(spark.version),
        interval=interval,
        parent=_parent(),
        spool=Spool(url),
        open_runs=OpenRuns(Path(path) if path else None),
    )


def _parent() -> ParentRun | None:
    text = os.environ.get(PARENT, "")
    try:
        return ParentRun.parse(text) if text else None
    except ValueError as error:
        log.warning("%s: %s", PARENT, error)
        return None
