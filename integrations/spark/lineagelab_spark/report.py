# SPDX-License-Identifier: Apache-2.0
"""Tells the lineage service what a frame is made of before it is written. Never fails or delays the job."""

import logging
import threading
import time
from typing import Protocol

from pyspark.sql import DataFrame, SparkSession

from lineagelab_common.events import Json
from lineagelab_common.spool import Spool
from lineagelab_spark import events, frames
from lineagelab_spark.description import Write, describe
from lineagelab_spark.plan import derive

CLOSE_SECONDS = 2.0
"""All that `close` waits."""

log = logging.getLogger(__name__)


class Lineage(Protocol):
    """What a job sees of lineage."""

    def describe(self, frame: DataFrame, table: str, command: str) -> None:
        """Says that `frame` is about to be written to `table` (`catalog.namespace.name`) by `command`."""

    def close(self) -> None:
        """Waits a little for what is still on its way."""


class NoLineage:
    """For jobs that run without a lineage service."""

    def describe(self, frame: DataFrame, table: str, command: str) -> None:
        """Nobody wants to know."""

    def close(self) -> None:
        """Nothing is on its way."""


class SparkLineage:
    """Derives lineage from analysed plans beside the job, in a thread for each write, and sends it."""

    def __init__(self, spark: SparkSession, namespace: str, url: str) -> None:
        self._spark = spark
        self._namespace = namespace
        self._application = str(spark.conf.get("spark.app.name"))
        self._spool = Spool(url)
        self._under_way: list[threading.Thread] = []

    def describe(self, frame: DataFrame, table: str, command: str) -> None:
        """See `Lineage.describe`. The plan of a frame never changes, so it is read while Spark writes."""
        thread = threading.Thread(
            target=self._describe, args=(frame, table, command), name=f"lineage {table}", daemon=True
        )
        self._under_way.append(thread)
        thread.start()

    def close(self) -> None:
        """See `Lineage.close`. Events that are still under way afterwards are lost, and said to be."""
        deadline = time.monotonic() + CLOSE_SECONDS
        for thread in self._under_way:
            thread.join(max(0.0, deadline - time.monotonic()))
            if thread.is_alive():
                log.warning("%s: not derived in time, given up", thread.name)
        self._spool.close(max(0.0, deadline - time.monotonic()))

    def event(self, frame: DataFrame, table: str, command: str) -> Json:
        """The event that `describe` sends."""
        plan = frames.read(frame)
        write = Write(derive(plan.text), plan.sources, frames.sink(self._spark, table))
        if write.gaps:
            log.warning("lineage of %s: nothing is known of %s, columns are left out", table, ", ".join(write.gaps))
        name = events.job_name(self._application, command, table)
        processing = "STREAMING" if frame.isStreaming else "BATCH"
        return events.job_event(self._namespace, name, processing, events.datasets(describe([write])))

    def _describe(self, frame: DataFrame, table: str, command: str) -> None:
        # The one place where the job goes on whatever happened: its data matter more than their lineage.
        try:
            self._spool.add(self.event(frame, table, command))
        except Exception:
            log.warning("lineage of %s could not be derived", table, exc_info=True)
