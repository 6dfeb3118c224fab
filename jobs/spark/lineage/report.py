# SPDX-License-Identifier: Apache-2.0
"""Tells the lineage service what a frame is made of before it is written. Never fails or delays the job."""

import logging
import threading
import time
from typing import Protocol

from openlineage.client import OpenLineageClient
from openlineage.client.event_v2 import JobEvent
from openlineage.client.transport.http import HttpConfig, HttpTransport
from pyspark.sql import DataFrame, SparkSession

from jobs.spark.java import JavaObject
from jobs.spark.lineage import datasets, events
from jobs.spark.lineage.plan import derive

TIMEOUT_SECONDS = 2.0
"""For a connection, and for an answer. It is also all that `close` waits."""

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
    """Derives lineage from analysed plans and sends it, beside the job, from a thread for each write."""

    def __init__(self, spark: SparkSession, namespace: str, url: str) -> None:
        self._spark = spark
        self._namespace = namespace
        self._application = str(spark.conf.get("spark.app.name"))
        self._url = url
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
        deadline = time.monotonic() + TIMEOUT_SECONDS
        for thread in self._under_way:
            thread.join(max(0.0, deadline - time.monotonic()))
            if thread.is_alive():
                log.warning("%s: no answer from %s in time, given up", thread.name, self._url)

    def event(self, frame: DataFrame, table: str, command: str) -> JobEvent:
        """The event that `describe` sends."""
        plan = _analysed(frame)
        lineage = derive(plan.toJSON())
        sources = datasets.of_leaves(plan)
        gaps = events.gaps(lineage, sources)
        if gaps:
            log.warning("lineage of %s: nothing is known of %s, columns are left out", table, ", ".join(gaps))
        named = [source.datasets for source in sources]
        described = events.describe(lineage, named, self._sink(table), complete=not gaps)
        name = events.job_name(self._application, command, table)
        processing = "STREAMING" if frame.isStreaming else "BATCH"
        return events.job_event(self._namespace, name, processing, described)

    def _sink(self, table: str) -> events.Sink:
        frame = self._spark.table(table)
        (source,) = datasets.of_leaves(_analysed(frame))
        if not source.datasets:
            raise ValueError(f"cannot name the dataset that is written: it is {source.unnamed}")
        return events.Sink(source.datasets[0], [(f.name, f.dataType.simpleString()) for f in frame.schema.fields])

    def _describe(self, frame: DataFrame, table: str, command: str) -> None:
        # The one place where the job goes on whatever happened: its data matter more than their lineage.
        try:
            event = self.event(frame, table, command)
        except Exception:
            log.warning("lineage of %s could not be derived", table, exc_info=True)
            return
        try:
            _client(self._url).emit(event)
        except Exception as error:
            log.warning("lineage of %s could not be sent to %s: %s", table, self._url, error)


def _analysed(frame: DataFrame) -> JavaObject:
    return frame._jdf.queryExecution().analyzed()


def _client(url: str) -> OpenLineageClient:
    config = HttpConfig(url=url, timeout=TIMEOUT_SECONDS, retry={"total": 0})
    return OpenLineageClient(transport=HttpTransport(config))
