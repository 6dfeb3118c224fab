# SPDX-License-Identifier: Apache-2.0
"""Runs a streaming query as a service, as `jobs.spark.runtime.run` runs a batch job.

    def prepare() -> Start:                                         # reads settings
        def start(spark, lineage, stopping):                        # starts the query
            writer = spark.readStream. ... .writeStream.queryName("mine").option("checkpointLocation", ...)
            return lineage.to_table(writer, "lake.mine.table")
        return start

    raise SystemExit(streaming.run("mine", prepare))

SIGTERM ends it well: a batch that is being written gets the time to end, and none begins. Functions for
`foreach_batch` go through `stopping.guard` for that. Spark's own listener of OpenLineage is off: of a streaming query
it reports no columns and no outputs, and two runs for each batch; `lineagelab_spark` speaks for the query instead.
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

from infra.namespaces import JOBS
from jobs.spark import kafka, runtime
from jobs.spark.runtime import JobError
from lineagelab_spark import BatchOutputs, QueryLineage
from lineagelab_spark.java import JavaObject

GRACE_SECONDS = 10.0
"""For the batch that is under way when the end is asked for. What it could not write is written after a restart."""

STOP_SECONDS = 10
"""For Spark to let go of the batch after that."""

POLL_SECONDS = 0.5
_GLANCE_SECONDS = 0.05

JVM_SECONDS = 2.0
"""From a connection that broke to the end of the process that broke it."""

_STOPPED = "the query is being stopped"

log = logging.getLogger(__name__)

WriteBatch = Callable[[DataFrame, int, BatchOutputs], None]


class Stopped(Exception):
    """Ends a batch without writing more, since the query is being stopped."""


class Stopping:
    """What the driver's threads know of its end.

    A batch must never return before its rows are written, or Spark takes it for done. So one that finds itself to be
    stopped raises `Stopped`, but not before Spark has been told to stop: it would be a failure of the query.
    """

    def __init__(self) -> None:
        self.is_asked = False
        self._asked = threading.Event()
        self._begun = threading.Event()
        self._idle = threading.Event()
        self._idle.set()
        self.failure: BaseException | None = None

    def ask(self) -> None:
        """Asks for the end. A signal handler may interrupt anything, so that it must not touch a lock."""
        self.is_asked = True

    def wait(self, seconds: float) -> None:
        """Waits within a batch that has nothing half done.

        Raises:
            Stopped: the end was asked for.
        """
        if self._asked.wait(seconds):
            self._until_stop_has_begun()
            raise Stopped(_STOPPED)

    def guard(self, write: WriteBatch) -> WriteBatch:
        """The function for `foreach_batch`: it begins no batch once the end was asked for, and keeps what it raises."""

        def guarded(batch: DataFrame, batch_id: int, outputs: BatchOutputs) -> None:
            self._idle.clear()
            try:
                self.wait(0)
                write(batch, batch_id, outputs)
            except Stopped:
                raise
            except BaseException as error:
                if self._asked.is_set():
                    log.info("the batch that was under way is given up: %s", runtime.root_cause(error))
                    self._until_stop_has_begun()
                    # To tell what it has interrupted, Spark matches the text: over a long one its stack overflows.
                    raise Stopped(_STOPPED) from None
                # Of what Python raises, Spark passes on the text alone.
                self.failure = error
                raise
            finally:
                self._idle.set()

        return guarded

    def stop(self, query: StreamingQuery) -> None:
        """Stops the query, after the batch that is under way if that ends in time."""
        self._asked.set()
        if not self._idle.wait(GRACE_SECONDS):
            log.info("the batch that is under way takes more than %.0f s: it is given up", GRACE_SECONDS)
        # Spark's `stop` returns after the batch, and a batch that waits for `_begun` must not end before it has begun.
        ending = threading.Thread(target=_stop, args=(query,), name="stop")
        ending.start()
        try:
            while ending.is_alive() and query.isActive:
                ending.join(_GLANCE_SECONDS)
        finally:
            self._begun.set()
            ending.join()

    def _until_stop_has_begun(self) -> None:
        self._idle.set()
        self._begun.wait()


class Start(Protocol):
    """Starts the one query of a driver."""

    def __call__(self, spark: SparkSession, lineage: QueryLineage, stopping: Stopping) -> StreamingQuery:
        """Returns the query that runs."""


def run(name: str, prepare: Callable[[], Start]) -> int:
    """Runs a query until it ends or SIGTERM (or Ctrl-C) comes; the exit code is `jobs.spark.runtime.run`'s.

    Args:
        name: of the application, Spark's `spark.app.name`.
        prepare: reads the settings of the job, before seconds go into a session.
    """
    return runtime.exit_code(name, lambda: _run(name, prepare()))


def _run(name: str, start: Start) -> None:
    stopping = Stopping()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopping.ask())
    # A signal that goes to the whole group would end the JVM in the middle of a batch. It keeps ignoring what its
    # parent ignored when it was forked; this process itself must not, or a signal during the launch would be lost.
    os.register_at_fork(after_in_child=_ignore_signals)
    spark = runtime.session(name, {**runtime.WITHOUT_AGENT, "spark.sql.streaming.stopTimeout": f"{STOP_SECONDS}s"})
    lineage = QueryLineage(spark, JOBS, os.environ.get("LINEAGE_URL", ""))
    try:
        try:
            if not stopping.is_asked:
                _until_its_end(start(spark, lineage, stopping), stopping)
        finally:
            lineage.close()
    except (Py4JError, OSError) as error:
        code = _exit_code_of_jvm(spark)
        if code is None:
            raise
        raise JobError(
            f"the JVM of the driver is gone, with exit code {code}: it was killed, or had too little memory. What it "
            "said last is above; then start the job again"
        ) from error
    spark.stop()


def _until_its_end(query: StreamingQuery, stopping: Stopping) -> None:
    try:
        while query.isActive and not stopping.is_asked:
            query.awaitTermination(POLL_SECONDS)  # type: ignore[arg-type]  # which takes fractions
        if not stopping.is_asked:
            query.awaitTermination()  # raises what has ended the query
    except StreamingQueryException as error:
        raise kafka.explained(stopping.failure or error) from error
    else:
        if stopping.is_asked:
            stopping.stop(query)


def _exit_code_of_jvm(spark: SparkSession) -> int | None:
    """None while it runs."""
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
