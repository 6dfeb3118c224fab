# SPDX-License-Identifier: Apache-2.0
"""Command that runs a PyFlink program as a Flink job and supervises it.

    python -m lineagelab_flink.launch_python [OPTION...] FILE.py [ARGUMENT...]

The job is named after the file, and the program submits one job, for which it does not wait. Workers of Python
functions use the interpreter `FLINK_PYTHON`, which has the same path on the TaskManager's host. Flink's Python jar is
on the class path of the cluster. `${NAME}` in arguments stands for a value of the environment (`script.PLACEHOLDERS`).

Column lineage comes from Flink's planner (`python_program`), or is declared in a file (`--columns`). With `--listener`,
OpenLineage's listener reports what the job reads and writes, for the same run, and not its columns. For the life cycle
of the job see `launch_sql`.

Environment: the cluster as for `launch_sql`; `FLINK_PYTHON`, an interpreter with PyFlink of the cluster's release;
`FLINK_PYTHON_GATEWAY` (`python_program`); optional `LINEAGE_URL`, `OPENLINEAGE_NAMESPACE`, `FLINK_STATE`,
`LINEAGE_OPEN_RUNS`, `FLINK_JOB_ID_PREFIX` (`job_id`), values of placeholders.
"""

import argparse
import hashlib
import json
import logging
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from lineagelab_flink import launcher, python_program
from lineagelab_flink.columns_options import add_columns_options
from lineagelab_flink.declared_columns import Aliases
from lineagelab_flink.errors import FlinkError, ScriptError, root_cause
from lineagelab_flink.job_definition import ApplicationProgram
from lineagelab_flink.job_lineage import declared_lineage, derived_lineage
from lineagelab_flink.launcher import EXIT_UNUSABLE
from lineagelab_flink.launcher_state import JobLineage
from lineagelab_flink.rest import FlinkClient
from lineagelab_flink.script import placeholder_values, with_values

PYTHON_DRIVER = "org.apache.flink.client.python.PythonDriver"
"""Main class of PyFlink programs that a JobManager runs."""

SUBMIT_SECONDS = 300.0
"""Timeout of a program that submits its job, on a busy machine."""

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class PyFlink:
    """Installation of PyFlink, and the cluster of its programs.

    Attributes:
        flink_url: of the REST API of a session cluster; empty for jobs with a cluster of their own.
        python: interpreter with PyFlink.
    """

    flink_url: str
    python: str


