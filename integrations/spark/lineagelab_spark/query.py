# SPDX-License-Identifier: Apache-2.0
"""Lineage of Structured Streaming queries: interface for jobs.

    lineage = QueryLineage(spark, namespace, url)
    query = lineage.to_table(frame.writeStream.queryName("orders").option(...), "lake.sales.orders")
    query.awaitTermination()
    lineage.close()

Each start of a query is one run: START when its first output is known, or after 30 s without a write; RUNNING at every
heartbeat (`lineagelab_common.heartbeat`), and when schemas or datasets change; one terminal event. Columns are derived
from the plans that run, also through `foreach_batch`, where Spark passes rows without their plan.

Do not enable OpenLineage's agent in such a driver (no `spark.extraListeners`): it reports two runs per micro-batch,
neither with both a topic and a table, and no columns.
"""

import atexit
import logging
import os
import time
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from lineagelab_common.heartbeat import heartbeat_seconds
from lineagelab_spark import destinations
from lineagelab_spark.classic_session import require_classic
from lineagelab_spark.deduplicated_warnings import DeduplicatedWarnings
from lineagelab_spark.driver_settings import open_spool
from lineagelab_spark.observer_thread import ObserverThread
from lineagelab_spark.query_observer import NoObserver, Observer, ObserverSettings, QueryObserver
from lineagelab_spark.write_tracker import WriteId, WrittenFrame

CLOSE_TIMEOUT = 5.0
"""Approximate maximum duration of `close`, in seconds: for plans that are not read yet, then for the service."""

log = logging.getLogger(__name__)


class BatchOutputs:
    """Writer for the function of a micro-batch, with lineage."""

    def __init__(self, batch: DataFrame, observer: Observer) -> None:
        self._batch = batch
        self._observer = observer
        self._counts: Counter[str] = Counter()

    def append(self, frame: DataFrame, table: str, options: Mapping[str, str] | None = None) -> None:
        """Run `frame.writeTo(table).options(**options).append()` and record its lineage.

        The run id is stored in the summary of Iceberg's snapshot, as `lineage-run-id`.
        """
        self.describe(frame, table)
        frame.writeTo(table).options(**{**self._observer.append_options(table), **(options or {})}).append()

    def describe(self, frame: DataFrame, table: str, *, by_position: bool = False) -> None:
        """Record that `frame` is written to `table`, for other ways of writing.

        A table that the query both reads and writes is its own state, not an input, from the first batch that records
        a write to it, unless its values flow into another table. Call this in every batch, even without rows; the
        cost is negligible.

        Args:
            frame: rows that are written.
            table: `catalog.namespace.name`; or files or a table behind JDBC, see `lineagelab_spark.destinations`.
            by_position: columns are written by position, as `insertInto` does.
        """
        self._observer.describe(WriteId(table, self._counts[table]), WrittenFrame(frame, self._batch, by_position))
        self._counts[table] += 1


Write = Callable[[DataFrame, int, BatchOutputs], None]
"""Function of a micro-batch: takes its rows, its id, and the writer with lineage."""


class ObservedQuery(StreamingQuery):
    """Query that notifies lineage when the driver stops it or has awaited its end."""

    def __init__(self, query: StreamingQuery, observer: Observer, wake: Callable[[], None]) -> None:
        super().__init__(query._jsq)
        self._observer = observer
        self._wake = wake

    def stop(self) -> None:
        """See `StreamingQuery.stop`. A query that has already ended keeps its own outcome."""
        if self.isActive:
            self._observer.stopping()
        try:
            super().stop()
        finally:
            self._wake()

    def awaitTermination(self, timeout: float | None = None) -> bool | None:
        """See `StreamingQuery.awaitTermination`."""
        ended: bool | None = None
        try:
            ended = super().awaitTermination(timeout)  # type: ignore[arg-type]
        finally:
            if ended is not False:
                self._wake()
        return ended


