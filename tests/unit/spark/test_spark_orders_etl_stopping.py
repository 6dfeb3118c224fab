# SPDX-License-Identifier: Apache-2.0
"""Graceful stop of real streaming queries: a running batch completes, an abandoned one is not committed."""

import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from jobs.spark import runtime, streaming
from jobs.spark.streaming import Stopping
from lineagelab_spark import BatchOutputs, NoQueryLineage

pytestmark = pytest.mark.slow

TIMEOUT_SECONDS = 300


def started(
    spark: SparkSession, folder: Path, stopping: Stopping, write: Callable[[DataFrame, int, BatchOutputs], None]
) -> StreamingQuery:
    """Start a query that always has rows for another batch."""
    rows = spark.readStream.format("rate").option("rowsPerSecond", 100).load()
    writer = rows.writeStream.option("checkpointLocation", str(folder)).trigger(processingTime="0 seconds")
    return NoQueryLineage().foreach_batch(writer, stopping.guard(write))


def committed(folder: Path) -> set[int]:
    """Return the batches that Spark has committed."""
    return {int(path.name) for path in (folder / "commits").iterdir() if path.name.isdigit()}


def test_running_batch_completes_and_no_other_starts(spark: SparkSession, tmp_path: Path) -> None:
    stopping, begun, go_on = Stopping(), threading.Event(), threading.Event()
    written: list[int] = []

    def write(batch: DataFrame, batch_id: int, outputs: BatchOutputs) -> None:
        begun.set()
        assert go_on.wait(TIMEOUT_SECONDS)
        written.append(batch_id)

    query = started(spark, tmp_path, stopping, write)
    assert begun.wait(TIMEOUT_SECONDS)
    stop = threading.Thread(target=stopping.stop, args=(query,))
    stop.start()
    go_on.set()
    stop.join(TIMEOUT_SECONDS)

    assert not stop.is_alive()
    assert not query.isActive
    assert written == [0]
    assert committed(tmp_path) <= {0}


def test_waiting_batch_is_abandoned_and_not_committed(spark: SparkSession, tmp_path: Path) -> None:
    stopping, waiting = Stopping(), threading.Event()

    def write(batch: DataFrame, batch_id: int, outputs: BatchOutputs) -> None:
        waiting.set()
        while True:
            stopping.wait(1)

    query = started(spark, tmp_path, stopping, write)
    assert waiting.wait(TIMEOUT_SECONDS)
    stopping.stop(query)

    assert not query.isActive
    assert not (tmp_path / "commits").exists() or committed(tmp_path) == set()
    assert stopping.failure is None


def test_batch_that_exceeds_the_timeout_is_abandoned(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(streaming, "GRACE_SECONDS", 0.1)
    caplog.set_level("INFO")
    stopping, begun, over = Stopping(), threading.Event(), threading.Event()

    def write(batch: DataFrame, batch_id: int, outputs: BatchOutputs) -> None:
        begun.set()
        try:
            while True:
                batch.count()
        finally:
            over.set()

    query = started(spark, tmp_path, stopping, write)
    assert begun.wait(TIMEOUT_SECONDS)
    stopping.stop(query)

    assert over.wait(TIMEOUT_SECONDS)
    assert not query.isActive
    assert "the current batch did not end within 0 s and is aborted" in caplog.text
    assert "the current batch is aborted: " in caplog.text
    assert stopping.failure is None


def test_exception_of_a_batch_is_preserved(spark: SparkSession, tmp_path: Path) -> None:
    stopping = Stopping()

    def write(batch: DataFrame, batch_id: int, outputs: BatchOutputs) -> None:
        raise runtime.JobError("what was attempted, on what, and what to do")

    query = started(spark, tmp_path, stopping, write)
    with pytest.raises(StreamingQueryException):
        query.awaitTermination(TIMEOUT_SECONDS)

    assert isinstance(stopping.failure, runtime.JobError)


def test_stop_request_does_not_stop_immediately() -> None:
    """The signal handler may interrupt the thread anywhere."""
    stopping = Stopping()
    stopping.request()

    stopping.wait(0)
    assert stopping.is_requested
