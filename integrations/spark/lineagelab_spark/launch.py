# SPDX-License-Identifier: Apache-2.0
"""Launcher of PySpark drivers: `python -m lineagelab_spark.launch [OPTION...] MODULE [ARGUMENT...]`.

The driver is a child process, so that its launcher can report its end when it is killed:

- With `--application` and `--observe`, `lineagelab_spark.observed` reports each batch write of the driver, and the
  launcher the run of the application.
- With `--application` alone, OpenLineage's agent listens in the driver and gets the application's name and run id from
  the launcher. The agent reports COMPLETE however the process ends; where it failed, the launcher reports FAIL, which
  takes precedence.
- Runs that the driver had open when it was killed (`LINEAGE_OPEN_RUNS`) are ended. Events that the lineage service
  does not accept, and those of a launcher that was itself killed, are sent by the next launch, as soon as the service
  accepts them.
- SIGTERM and SIGINT reach the driver's Python process only: Spark's JVM would exit at once, in the middle of a batch.
  The driver dies with a killed launcher.

The exit code is the driver's; after a signal, it is 128 plus the signal's number. This process stays resident beside
every driver, so it imports neither PySpark nor other packages.

Environment: `PYSPARK_SUBMIT_ARGS`; optional `LINEAGE_URL`, `OPENLINEAGE_NAMESPACE`, `LINEAGE_OPEN_RUNS`,
`OPENLINEAGE_PARENT_ID` and `OPENLINEAGE_ROOT_PARENT_ID` (parent of the application's run, and the first run of the
hierarchy), `CLASS_DATA` (class data archive that makes the JVM start faster), `SPARK_PYTHON_PACKAGES` (folder of
further packages, which driver and executors can import).
"""

import argparse
import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory

from lineagelab_common.client import LineageClient
from lineagelab_common.events import Json
from lineagelab_common.files import remove_file
from lineagelab_common.identifiers import DEFAULT_NAMESPACE, PARENT, now
from lineagelab_common.open_runs import EndType, OpenRuns, take_terminal_events
from lineagelab_common.spool import Spool
from lineagelab_spark.application import ApplicationRun
from lineagelab_spark.driver_settings import OPEN_RUNS, parent_run
from lineagelab_spark.file_owner import own_file
from lineagelab_spark.launch_process import DriverExit, run_driver

LINEAGE_URL = "LINEAGE_URL"
NAMESPACE = "OPENLINEAGE_NAMESPACE"
SUBMIT = "PYSPARK_SUBMIT_ARGS"
CLASS_DATA = "CLASS_DATA"
PACKAGES = "SPARK_PYTHON_PACKAGES"
PYTHON_PATH = "PYTHONPATH"

OBSERVER = "lineagelab_spark.observed"
"""Module that runs a driver with lineage of its writes."""

DELIVERY_TIMEOUT = 2.0
"""Seconds that the launcher waits at the driver's end for the delivery of events that are still queued."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the driver; return its exit code."""
    return launch(arguments).exit_code


def launch(arguments: Sequence[str] | None = None) -> DriverExit:
    """Run the driver; return how it ended."""
    given = _parse(arguments)
    with TemporaryDirectory(prefix="launch-") as scratch:
        url, private = os.environ.get(LINEAGE_URL, ""), Path(scratch, "open_runs.json")
        named = os.environ.get(OPEN_RUNS)
        with (
            own_file(Path(named), private) if named and url else nullcontext(Path(named or private)) as path,
            closing(Reporter(str(path), url)) as reporter,
        ):
            return _launch(given, reporter)


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
        self._start: Spool | None = None
        self._retries: Spool | None = None

    def begin(self, run: ApplicationRun, *, report: bool) -> None:
        """Keep the run of an application until its end is known.

        Args:
            run: run of the application.
            report: send its START, in the background: the agent does not.
        """
        self._application.store_unreported(run.event, run.began)
        if report and self._url:
            self._start = Spool(self._url)
            self._start.add({**run.event, "eventType": "START", "eventTime": run.began})

    def retry(self) -> None:
        """Send what is undelivered, and all that follows, in the background: a driver may run for months."""
        if self._url and self._undelivered.exists():
            self._retries = Spool(self._url, self._undelivered, is_needed=self._is_needed)

    def close(self) -> None:
        """Wait shortly for events in the background; those that are left are kept for the next launch."""
        if self._retries is not None:
            self._retries.close(DELIVERY_TIMEOUT)

    def end_application(self) -> None:
        """Report the success of the application; where the agent has reported its end, remove the run."""
        if self._start is None:
            remove_file(self._files[1])
        else:
            self._send(take_terminal_events(self._files[1], "COMPLETE", "", now()))

    def end_open_runs(self, event_type: EndType, reason: str) -> None:
        """Send the ends of open runs, and what earlier launches could not deliver. Never raises."""
        self._send([event for file in self._files for event in take_terminal_events(file, event_type, reason, now())])

    def _send(self, events: Sequence[Json]) -> None:
        if not self._url:
            return
        if self._start is not None:
            self._start.close(DELIVERY_TIMEOUT)
        spool = self._retries
        if spool is None:
            spool = Spool(self._url, self._undelivered, is_needed=self._is_needed, background=False)
        for event in events:
            try:
                spool.add(event)
            except OSError as error:
                print(f"cannot keep lineage events for a retry: {error}", file=sys.stderr)
        if self._retries is None:
            spool.flush()

    def _is_needed(self, event: Json) -> bool:
        """Return False for the START of a run that the agent has reported."""
        return event["eventType"] != "START" or not LineageClient(self._url).has_run(event["run"]["runId"])


