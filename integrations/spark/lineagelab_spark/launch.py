# SPDX-License-Identifier: Apache-2.0
"""Starts a driver and sees to its end: `python -m lineagelab_spark.launch [--application NAME] MODULE [ARGUMENT...]`.

The driver is a process of its own, so that somebody is left to speak when it is killed. What the launcher adds:

- With `--application`, OpenLineage's agent is on: it gets that name, and a run id that the launcher knows. The agent
  says COMPLETE however the process ends; where that was not well, the launcher says FAIL, which stands above it.
- Runs that the driver had under way when it was killed (`LINEAGE_OPEN_RUNS`) are ended. What cannot be said now, as
  the lineage service is away or the launcher itself was killed, is said when the job is launched again.
- SIGTERM and SIGINT reach the driver's Python alone: Spark's JVM would leave at once, in the middle of a batch. A
  launcher that is killed takes its driver with it.

The exit code is the driver's; one that a signal ended gives 128 and the signal's number, as in a shell. A driver that
ends well costs no request. Beside what is the project's own, only the standard library is imported: this process stays
beside every driver.

Environment: `PYSPARK_SUBMIT_ARGS`; optional `LINEAGE_URL`, `OPENLINEAGE_NAMESPACE`, `LINEAGE_OPEN_RUNS`,
`OPENLINEAGE_PARENT_ID` (parent of the application's run), `CLASS_DATA` (class data archive that makes the JVM start
faster).
"""

import argparse
import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from lineagelab_spark.launch_process import Ending, run_to_its_end
from lineagelab_spark.launch_runs import EndingType, OpenRuns, Run, Untold, parent_of

LINEAGE_URL = "LINEAGE_URL"
OPEN_RUNS = "LINEAGE_OPEN_RUNS"
PARENT = "OPENLINEAGE_PARENT_ID"
NAMESPACE = "OPENLINEAGE_NAMESPACE"
DEFAULT_NAMESPACE = "default"
"""OpenLineage's own default for the namespace of jobs."""

SUBMIT = "PYSPARK_SUBMIT_ARGS"
CLASS_DATA = "CLASS_DATA"


def main(arguments: Sequence[str]) -> int:
    """Runs the driver; returns its exit code."""
    return launch(arguments).exit_code


def launch(arguments: Sequence[str]) -> Ending:
    """Runs the driver; returns how it ended."""
    given = _parsed(arguments)
    with TemporaryDirectory(prefix="launch-") as scratch:
        place = os.environ.get(OPEN_RUNS) or os.path.join(scratch, "open_runs.json")
        return _launch(given, place, os.environ.get(LINEAGE_URL, ""))


def _launch(given: argparse.Namespace, place: str, url: str) -> Ending:
    of_driver, of_application = OpenRuns(Path(place)), OpenRuns(Path(f"{place}.application"))
    books, untold = (of_driver, of_application), Untold(Path(f"{place}.untold"))
    _close(books, untold, url, "FAIL", "the driver and its launcher were killed")
    namespace = os.environ.get(NAMESPACE) or DEFAULT_NAMESPACE
    application = Run.begin(namespace, given.application) if given.application else None
    if application:
        of_application.keep(application)
    java_options = class_data_options(os.environ.get(CLASS_DATA, ""))
    environment = driver_environment({**os.environ, OPEN_RUNS: place}, application, java_options)
    ending = run_to_its_end([sys.executable, "-m", given.module, *given.arguments], environment)
    if ending.well:
        of_application.forget()  # the agent has said so
    _close(books, untold, url, "ABORT" if ending.was_asked_for else "FAIL", str(ending))
    return ending


def driver_environment(
    environment: Mapping[str, str], application: Run | None, java_options: str = ""
) -> dict[str, str]:
    """The driver's environment: with an application, the agent knows its name, its run id and its parent.

    `OPENLINEAGE_PARENT_ID` then names the application, so that whatever else the driver starts belongs to it.
    `java_options` are for the JVMs of driver and executors.
    """
    conf = {f"spark.{part}.extraJavaOptions": java_options for part in ("driver", "executor") if java_options}
    more = {}
    if application:
        conf |= _of_agent(application, parent_of(environment.get(PARENT, "")))
        more[PARENT] = application.as_parent
    words = [f"--conf {shlex.quote(f'{name}={value}')}" for name, value in conf.items()]
    if words:
        more[SUBMIT] = " ".join([*words, environment.get(SUBMIT, "pyspark-shell")])
    return {**environment, **more}


def class_data_options(archive: str) -> str:
    """JVM option for a class data sharing (CDS) archive; empty, with a warning, where the archive is not intact.

    The JVM ignores an archive that does not fit its class path, but crashes (SIGBUS) on a truncated one, even with
    `-XX:+VerifySharedSpaces`. So `ARCHIVE.stat` holds its size and modification time, `SIZE MTIME_NS`, for comparison.
    """
    if not archive:
        return ""
    try:
        expected = Path(f"{archive}.stat").read_text(encoding="ascii").split()
        found = os.stat(archive)
    except OSError as error:
        problem = f"cannot read {error.filename}: {error.strerror}"
    else:
        if expected == [str(found.st_size), str(found.st_mtime_ns)]:
            return f"-XX:SharedArchiveFile={archive}"
        problem = f"{archive} was modified after it was made"
    print(f"class data archive not used, the driver starts slower: {problem}", file=sys.stderr)
    return ""


def _of_agent(application: Run, parent: tuple[str, str, str] | None) -> dict[str, str]:
    conf = {"appName": application.job, "applicationRunId": application.run_id}
    if parent:
        namespace, job, run = parent
        conf |= {"parentJobNamespace": namespace, "parentJobName": job, "parentRunId": run}
    return {f"spark.openlineage.{name}": value for name, value in conf.items()}


def _parsed(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="lineagelab_spark.launch", description="Starts a PySpark driver.")
    parser.add_argument("--application", default="", help="the agent is on; this is the job it speaks of")
    parser.add_argument("module", help="what `python -m` runs")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="for the module")
    return parser.parse_args(arguments)


def _close(books: Sequence[OpenRuns], untold: Untold, url: str, event_type: EndingType, why: str) -> None:
    """Ends what is open. Without a service there is nobody to tell."""
    endings = [event for book in books for event in book.endings(event_type, why)]
    for book in books:
        book.forget()
    if url:
        untold.tell(url, endings)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
