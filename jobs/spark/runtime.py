# SPDX-License-Identifier: Apache-2.0
"""What every job does around its work: settings, session, lineage, exit code.

Master, catalog, class path and lineage agent are settings of the launcher (`PYSPARK_SUBMIT_ARGS`,
`--properties-file`); object-store credentials are in `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY`, where the
AWS SDK looks for them itself.
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

from infra.namespaces import JOBS
from lineagelab_spark import Lineage, NoLineage, SparkLineage

EXIT_FAILED = 1
EXIT_SETTINGS = 2

WITHOUT_AGENT = {"spark.extraListeners": ""}
"""Settings of a session whose lineage OpenLineage's agent cannot tell, or that has none."""

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


def number(name: str, default: int) -> int:
    """A positive whole number from the environment.

    Raises:
        SettingError: it is something else.
    """
    text = os.environ.get(name, "") or str(default)
    if not re.fullmatch(r"\d{1,18}", text) or not int(text):
        raise SettingError(f"environment variable {name} is {text!r}, which is no positive whole number")
    return int(text)


_UNITS = {
    **dict.fromkeys(("", "s", "second", "seconds"), 1),
    **dict.fromkeys(("m", "min", "minute", "minutes"), 60),
    **dict.fromkeys(("h", "hour", "hours"), 60 * 60),
    **dict.fromkeys(("d", "day", "days"), 24 * 60 * 60),
}


def seconds(name: str, default: str) -> int:
    """A duration from the environment: `90`, `5 seconds`, `10 min`, `1h`.

    Raises:
        SettingError: it is something else, or no time at all.
    """
    text = os.environ.get(name, "") or default
    found = re.fullmatch(r"(\d{1,9}) ?([a-z]*)", text.strip().lower())
    unit = _UNITS.get(found[2]) if found else None
    if found is None or unit is None or not int(found[1]):
        raise SettingError(f"environment variable {name} is {text!r}, which is no duration such as '5 seconds' or '1h'")
    return int(found[1]) * unit


def run(application: str, prepare: Callable[[], Body], settings: Mapping[str, str] | None = None) -> int:
    """Runs a job to its end: 0, or 1 with the root cause as the last lines on stderr, or 2 for its settings.

    Args:
        application: the fixed name of the job, Spark's `spark.app.name` and lineage's parent job.
        prepare: reads the settings of the job, before seconds go into a session.
        settings: of the session, above those of the launcher.
    """
    return exit_code(application, lambda: _run(application, prepare(), settings or {}))


def exit_code(application: str, work: Callable[[], None]) -> int:
    """Does some work, and says how it ended in the way of `run`."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    for talkative in ("py4j", "openlineage"):
        logging.getLogger(talkative).setLevel(logging.WARNING)
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
    """The session of a driver."""
    return SparkSession.builder.appName(application).config(map=dict(settings)).getOrCreate()


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
    """Where `LINEAGE_URL` is not set, nobody listens."""
    url = os.environ.get("LINEAGE_URL", "")
    return SparkLineage(spark, JOBS, url) if url else NoLineage()
