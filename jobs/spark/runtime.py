# SPDX-License-Identifier: Apache-2.0
"""Job runtime: settings, session, lineage and exit code.

Master, catalog, class path and lineage agent are settings of the launcher (`PYSPARK_SUBMIT_ARGS`,
`--properties-file`); object-store credentials are in `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY`, from where the
AWS SDK reads them.
"""

import logging
import os
import re
import sys
import traceback
from collections.abc import Callable, Mapping

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from infra.namespaces import JOB_NAMESPACE
from lineagelab_spark import Lineage, NoLineage, SparkLineage

EXIT_FAILED = 1
EXIT_SETTINGS = 2

WITHOUT_AGENT = {"spark.extraListeners": ""}
"""Session settings that disable OpenLineage's agent."""

log = logging.getLogger(__name__)


class JobError(Exception):
    """Failure of a job. The message has the operation, its target and a remedy."""


class SettingError(Exception):
    """A setting is missing or invalid."""


Body = Callable[[SparkSession, Lineage], None]
"""Body of a batch job."""


def setting(name: str, meaning: str) -> str:
    """Return a setting from the environment.

    Raises:
        SettingError: the variable is not set.
    """
    value = os.environ.get(name, "")
    if not value:
        raise SettingError(f"environment variable {name} is not set: {meaning}")
    return value


def number(name: str, default: int) -> int:
    """Return a positive integer from the environment.

    Raises:
        SettingError: the value is not a positive integer.
    """
    text = os.environ.get(name, "") or str(default)
    if not re.fullmatch(r"\d{1,18}", text) or not int(text):
        raise SettingError(f"environment variable {name} is {text!r}, not a positive integer")
    return int(text)


_UNITS = {
    **dict.fromkeys(("", "s", "second", "seconds"), 1),
    **dict.fromkeys(("m", "min", "minute", "minutes"), 60),
    **dict.fromkeys(("h", "hour", "hours"), 60 * 60),
    **dict.fromkeys(("d", "day", "days"), 24 * 60 * 60),
}


def seconds(name: str, default: str) -> int:
    """Return a duration in seconds from the environment: `90`, `5 seconds`, `10 min`, `1h`.

    Raises:
        SettingError: the value is not a duration, or is zero.
    """
    text = os.environ.get(name, "") or default
    found = re.fullmatch(r"(\d{1,9}) ?([a-z]*)", text.strip().lower())
    unit = _UNITS.get(found[2]) if found else None
    if found is None or unit is None or not int(found[1]):
        raise SettingError(f"environment variable {name} is {text!r}, not a duration such as '5 seconds' or '1h'")
    return int(found[1]) * unit


def run(application: str, prepare: Callable[[], Body], settings: Mapping[str, str] | None = None) -> int:
    """Run a job; return 0, or 1 with the root cause in the last lines of stderr, or 2 for invalid settings.

    Args:
        application: fixed name of the job: Spark's `spark.app.name` and the parent job in lineage.
        prepare: reads the job's settings, before a session is started, which takes seconds.
        settings: session settings, which override those of the launcher.
    """
    return exit_code(application, lambda: _run(application, prepare(), settings or {}))


def exit_code(application: str, work: Callable[[], None]) -> int:
    """Run a function; return its exit code, with errors reported as by `run`."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    for verbose in ("py4j", "openlineage"):
        logging.getLogger(verbose).setLevel(logging.WARNING)
    try:
        work()
    except SettingError as error:
        print(f"{application}: {error}", file=sys.stderr)
        return EXIT_SETTINGS
    except Exception as error:
        traceback.print_exc()
        print(f"{application} failed: {root_cause(error)}", file=sys.stderr)
        return EXIT_FAILED
    return 0


def session(application: str, settings: Mapping[str, str]) -> SparkSession:
    """Return the session of a driver."""
    return SparkSession.builder.appName(application).config(map=dict(settings)).getOrCreate()


def root_cause(error: BaseException) -> str:
    """Return the message of an error's root cause, without stack traces."""
    if isinstance(error, JobError):
        return str(error)
    if isinstance(error, Py4JJavaError):
        thrown = error.java_exception
        while thrown.getCause() is not None:
            thrown = thrown.getCause()
        return str(thrown.toString())
    if isinstance(error, PySparkException):
        # The rest is the plan or the JVM's stack trace, which stderr already has.
        return str(error).partition("\n\nJVM stacktrace")[0].partition(";\n")[0]
    return f"{type(error).__name__}: {error}"


def _run(application: str, body: Body, settings: Mapping[str, str]) -> None:
    spark = session(application, settings)
    try:
        lineage = _lineage(spark)
        try:
            body(spark, lineage)
        finally:
            lineage.close()
    finally:
        spark.stop()


def _lineage(spark: SparkSession) -> Lineage:
    """Return the reporter for `LINEAGE_URL`; a no-op one if that is not set."""
    url = os.environ.get("LINEAGE_URL", "")
    return SparkLineage(spark, JOB_NAMESPACE, url) if url else NoLineage()
