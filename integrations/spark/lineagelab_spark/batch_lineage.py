# SPDX-License-Identifier: Apache-2.0
"""Lineage of every batch write of a driver, without a call per write.

    lineage = observe(spark, namespace="shop", url="http://127.0.0.1:5000")
    ...                                # the driver's own code
    spark.stop()                       # or lineage.close()

Each write is a run: START with its real begin, then COMPLETE, FAIL or ABORT, with columns from the plan that ran.
"""

import atexit
import functools
import logging
import threading
from collections.abc import Callable, Mapping
from typing import Any

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from lineagelab_spark import execution_listener
from lineagelab_spark.batch_observer import BatchObserver
from lineagelab_spark.classic_session import require_classic
from lineagelab_spark.driver_settings import DriverSettings, open_spool
from lineagelab_spark.execution_listener import ExecutionListener
from lineagelab_spark.query_status import JVM_GONE

POLL_INTERVAL = 1.0
"""Seconds between looks at running executions: shorter writes are reported at their end."""

DRAIN_MILLISECONDS = 10_000
"""Maximum wait of `close` for Spark to report the executions that have ended."""

CLOSE_TIMEOUT = 5.0
"""Maximum wait of `close` for the delivery of events, in seconds."""

log = logging.getLogger(__name__)


class BatchLineage:
    """Reporter of the batch writes of one Spark context. It never fails or delays them."""

    def __init__(self, spark: SparkSession, settings: DriverSettings) -> None:
        self._spark = spark
        self._spool = settings.spool
        self._observer = BatchObserver(spark, settings)
        self._sessions: set[str] = set()
        self._listener = ExecutionListener(self._observer)
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._poll, name="lineage of running writes", daemon=True)
        self._lock = threading.Lock()
        self._restore_stop: Callable[[], None] = lambda: None

    def start(self) -> None:
        """Start to observe."""
        self.add(self._spark)
        self._thread.start()
        atexit.register(self.close)
        self._close_before_stop()

    def add(self, spark: SparkSession) -> None:
        """Observe another session of the same Spark context."""
        identity = str(spark._jsparkSession.sessionUUID())
        if identity not in self._sessions:
            self._sessions.add(identity)
            execution_listener.register(spark, self._listener)

    def close(self) -> None:
        """Report what has ended, ABORT for what still runs, and wait for delivery. Idempotent.

        It happens by itself when the driver calls `spark.stop()`, and at the exit of the process.
        """
        with self._lock:
            if self._closed.is_set():
                return
            self._closed.set()
        atexit.unregister(self.close)
        self._restore_stop()
        self._thread.join(CLOSE_TIMEOUT)
        try:
            execution_listener.drain(self._spark, DRAIN_MILLISECONDS)
            self._observer.profile()
            self._observer.stop()
        except (*JVM_GONE, Py4JError) as error:
            log.warning("Spark did not report its last writes, they may lack lineage: %s", error)
        self._spool.close(CLOSE_TIMEOUT)

    def _close_before_stop(self) -> None:
        """Close when the driver stops its Spark context: afterwards, Spark has nothing left to report."""
        context: Any = self._spark.sparkContext
        stop = context.stop

        @functools.wraps(stop)
        def stop_observed() -> None:
            self.close()
            stop()

        def restore() -> None:
            if context.stop is stop_observed:
                context.stop = stop

        context.stop = stop_observed
        self._restore_stop = restore

    def _poll(self) -> None:
        while not self._closed.wait(POLL_INTERVAL):
            self._observer.poll()


def observe(
    spark: SparkSession,
    namespace: str | None = None,
    url: str | None = None,
    *,
    config: Mapping[str, Any] | None = None,
) -> BatchLineage:
    """Report every batch write of a session.

    Args:
        spark: session of the driver; not one of Spark Connect, whose plans are on the server.
        namespace: job namespace; None: `OPENLINEAGE_NAMESPACE`. Jobs are named APPLICATION.COMMAND.TABLE, as
            OpenLineage's agent names them.
        url: root of a lineage service; None: OpenLineage's configuration names the receiver (`openlineage.yml`,
            `OPENLINEAGE_URL` and other variables); empty: events are discarded.
        config: OpenLineage configuration in the form of `openlineage.yml`, instead of a url.

    Environment: `LINEAGE_SPOOL` is a file that keeps undelivered events across restarts; `OPENLINEAGE_PARENT_ID`
    (`namespace/name/runId`) is the parent of the runs; `LINEAGE_OPEN_RUNS` is the file of open runs, which the launcher
    ends if this process is killed; `LINEAGE_PROFILE_ROWS` is the number of rows up to which the Iceberg tables that it
    has written are profiled at its end.

    Raises:
        SparkConnectError: the session is one of Spark Connect; a TypeError.
        ConfigurationError: the configuration is invalid, or no receiver is configured; a ValueError.
    """
    require_classic(spark, "observe the writes of a session")
    lineage = BatchLineage(spark, DriverSettings.of(spark, namespace, open_spool(url, config)))
    lineage.start()
    return lineage