class PythonJob:
    """A PyFlink program as a Flink job.

    Args:
        file: the program.
        arguments: of the program.
        pyflink: how it is run.
        derives_lineage: column lineage is derived with Flink's planner, unless `columns` is given.
        columns: declaration of the job's column lineage; None for none.
        aliases: of the namespaces in that declaration.
        modules: files that the program and its Python functions import.

    Raises:
        OSError: a file cannot be read.
    """

    job_type = "JOB"

    def __init__(
        self,
        file: Path,
        arguments: Sequence[str],
        pyflink: PyFlink,
        *,
        modules: Sequence[Path] = (),
        derives_lineage: bool = True,
        columns: Path | None = None,
        aliases: Aliases | None = None,
    ) -> None:
        self.name = file.stem
        contents = (hashlib.sha256(path.read_bytes()).hexdigest() for path in (file, *modules))
        self.identity = hashlib.sha256("\0".join((*contents, *arguments)).encode()).hexdigest()[:16]
        self.names_datasets = derives_lineage or columns is not None
        self._pyflink = pyflink
        self._program = [str(file.resolve()), *arguments]
        self._modules = modules
        self._derives_lineage = derives_lineage
        self._columns = columns
        self._aliases = aliases or {}

    def submit(self, job_id: str, restore: str, parameters: str) -> None:
        """Run the program, which submits its job. Raises FlinkError."""
        rest = FlinkClient(self._pyflink.flink_url)
        try:
            own = {"$internal.pipeline.job-id": job_id, "pipeline.global-job-parameters": parameters}
            if restore:
                own |= {"execution.state-recovery.path": restore, "execution.state-recovery.claim-mode": "CLAIM"}
            cluster = {**rest.settings(), **_cluster_options(self._pyflink)}
            self._run({**cluster, **self._python_options(), "pipeline.name": self.name, **own})
            if all(job.job_id != job_id for _, job in rest.jobs()):
                raise FlinkError(f"{self.name}: the program submitted no job")
        finally:
            rest.close()

    def application(self, folder: Path) -> ApplicationProgram:
        arguments = ("-py", *self._program)
        return ApplicationProgram(("--job-classname", PYTHON_DRIVER), arguments, self._python_options())

    def _python_options(self) -> dict[str, str]:
        """Return the options of Flink for the program's interpreters and modules."""
        python = self._pyflink.python
        options = {"python.client.executable": python, "python.executable": python}
        modules = ",".join(str(path.resolve()) for path in self._modules)
        return {**options, "python.files": modules} if modules else options

    def _run(self, options: Mapping[str, str]) -> None:
        command = [*_command(self._pyflink.python, "submit"), *self._program]
        environment = {**os.environ, "FLINK_PYTHON_CONFIGURATION": json.dumps(options)}
        try:
            ended = subprocess.run(
                command,
                env=environment,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=SUBMIT_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise FlinkError(f"{self.name}: the program did not submit its job within {SUBMIT_SECONDS:g} s") from error
        except OSError as error:
            raise FlinkError(f"{self.name}: cannot run {self._pyflink.python}: {error}") from error
        for line in (ended.stdout + ended.stderr).splitlines():
            log.info("%s: %s", self.name, line)
        if ended.returncode:
            raise FlinkError(f"{self.name}: the program failed: {failure_of(ended.stderr)}", ended.stderr)

    def describe(self) -> JobLineage:
        """Return the declared lineage, or derive it with Flink's planner. Raises FlinkError."""
        if self._columns is not None:
            return declared_lineage(self.identity, self._columns, self._aliases)
        if not self._derives_lineage:
            return JobLineage(self.identity)
        command = [*_command(self._pyflink.python, "describe"), *self._program]
        return derived_lineage(self.name, self.identity, command)


def failure_of(output: str) -> str:
    """Return the cause of a failed program: of an error of Java the deepest one, else the last line of its output."""
    lines = [line for line in output.splitlines() if line.strip()]
    if not lines:
        return "it printed nothing"
    # The first line of an error of Java follows that of PyFlink, after a colon.
    causes = [line for line in lines if line.startswith(("Caused by: ", ": "))]
    return root_cause(causes[-1].removeprefix(": ")) if causes else lines[-1].strip()


def _command(python: str, mode: str) -> list[str]:
    return [python, python_program.__file__, mode]


def _cluster_options(pyflink: PyFlink) -> dict[str, str]:
    """Return the options of Flink with which a program submits its job to the cluster."""
    cluster = urlsplit(pyflink.flink_url)
    return {
        "execution.target": "remote",
        "execution.attached": "false",
        "rest.address": cluster.hostname or "",
        "rest.port": str(cluster.port or 80),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Run until the job is over; return the exit code."""
    given = _parse(arguments)
    try:
        job = _job(given, os.environ)
    except (OSError, ScriptError) as error:
        print(f"cannot run {given.file}: {error}", file=sys.stderr)
        return EXIT_UNUSABLE
    except KeyError as error:
        print(f"cannot run {given.file}: environment variable {error.args[0]} is not set", file=sys.stderr)
        return EXIT_UNUSABLE
    return launcher.run_by_environment(job, str(given.file))


def _job(given: argparse.Namespace, environment: Mapping[str, str]) -> PythonJob:
    environment["FLINK_PYTHON_GATEWAY"]  # read by `python_program`
    values = placeholder_values(environment)
    words = [
        with_values(word, values, f"argument {number} of {given.file.name}", 1)
        for number, word in enumerate(given.program_arguments, 1)
    ]
    return PythonJob(
        given.file,
        words,
        PyFlink(environment.get("FLINK_URL", ""), environment["FLINK_PYTHON"]),
        derives_lineage=not given.listener,
        columns=given.columns,
        aliases=dict(given.dataset_namespace),
        modules=given.module,
    )


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="lineagelab-flink-python",
        description="Run a PyFlink program as a Flink job, supervise it and report its lineage.",
    )
    add_columns_options(parser)
    parser.add_argument(
        "--listener", action="store_true", help="let OpenLineage's listener report what the job reads and writes"
    )
    parser.add_argument(
        "--module",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="file in the program's folder that it imports; can be repeated",
    )
    parser.add_argument("file", type=Path, help="the program")
    parser.add_argument(
        "program_arguments", metavar="arguments", nargs=argparse.REMAINDER, help="arguments of the program"
    )
    return parser.parse_args(arguments)


if __name__ == "__main__":
    raise SystemExit(main())
