# SPDX-License-Identifier: Apache-2.0
"""What every job does around its work: settings, session, lineage, exit code.

Master, catalog, class path and lineage agent are settings of the launcher (`PYSPARK_SUBMIT_ARGS`,
`--properties-file`); object-store credentials are in `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY`, where the
AWS SDK looks for them itself.
"""

import logging
import os
import sys
import traceback
from collections.abc import Callable

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from infra.namespaces import JOBS
from jobs.spark.lineage import Lineage, NoLineage, SparkLineage

EXIT_FAILED = 1
EXIT_SETTINGS = 2

log = logging.getLogger(__name__)


class JobError(Exception):
    """The job cannot do its work. The message says what was attempted, on what, and what to do next."""


class SettingError(Exception):
    """A setting is missing or makes no sense."""


Body = Callable[[SparkSession, Lineage], None]
"""The work of a job."""


def setting(name: str, meaning: str) -> str:
    """A setting from the environment.

    Raises:
        SettingError: it is not set.
    """
    value = os.environ.get(name, "")
    if not value:
        raise SettingError(f"environment variable {name} is not set: {meaning}")
    return value


def run(application: str, prepare: Callable[[], Body]) -> int:
    """Runs a job to its end: 0, or 1 with the root cause as the last lines on stderr, or 2 for its settings.

    Args:
        application: the fixed name of the job, Spark's `spark.app.name` and lineage's parent job.
        prepare: reads the settings of the job, before seconds go into a session.
    """
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    for talkative in ("py4j", "openlineage"):
        logging.getLogger(talkative).setLevel(logging.WARNING)
    try:
        _run(application, prepare())
    except SettingError as error:
        print(f"{application}: {error}", file=sys.stderr)
        return EXIT_SETTINGS
    except Exception as error:
        traceback.print_exc()
        print(f"{application} failed: {root_cause(error)}", file=sys.stderr)
        return EXIT_FAILED
    return 0


def root_cause(error: BaseException) -> str:
    """The message at the bottom of an error, without stack traces."""
    if isinstance(error, JobError):
        return str(error)
    if isinstance(error, Py4JJavaError):
        thrown = error.java_exception
        while thrown.getCause() is not None:
            thrown = thrown.getCause()
        return str(thrown.toString())
    if isinstance(error, PySparkException):
        # What follows is the plan or the stack of the JVM, and on stderr already.
        return str(error).partition("\n\nJVM stacktrace")[0].partition(";\n")[0]
    return f"{type(error).__name__}: {error}"


def _run(application: str, body: Body) -> None:
    spark = SparkSession.builder.appName(application).getOrCreate()
    try:
        lineage = _lineage(spark)
        try:
            body(spark, lineage)
        finally:
            lineage.close()
    finally:
        spark.stop()


def _lineage(spark: SparkSession) -> Lineage:
    """Where `LINEAGE_URL` is not set, nobody listens."""
    url = os.environ.get("LINEAGE_URL", "")
    return SparkLineage(spark, JOBS, url) if url else NoLineage()
