# SPDX-License-Identifier: Apache-2.0
"""Listener of Spark's SQL executions, called by the JVM through py4j."""

from typing import ClassVar

from pyspark import SparkContext
from pyspark.java_gateway import ensure_callback_server_started
from pyspark.sql import SparkSession

from lineagelab_spark.batch_observer import BatchObserver
from lineagelab_spark.java import JavaObject


class ExecutionListener:
    """Implementation of Java's `QueryExecutionListener`; Spark calls it on a thread of its listeners, afterwards."""

    def __init__(self, observer: BatchObserver) -> None:
        self._observer = observer

    def onSuccess(self, action: str, execution: JavaObject, nanoseconds: int) -> None:
        """Report an execution that has succeeded."""
        self._observer.succeeded(action, execution)

    def onFailure(self, action: str, execution: JavaObject, error: JavaObject) -> None:
        """Report an execution that has failed."""
        self._observer.failed(execution, error)

    class Java:
        """Interfaces, for py4j."""

        implements: ClassVar = ["org.apache.spark.sql.util.QueryExecutionListener"]


def register(spark: SparkSession, listener: ExecutionListener) -> None:
    """Register a listener with a session; sessions that are cloned from it later have it too."""
    ensure_callback_server_started(SparkContext._gateway)  # type: ignore[no-untyped-call]
    spark._jsparkSession.listenerManager().register(listener)


def drain(spark: SparkSession, milliseconds: int) -> None:
    """Wait until Spark has called its listeners for what has happened so far.

    Raises:
        Py4JJavaError: they have not returned within the time.
        OSError: the Spark context has stopped.
    """
    context = spark.sparkContext._jsc
    if context is None:
        raise OSError("the Spark context has stopped")
    context.sc().listenerBus().waitUntilEmpty(milliseconds)