def _launch(given: argparse.Namespace, reporter: Reporter) -> DriverExit:
    reporter.end_open_runs("FAIL", "the driver and its launcher were killed")
    reporter.retry()
    application = None
    if given.application:
        namespace = os.environ.get(NAMESPACE) or DEFAULT_NAMESPACE
        application = ApplicationRun.begin(namespace, given.application, parent_run(os.environ))
        reporter.begin(application, report=given.observe)
    java_options = class_data_options(os.environ.get(CLASS_DATA, ""))
    variables = {**os.environ, OPEN_RUNS: reporter.path}
    environment = driver_environment(variables, application, java_options, has_agent=not given.observe)
    modules = (OBSERVER, given.module) if given.observe else (given.module,)
    ending = run_driver([sys.executable, "-m", *modules, *given.arguments], environment)
    if ending.succeeded:
        reporter.end_application()
    reporter.end_open_runs("ABORT" if ending.stop_requested else "FAIL", str(ending))
    return ending


def driver_environment(
    environment: Mapping[str, str],
    application: ApplicationRun | None,
    java_options: str = "",
    *,
    has_agent: bool = True,
) -> dict[str, str]:
    """Return the driver's environment; with an application, its agent gets name, run id and parent of the run.

    Packages of `SPARK_PYTHON_PACKAGES` are found after those of the `PYTHONPATH`, and before installed ones.
    `OPENLINEAGE_PARENT_ID` then names the application, as the parent of all that the driver starts. `java_options`
    are for the JVMs of driver and executors.
    """
    conf = {f"spark.{part}.extraJavaOptions": java_options for part in ("driver", "executor") if java_options}
    more = {}
    if packages := environment.get(PACKAGES):
        # Spark appends it to the paths of its own that workers of the executors have.
        conf[f"spark.executorEnv.{PYTHON_PATH}"] = packages
        more[PYTHON_PATH] = os.pathsep.join(path for path in (environment.get(PYTHON_PATH), packages) if path)
    if application:
        if has_agent:
            conf |= _agent_settings(application)
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


def _agent_settings(application: ApplicationRun) -> dict[str, str]:
    conf = {"appName": application.job, "applicationRunId": application.run_id}
    if parent := application.parent:
        conf |= {"parentJobNamespace": parent.namespace, "parentJobName": parent.job, "parentRunId": parent.run_id}
        if root := parent.root:
            conf |= {"rootParentJobNamespace": root.namespace, "rootParentJobName": root.job}
            conf |= {"rootParentRunId": root.run_id}
    return {f"spark.openlineage.{name}": value for name, value in conf.items()}


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="lineagelab-spark", description="Run a PySpark driver, and report its end to a lineage service."
    )
    parser.add_argument(
        "--application", default="", help="lineage job of the application; without --observe, for OpenLineage's agent"
    )
    parser.add_argument(
        "--observe", action="store_true", help="report each batch write of the driver, and the application's run"
    )
    parser.add_argument("module", help="module of the driver, as for `python -m`")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="arguments of the driver")
    given = parser.parse_args(arguments)
    if given.observe and not given.application:
        parser.error("--observe needs --application")
    return given


if __name__ == "__main__":
    raise SystemExit(main())