class QueryLineage:
    """Lineage of the streaming queries of one driver. It never fails or delays them.

    Args:
        spark: session of the driver; not one of Spark Connect, whose plans are on the server.
        namespace: job namespace; None: `OPENLINEAGE_NAMESPACE`. The job name is the query name.
        url: root of a lineage service; None: OpenLineage's configuration names the receiver, as for `observe`; empty
            disables lineage.
        config: OpenLineage configuration in the form of `openlineage.yml`, instead of a url.
        interval_seconds: interval of RUNNING events; None for that of `LINEAGE_HEARTBEAT_SECONDS`, by default 30.

    Environment: that of `lineagelab_spark.batch_lineage.observe`.

    Raises:
        SparkConnectError: the session is one of Spark Connect; a TypeError.
        ConfigurationError: the configuration is invalid, or no receiver is configured; a ValueError.
    """

    def __init__(
        self,
        spark: SparkSession,
        namespace: str | None = None,
        url: str | None = None,
        *,
        config: Mapping[str, Any] | None = None,
        interval_seconds: float | None = None,
    ) -> None:
        interval = heartbeat_seconds(os.environ) if interval_seconds is None else interval_seconds
        self._thread = ObserverThread()
        self._warnings = DeduplicatedWarnings("this driver")
        self._settings: ObserverSettings | None = None
        if url != "":
            require_classic(spark, "observe the streaming queries of a session")
            spool = open_spool(url, config)
            with self._warnings.log_exceptions("setup failed, no lineage is reported"):
                self._settings = ObserverSettings.of(spark, namespace, spool, interval=interval)
                atexit.register(self.close)

    def to_table(self, writer: DataStreamWriter, table: str) -> StreamingQuery:
        """Run `writer.toTable(table)` with lineage."""
        observer = self._observe(writer)
        query = writer.toTable(table)
        observer.describe(WriteId(table), WrittenFrame(writer._df, None))
        return self._wrap(query, observer)

    def to_files(self, writer: DataStreamWriter, path: str, file_format: str = "parquet") -> StreamingQuery:
        """Run `writer.format(file_format).start(path)` with lineage."""
        observer = self._observe(writer)
        query = writer.format(file_format).start(path)
        observer.describe(WriteId(destinations.files(file_format, path)), WrittenFrame(writer._df, None))
        return self._wrap(query, observer)

    def foreach_batch(self, writer: DataStreamWriter, write: Write) -> StreamingQuery:
        """Run `writer.foreachBatch(...).start()` with lineage."""
        observer = self._observe(writer)

        def each(batch: DataFrame, batch_id: int) -> None:
            raised: BaseException | None = None
            observer.batch_began()
            try:
                write(batch, batch_id, BatchOutputs(batch, observer))
            except BaseException as error:
                raised = error
                raise
            finally:
                observer.batch_ended(raised)
                self._thread.wake()

        return self._wrap(writer.foreachBatch(each).start(), observer)

    def close(self) -> None:
        """Send terminal events of running queries, and wait up to `CLOSE_TIMEOUT` for delivery. Idempotent."""
        if self._settings is None:
            return
        settings, self._settings = self._settings, None
        atexit.unregister(self.close)
        deadline = time.monotonic() + CLOSE_TIMEOUT
        if not self._thread.close(CLOSE_TIMEOUT):
            log.warning("Spark did not respond within %g s: no terminal events are sent for its queries", CLOSE_TIMEOUT)
        # The observers have just added events: allow at least 1 s to send them, even after a slow Spark.
        settings.spool.close(max(1.0, deadline - time.monotonic()))

    def _observe(self, writer: DataStreamWriter) -> Observer:
        if self._settings is not None:
            with self._warnings.log_exceptions("a query is not observed, it has no lineage"):
                return QueryObserver(self._settings, writer._df)
        return NoObserver()

    def _wrap(self, query: StreamingQuery, observer: Observer) -> StreamingQuery:
        with self._warnings.log_exceptions("a query is not observed, it has no lineage"):
            observer.started(query)
            if isinstance(observer, QueryObserver):
                self._thread.add(observer)
            return ObservedQuery(query, observer, self._thread.wake)
        return query


class NoQueryLineage(QueryLineage):
    """No-op variant for drivers without a lineage service."""

    def __init__(self) -> None:
        self._thread = ObserverThread()
        self._warnings = DeduplicatedWarnings("this driver")
        self._settings = None
