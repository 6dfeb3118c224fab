# SPDX-License-Identifier: Apache-2.0
"""Reports column lineage of batch writes to the lineage service. Never fails or delays the job."""

import logging
import threading
import time
from typing import Protocol

from pyspark.sql import DataFrame, SparkSession

from lineagelab_common.events import Json
from lineagelab_spark import destinations, events, frames
from lineagelab_spark.classic_session import require_classic
from lineagelab_spark.description import Write, describe
from lineagelab_spark.driver_settings import job_namespace, open_spool
from lineagelab_spark.plan import derive

CLOSE_TIMEOUT = 2.0
"""Maximum duration of `close`, in seconds."""

log = logging.getLogger(__name__)


class Lineage(Protocol):
    """Lineage reporter of a batch job."""

    def describe(self, frame: DataFrame, table: str, command: str, *, by_position: bool = False) -> None:
        """Report that `command` writes `frame` to `table` (`catalog.namespace.name`, or see `destinations`).

        Args:
            by_position: columns are written by position, as `insertInto` does.
        """

    def close(self) -> None:
        """Wait up to `CLOSE_TIMEOUT` for events that are not sent yet."""


class NoLineage:
    """No-op reporter for jobs without a lineage service."""

    def describe(self, frame: DataFrame, table: str, command: str, *, by_position: bool = False) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""


class SparkLineage:
    """Reporter that derives lineage from analysed plans in one background thread per write."""

    def __init__(self, spark: SparkSession, namespace: str | None = None, url: str | None = None) -> None:
        require_classic(spark, "describe the writes of a session")
        self._spark = spark
        self._namespace = job_namespace(namespace)
        self._application = str(spark.conf.get("spark.app.name"))
        self._spool = open_spool(url)
        self._threads: list[threading.Thread] = []

    def describe(self, frame: DataFrame, table: str, command: str, *, by_position: bool = False) -> None:
        """See `Lineage.describe`. Plans are immutable, so they can be read while Spark writes."""
        thread = threading.Thread(
            target=self._describe, args=(frame, table, command, by_position), name=f"lineage {table}", daemon=True
        )
        self._threads.append(thread)
        thread.start()

    def close(self) -> None:
        """See `Lineage.close`. Events that are not sent in time are lost, with a warning."""
        deadline = time.monotonic() + CLOSE_TIMEOUT
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))
            if thread.is_alive():
                log.warning("%s: not derived within the timeout, lineage is lost", thread.name)
        self._spool.close(max(0.0, deadline - time.monotonic()))

    def event(self, frame: DataFrame, table: str, command: str, *, by_position: bool = False) -> Json:
        """Return the event that `describe` sends."""
        plan = frames.read(frame)
        sink = destinations.sink(self._spark, table, frame) or frames.sink(self._spark, table)
        write = Write(derive(plan.text), plan.sources, sink, by_position=by_position)
        if write.gaps:
            log.warning("lineage of %s: column lineage is incomplete, unsupported: %s", table, ", ".join(write.gaps))
        name = events.job_name(self._application, command, table)
        processing = "STREAMING" if frame.isStreaming else "BATCH"
        return events.job_event(self._namespace, name, processing, events.datasets(describe([write])))

    def _describe(self, frame: DataFrame, table: str, command: str, by_position: bool) -> None:
        # A lineage error must not fail the job.
        try:
            self._spool.add(self.event(frame, table, command, by_position=by_position))
        except Exception:
            log.warning("lineage of %s could not be derived", table, exc_info=True)
