# SPDX-License-Identifier: Apache-2.0
"""Run a PySpark module with lineage of its batch writes: `python -m lineagelab_spark.observed MODULE [ARGUMENT...]`.

The module is not changed and needs no call: every classic session that it creates is observed from its creation until
its Spark context stops. Of a session of Spark Connect, whose plans are on the server, a warning says that its writes
have no lineage. Used by the launcher.

Environment: `LINEAGE_URL`, `OPENLINEAGE_NAMESPACE`, and that of `lineagelab_spark.batch_lineage`.
"""

import functools
import logging
import os
import runpy
import sys
from typing import Any

from pyspark import SparkContext
from pyspark.sql import SparkSession

from lineagelab_common.identifiers import DEFAULT_NAMESPACE
from lineagelab_spark.batch_lineage import BatchLineage, observe
from lineagelab_spark.classic_session import SparkConnectError, require_classic

log = logging.getLogger(__name__)


class Sessions:
    """Lineage of the sessions of this process: one reporter for each Spark context."""

    def __init__(self, namespace: str, url: str) -> None:
        self._namespace = namespace
        self._url = url
        self._lineage: BatchLineage | None = None
        self._warned = False

    def created(self, spark: SparkSession) -> None:
        """Observe a new session. Never raises: lineage must not fail the job."""
        try:
            if self._lineage is None:
                self._lineage = observe(spark, self._namespace, self._url)
            else:
                self._lineage.add(spark)
        except Exception:
            log.warning("a Spark session is not observed, its writes have no lineage", exc_info=True)

    def returned(self, spark: SparkSession) -> None:
        """Warn of a session that cannot be observed, once."""
        try:
            require_classic(spark, "observe the writes of a session")
        except SparkConnectError as error:
            if not self._warned:
                log.warning("the writes of this driver have no lineage: %s", error)
            self._warned = True

    def stopping(self) -> None:
        """Report what is left of the Spark context that is about to stop."""
        lineage, self._lineage = self._lineage, None
        if lineage is not None:
            try:
                lineage.close()
            except Exception:
                log.warning("the last writes of a Spark context may lack lineage", exc_info=True)


def install(sessions: Sessions) -> None:
    """Observe every classic session that is created from now on."""
    create, build, stop = SparkSession.__init__, SparkSession.Builder.getOrCreate, SparkContext.stop

    @functools.wraps(create)
    def observed_create(self: SparkSession, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - as wrapped
        create(self, *args, **kwargs)
        sessions.created(self)

    @functools.wraps(build)
    def observed_build(self: SparkSession.Builder) -> SparkSession:
        spark = build(self)
        sessions.returned(spark)
        return spark

    @functools.wraps(stop)
    def observed_stop(self: SparkContext) -> None:
        sessions.stopping()
        stop(self)

    SparkSession.__init__ = observed_create  # type: ignore[method-assign]
    SparkSession.Builder.getOrCreate = observed_build  # type: ignore[method-assign]
    SparkContext.stop = observed_stop  # type: ignore[method-assign]


def main(arguments: list[str]) -> None:
    """Run a module as `python -m` does. Its threads may write after it has returned: lineage closes at the exit."""
    url = os.environ.get("LINEAGE_URL", "")
    sessions = Sessions(os.environ.get("OPENLINEAGE_NAMESPACE") or DEFAULT_NAMESPACE, url)
    if url:
        install(sessions)
    sys.argv = arguments
    runpy.run_module(arguments[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main(sys.argv[1:])
