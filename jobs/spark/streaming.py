# SPDX-License-Identifier: Apache-2.0
"""Runtime of a streaming query as a service; the counterpart of `jobs.spark.runtime.run` for batch jobs.

    def prepare() -> Start:                                         # reads settings
        def start(spark, lineage, stopping):                        # starts the query
            writer = spark.readStream. ... .writeStream.queryName("mine").option("checkpointLocation", ...)
            return lineage.to_table(writer, "lake.mine.table")
        return start

    raise SystemExit(streaming.run("mine", prepare))

SIGTERM starts a graceful shutdown: the current batch may finish within a grace period, and no new one starts. Wrap
`foreach_batch` functions in `stopping.guard` for that. OpenLineage's agent is disabled: for a streaming query it
reports two runs per batch, without columns or outputs; `lineagelab_spark` reports its lineage instead.
"""

import logging
import os
import signal
import subprocess
import threading
from collections.abc import Callable
from typing import Protocol

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from infra.namespaces import JOB_NAMESPACE
from jobs.spark import kafka, runtime
from jobs.spark.runtime import JobError
from lineagelab_spark import BatchOutputs, QueryLineage
from lineagelab_spark.java import JavaObject

GRACE_SECONDS = 10.0
"""Grace period of the current batch on shutdown. What it does not write is written after a restart."""

STOP_SECONDS = 10
"""Seconds that Spark waits for an interrupted batch after the grace period."""

POLL_SECONDS = 0.5
_STOP_POLL_SECONDS = 0.05

JVM_SECONDS = 2.0
"""Seconds to wait for the JVM's exit after its connection broke."""

_STOPPED = "the query is being stopped"

log = logging.getLogger(__name__)

WriteBatch = Callable[[DataFrame, int, BatchOutputs], None]


class Stopped(Exception):
    """Raised in a batch to end it without further writes, as the query is being stopped."""


class Stopping:
    """Graceful shutdown, coordinated between the threads of a driver.

    A batch must not return before its rows are written, or Spark commits it. A stopped batch therefore raises
    `Stopped`, but only after `query.stop()` was called: otherwise Spark reports a failure of the query.
    """

    def __init__(self) -> None:
        self.is_requested = False
        self._requested = threading.Event()
        self._stop_called = threading.Event()
        self._idle = threading.Event()
        self._idle.set()
        self.failure: BaseException | None = None

    def request(self) -> None:
        """Request the shutdown. Lock-free, because signal handlers call it."""
        self.is_requested = True

    def wait(self, seconds: float) -> None:
        """Sleep in a batch, at a point without partial writes.

        Raises:
            Stopped: the query is being stopped.
        """
        if self._requested.wait(seconds):
            self._await_stop_call()
            raise Stopped(_STOPPED)

    def guard(self, write: WriteBatch) -> WriteBatch:
        """Wrap a function for `foreach_batch`: no batch starts after a shutdown request, and exceptions are stored."""

        def guarded(batch: DataFrame, batch_id: int, outputs: BatchOutputs) -> None:
            self._idle.clear()
            try:
                self.wait(0)
                write(batch, batch_id, outputs)
            except Stopped:
                raise
            except BaseException as error:
                if self._requested.is_set():
                    log.info("the current batch is aborted: %s", runtime.root_cause(error))
                    self._await_stop_call()
                    # Spark matches the text of the exception with a regex, whose stack overflows on a long text.
                    raise Stopped(_STOPPED) from None
                # Spark passes on only the text of a Python exception.
                self.failure = error
                raise
            finally:
                self._idle.set()

        return guarded

    def stop(self, query: StreamingQuery) -> None:
        """Stop the query, after the current batch if that ends within the grace period."""
        self._requested.set()
        if not self._idle.wait(GRACE_SECONDS):
            log.info("the current batch did not end within %.0f s and is aborted", GRACE_SECONDS)
        # `query.stop()` returns after the batch; a batch that waits for `_stop_called` must not end before that call.
        ending = threading.Thread(target=_stop, args=(query,), name="stop")
        ending.start()
        try:
            while ending.is_alive() and query.isActive:
                ending.join(_STOP_POLL_SECONDS)
        finally:
            self._stop_called.set()
            ending.join()

    def _await_stop_call(self) -> None:
        self._idle.set()
        self._stop_called.wait()


class Start(Protocol):
    """Function that starts the query of a driver."""

    def __call__(self, spark: SparkSession, lineage: QueryLineage, stopping: Stopping) -> StreamingQuery:
        """Return the started query."""


def run(name: str, prepare: Callable[[], Start]) -> int:
    """Run a query until it ends or SIGTERM or SIGINT arrives; return the exit code of `jobs.spark.runtime.run`.

    Args:
        name: application name, Spark's `spark.app.name`.
        prepare: reads the job's settings, before a session is started, which takes seconds.
    """
    return runtime.exit_code(name, lambda: _run(name, prepare()))


def _run(name: str, start: Start) -> None:
    stopping = Stopping()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopping.request())
    # A signal to the process group would end the JVM in the middle of a batch, so the forked child ignores it, and the
    # JVM inherits that. This process must not ignore it, or a signal during the start would be lost.
    os.register_at_fork(after_in_child=_ignore_signals)
    spark = runtime.session(name, {**runtime.WITHOUT_AGENT, "spark.sql.streaming.stopTimeout": f"{STOP_SECONDS}s"})
    lineage = QueryLineage(spark, JOB_NAMESPACE, os.environ.get("LINEAGE_URL", ""))
    try:
        try:
            if not stopping.is_requested:
                _await_end(start(spark, lineage, stopping), stopping)
        finally:
            lineage.close()
    except (Py4JError, OSError) as error:
        code = _exit_code_of_jvm(spark)
        if code is None:
            raise
        raise JobError(
            f"the JVM of the driver exited with code {code}: it was killed, or ran out of memory. See its last "
            "log lines above, then restart the job"
        ) from error
    spark.stop()


def _await_end(query: StreamingQuery, stopping: Stopping) -> None:
    try:
        while query.isActive and not stopping.is_requested:
            query.awaitTermination(POLL_SECONDS)  # type: ignore[arg-type]  # accepts fractions
        if not stopping.is_requested:
            query.awaitTermination()  # raises the cause of a failure
    except StreamingQueryException as error:
        raise kafka.with_data_loss_remedy(stopping.failure or error) from error
    else:
        if stopping.is_requested:
            stopping.stop(query)


def _exit_code_of_jvm(spark: SparkSession) -> int | None:
    """Return the exit code of the JVM; None while it runs."""
    gateway: JavaObject = spark.sparkContext._gateway
    process: subprocess.Popen[bytes] = gateway.proc
    try:
        return process.wait(JVM_SECONDS)
    except subprocess.TimeoutExpired:
        return None


def _ignore_signals() -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)


def _stop(query: StreamingQuery) -> None:
    try:
        query.stop()
    except (Py4JJavaError, StreamingQueryException) as error:
        log.warning("the query did not stop in %d s: %s", STOP_SECONDS, runtime.root_cause(error))
