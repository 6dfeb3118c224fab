# SPDX-License-Identifier: Apache-2.0
"""Launcher of PySpark drivers: `python -m lineagelab_spark.launch [--application NAME] MODULE [ARGUMENT...]`.

The driver is a child process, so that its launcher can report its end when it is killed:

- With `--application`, OpenLineage's agent listens in the driver and gets the application's name and run id from the
  launcher. The agent reports COMPLETE however the process ends; where it failed, the launcher reports FAIL, which
  takes precedence.
- Runs that the driver had open when it was killed (`LINEAGE_OPEN_RUNS`) are ended. Events that the lineage service
  does not accept, and those of a launcher that was itself killed, are sent by the next launch.
- SIGTERM and SIGINT reach the driver's Python process only: Spark's JVM would exit at once, in the middle of a batch.
  The driver dies with a killed launcher.

The exit code is the driver's; after a signal, it is 128 plus the signal's number. A driver that succeeds costs no
request. This process stays resident beside every driver, so it imports neither PySpark nor other packages.

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

from lineagelab_common.client import LineageClient
from lineagelab_common.events import Json
from lineagelab_common.files import remove_file
from lineagelab_common.identifiers import DEFAULT_NAMESPACE, ParentRun, now
from lineagelab_common.spool import Spool
from lineagelab_spark.application import ApplicationRun
from lineagelab_spark.launch_process import DriverExit, run_driver
from lineagelab_spark.open_runs import EndType, OpenRuns, take_terminal_events

LINEAGE_URL = "LINEAGE_URL"
OPEN_RUNS = "LINEAGE_OPEN_RUNS"
PARENT = "OPENLINEAGE_PARENT_ID"
NAMESPACE = "OPENLINEAGE_NAMESPACE"
SUBMIT = "PYSPARK_SUBMIT_ARGS"
CLASS_DATA = "CLASS_DATA"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the driver; return its exit code."""
    return launch(arguments).exit_code


def launch(arguments: Sequence[str] | None = None) -> DriverExit:
    """Run the driver; return how it ended."""
    given = _parse(arguments)
    with TemporaryDirectory(prefix="launch-") as scratch:
        path = os.environ.get(OPEN_RUNS) or os.path.join(scratch, "open_runs.json")
        return _launch(given, Reporter(path, os.environ.get(LINEAGE_URL, "")))


class Reporter:
    """Reports the ends of runs that a driver left open.

    Args:
        path: file of the driver's open runs; the application's and undelivered events are kept beside it.
        url: root of the lineage service; empty for none.
    """

    def __init__(self, path: str, url: str) -> None:
        self.path = path
        self._files = (Path(path), Path(f"{path}.application"))
        self._undelivered = Path(f"{path}.undelivered")
        self._url = url
        self._application = OpenRuns(self._files[1])

    def begin(self, run: ApplicationRun) -> None:
        """Keep the run of an application until its end is known."""
        self._application.store_unreported(run.event, run.began)

    def end_application(self) -> None:
        """Remove the application's run: the agent has reported its end."""
        remove_file(self._files[1])

    def end_open_runs(self, event_type: EndType, reason: str) -> None:
        """Send the ends of open runs, and what earlier launches could not deliver. Never raises."""
        events = [event for file in self._files for event in take_terminal_events(file, event_type, reason, now())]
        if not self._url:
            return
        spool = Spool(self._url, self._undelivered, is_needed=self._is_needed, background=False)
        for event in events:
            try:
                spool.add(event)
            except OSError as error:
                print(f"cannot keep lineage events for a retry: {error}", file=sys.stderr)
        spool.flush()

    def _is_needed(self, event: Json) -> bool:
        """Return False for the START of a run that the agent has reported."""
        return event["eventType"] != "START" or not LineageClient(self._url).has_run(event["run"]["runId"])


def _launch(given: argparse.Namespace, reporter: Reporter) -> DriverExit:
    reporter.end_open_runs("FAIL", "the driver and its launcher were killed")
    application = None
    if given.application:
        application = ApplicationRun.begin(os.environ.get(NAMESPACE) or DEFAULT_NAMESPACE, given.application)
        reporter.begin(application)
    java_options = class_data_options(os.environ.get(CLASS_DATA, ""))
    environment = driver_environment({**os.environ, OPEN_RUNS: reporter.path}, application, java_options)
    ending = run_driver([sys.executable, "-m", given.module, *given.arguments], environment)
    if ending.succeeded:
        reporter.end_application()
    reporter.end_open_runs("ABORT" if ending.stop_requested else "FAIL", str(ending))
    return ending


def driver_environment(
    environment: Mapping[str, str], application: ApplicationRun | None, java_options: str = ""
) -> dict[str, str]:
    """Return the driver's environment; with an application, its agent gets name, run id and parent of the run.

    `OPENLINEAGE_PARENT_ID` then names the application, as the parent of all that the driver starts. `java_options`
    are for the JVMs of driver and executors.
    """
    conf = {f"spark.{part}.extraJavaOptions": java_options for part in ("driver", "executor") if java_options}
    more = {}
    if application:
        conf |= _agent_settings(application, _parent(environment.get(PARENT, "")))
        more[PARENT] = str(application.as_parent)
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
        problem = f"{archive} was modified after it was created"
    print(f"class data archive not used, the driver starts slower: {problem}", file=sys.stderr)
    return ""


def _agent_settings(application: ApplicationRun, parent: ParentRun | None) -> dict[str, str]:
    conf = {"appName": application.job, "applicationRunId": application.run_id}
    if parent:
        conf |= {"parentJobNamespace": parent.namespace, "parentJobName": parent.job, "parentRunId": parent.run_id}
    return {f"spark.openlineage.{name}": value for name, value in conf.items()}


def _parent(text: str) -> ParentRun | None:
    try:
        return ParentRun.parse(text) if text else None
    except ValueError as error:
        print(f"{PARENT} is ignored: {error}", file=sys.stderr)
        return None


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="lineagelab-spark", description="Run a PySpark driver, and report its end to a lineage service."
    )
    parser.add_argument("--application", default="", help="lineage job of the application; needs OpenLineage's agent")
    parser.add_argument("module", help="module of the driver, as for `python -m`")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="arguments of the driver")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    raise SystemExit(main())
