# SPDX-License-Identifier: Apache-2.0
"""Command that runs a PyFlink program as a Flink job and supervises it.

    python -m lineagelab_flink.launch_python [OPTION...] FILE.py [ARGUMENT...]

The job is named after the file, and the program submits one job. It runs on the JobManager's host, where file and
interpreter have the same paths as here; workers of Python functions use the same interpreter. `${NAME}` in arguments
stands for a value of the environment (`script.PLACEHOLDERS`).

Column lineage comes from Flink's planner (`python_program`), or is declared in a file (`--columns`). Without
`FLINK_PYTHON_GATEWAY` and `--columns`, OpenLineage's listener in the cluster reports what the job reads and writes, for
the same run. For the life cycle of the job see `launch_sql`.

Environment: `FLINK_URL`, `FLINK_PYTHON` (interpreter with PyFlink of the cluster's release); optional
`FLINK_PYTHON_GATEWAY` (`python_program`), `LINEAGE_URL`, `OPENLINEAGE_NAMESPACE`, `FLINK_STATE`, `LINEAGE_OPEN_RUNS`,
`FLINK_JOB_ID_PREFIX` (`job_id`), values of placeholders. The JobManager's has `FLINK_OPT_DIR`, the folder with Flink's
Python jar.
"""

import argparse
import hashlib
import logging
import os
import sys
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from lineagelab_flink import launcher, python_program
from lineagelab_flink.columns import PlannerError, derive_lineage
from lineagelab_flink.columns_options import add_columns_options
from lineagelab_flink.declared_columns import Aliases
from lineagelab_flink.errors import FlinkError, ScriptError
from lineagelab_flink.launch_jar import declared_lineage
from lineagelab_flink.launcher import EXIT_UNUSABLE
from lineagelab_flink.launcher_state import JobLineage
from lineagelab_flink.rest import FlinkClient
from lineagelab_flink.script import placeholder_values, with_values

DRIVER = "org.apache.flink.client.python.PythonDriver"
EMPTY_JAR = "python-program.jar"
"""Flink runs programs of jars only; it adds its Python jar by itself."""

_FAILED = "RuntimeException: Python process exits with code"

log = logging.getLogger(__name__)


class PythonJob:
    """A PyFlink program as a Flink job.

    Args:
        file: the program.
        arguments: of the program.
        flink_url: of the REST API.
        python: interpreter with PyFlink.
        derives_lineage: column lineage is derived with Flink's planner, unless `columns` is given.
        columns: declaration of the job's column lineage; None for none.
        aliases: of the namespaces in that declaration.

    Raises:
        OSError: the file cannot be read.
    """

    job_type = "JOB"

    def __init__(
        self,
        file: Path,
        arguments: Sequence[str],
        flink_url: str,
        python: str,
        *,
        derives_lineage: bool = True,
        columns: Path | None = None,
        aliases: Aliases | None = None,
    ) -> None:
        self.name = file.stem
        content = hashlib.sha256(file.read_bytes()).hexdigest()
        self.identity = hashlib.sha256("\0".join((content, *arguments)).encode()).hexdigest()[:16]
        self.names_datasets = derives_lineage or columns is not None
        self._program = [str(file.resolve()), *arguments]
        self._flink = flink_url
        self._python = python
        self._derives_lineage = derives_lineage
        self._columns = columns
        self._aliases = aliases or {}

    def submit(self, job_id: str, restore: str, parameters: str) -> None:
        """Run the program, which submits its job. Raises FlinkError."""
        body = {
            "jobId": job_id,
            "entryClass": DRIVER,
            "programArgsList": ["--python", *self._program],
            "flinkConfiguration": {
                "pipeline.name": self.name,
                "pipeline.global-job-parameters": parameters,
                "python.client.executable": self._python,
                "python.executable": self._python,
            },
            **({"savepointPath": restore, "claimMode": "CLAIM"} if restore else {}),
        }
        rest = FlinkClient(self._flink)
        try:
            rest.run(rest.uploaded(EMPTY_JAR) or _uploaded(rest), body)
        except FlinkError as error:
            if _FAILED not in str(error):
                raise
            message = f"{self.name}: the program failed; its output is in the JobManager's log, which says why"
            raise type(error)(message) from error
        finally:
            rest.close()

    def describe(self) -> JobLineage:
        """Return the declared lineage, or derive it with Flink's planner. Raises FlinkError."""
        if self._columns is not None:
            return declared_lineage(self.identity, self._columns, self._aliases)
        if not self._derives_lineage:
            return JobLineage(self.identity)
        try:
            found = derive_lineage("", [self._python, python_program.__file__, *self._program])
        except PlannerError as error:
            raise FlinkError(str(error)) from error
        if found.unknown:
            log.warning("the lineage of %s is incomplete: %s", self.name, "; ".join(found.unknown))
        return JobLineage(self.identity, found.inputs, found.outputs, found.job_facets)


def _uploaded(rest: FlinkClient) -> str:
    with TemporaryDirectory(prefix="launch-") as folder:
        jar = Path(folder) / EMPTY_JAR
        with zipfile.ZipFile(jar, "w") as content:
            content.writestr("META-INF/MANIFEST.MF", "Manifest-Version: 1.0\n")
        return rest.upload(jar, EMPTY_JAR)


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
    values = placeholder_values(environment)
    words = [
        with_values(word, values, f"argument {number} of {given.file.name}", 1)
        for number, word in enumerate(given.program_arguments, 1)
    ]
    return PythonJob(
        given.file,
        words,
        environment["FLINK_URL"],
        environment["FLINK_PYTHON"],
        derives_lineage=bool(environment.get("FLINK_PYTHON_GATEWAY")),
        columns=given.columns,
        aliases=dict(given.dataset_namespace),
    )


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="lineagelab-flink-python",
        description="Run a PyFlink program as a Flink job, supervise it and report its lineage.",
    )
    add_columns_options(parser)
    parser.add_argument("file", type=Path, help="the program")
    parser.add_argument(
        "program_arguments", metavar="arguments", nargs=argparse.REMAINDER, help="arguments of the program"
    )
    return parser.parse_args(arguments)


if __name__ == "__main__":
    raise SystemExit(main())
