# SPDX-License-Identifier: Apache-2.0
"""Command that runs a jar as a Flink job and supervises it: `python -m lineagelab_flink.launch_jar NAME [ARGUMENT...]`.

The jar's manifest names its main class, unless `--main` does. `--arguments` names a file with further arguments of that
class (`program_arguments`). `--columns` names the file in which the job declares its datasets and their
columns (`declared_columns`). Without it, `FLINK_JAR_LINEAGE` derives them for a job of the Table API: it runs the main
class once more, without a cluster, up to its job. Without both, OpenLineage's listener in the cluster reports what the
job reads and writes, for the same run. For the life cycle of the job see `launch_sql`.

Environment: `FLINK_JOB_JAR`, the cluster as for `launch_sql`; optional `FLINK_JAR_LINEAGE` (command of
`dev.lineagelab.flink.sql.JarMain`), `LINEAGE_URL`, `OPENLINEAGE_NAMESPACE`, `FLINK_STATE`, `LINEAGE_OPEN_RUNS`,
`FLINK_JOB_ID_PREFIX` (`job_id`), values of placeholders.
"""

import argparse
import hashlib
import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from lineagelab_flink import launcher
from lineagelab_flink.columns_options import add_columns_options
from lineagelab_flink.declared_columns import Aliases
from lineagelab_flink.errors import ScriptError
from lineagelab_flink.job_definition import ApplicationProgram
from lineagelab_flink.job_lineage import declared_lineage, derived_lineage
from lineagelab_flink.launcher import EXIT_UNUSABLE
from lineagelab_flink.launcher_state import JobLineage
from lineagelab_flink.program_arguments import program_arguments
from lineagelab_flink.rest import FlinkClient
from lineagelab_flink.script import placeholder_values


class JarJob:
    """A jar as a Flink job.

    Args:
        name: of the job.
        jar: the file.
        arguments: for its main class.
        flink_url: of the REST API of a session cluster; empty for a job with a cluster of its own.
        columns: declaration of the job's column lineage; None for none.
        aliases: of the namespaces in that declaration.
        main_class: empty for the one that the jar's manifest names.
        lineage_command: command that derives column lineage, unless `columns` is given; empty for none.

    Raises:
        OSError: the jar cannot be read.
    """

    job_type = "JOB"

    def __init__(
        self,
        name: str,
        jar: Path,
        arguments: Sequence[str],
        flink_url: str,
        columns: Path | None = None,
        aliases: Aliases | None = None,
        main_class: str = "",
        lineage_command: Sequence[str] = (),
    ) -> None:
        content = hashlib.sha256(jar.read_bytes()).hexdigest()[:16]
        self.name = name
        definition = (content, *((main_class,) if main_class else ()), *arguments)
        self.identity = hashlib.sha256("\0".join(definition).encode()).hexdigest()[:16]
        self.names_datasets = columns is not None or bool(lineage_command)
        self._jar = jar
        self._uploaded_as = f"{name}-{content}.jar"
        self._arguments = list(arguments)
        self._flink = flink_url
        self._columns = columns
        self._aliases = aliases or {}
        self._main_class = main_class
        self._lineage_command = lineage_command

    def submit(self, job_id: str, restore: str, parameters: str) -> None:
        """Upload the jar unless the cluster has it, and run it. Raises FlinkError."""
        body = {
            "jobId": job_id,
            "programArgsList": self._arguments,
            "flinkConfiguration": {"pipeline.name": self.name, "pipeline.global-job-parameters": parameters},
            **({"entryClass": self._main_class} if self._main_class else {}),
            **({"savepointPath": restore, "claimMode": "CLAIM"} if restore else {}),
        }
        rest = FlinkClient(self._flink)
        try:
            jar_id = rest.uploaded(self._uploaded_as) or rest.upload(self._jar, self._uploaded_as)
            rest.run(jar_id, body)
        finally:
            rest.close()

    def application(self, folder: Path) -> ApplicationProgram:
        # Flink copies files of other schemes to a folder of the machine, and uses an old one of that name there.
        main = ("--job-classname", self._main_class) if self._main_class else ()
        return ApplicationProgram(("--jars", f"local://{self._jar.resolve()}", *main), tuple(self._arguments))

    def describe(self) -> JobLineage:
        """Return the declared lineage, or derive it with Flink's planner. Raises FlinkError."""
        if self._columns is not None:
            return declared_lineage(self.identity, self._columns, self._aliases)
        if not self._lineage_command:
            return JobLineage(self.identity)
        with TemporaryDirectory(prefix="describe-") as scratch:
            program = (scratch, str(self._jar), self._main_class, *self._arguments)
            return derived_lineage(self.name, self.identity, (*self._lineage_command, *program))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run until the job is over; return the exit code."""
    given = _parse(arguments)
    try:
        job = _job(given, os.environ)
    except OSError as error:
        print(f"cannot run {given.name}: cannot read its jar or its arguments: {error}", file=sys.stderr)
        return EXIT_UNUSABLE
    except ScriptError as error:
        print(f"cannot run {given.name}: {error}", file=sys.stderr)
        return EXIT_UNUSABLE
    except KeyError as error:
        print(f"cannot run {given.name}: environment variable {error.args[0]} is not set", file=sys.stderr)
        return EXIT_UNUSABLE
    return launcher.run_by_environment(job, given.name)


def _job(given: argparse.Namespace, environment: Mapping[str, str]) -> JarJob:
    words = list(given.program_arguments)
    if given.arguments is not None:
        values = placeholder_values(environment)
        words += program_arguments(given.arguments.name, given.arguments.read_text(encoding="utf-8"), values)
    return JarJob(
        given.name,
        Path(environment["FLINK_JOB_JAR"]),
        words,
        environment.get("FLINK_URL", ""),
        given.columns,
        dict(given.dataset_namespace),
        given.main,
        shlex.split(environment.get("FLINK_JAR_LINEAGE", "")),
    )


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="lineagelab-flink-jar", description="Run a jar as a Flink job, supervise it and report its lineage."
    )
    add_columns_options(parser)
    parser.add_argument("--arguments", type=Path, metavar="FILE", help="file with further arguments of the main class")
    parser.add_argument("--main", default="", metavar="CLASS", help="main class, if the jar's manifest names none")
    parser.add_argument("name", help="name of the job")
    parser.add_argument(
        "program_arguments", metavar="arguments", nargs=argparse.REMAINDER, help="arguments of the jar's main class"
    )
    return parser.parse_args(arguments)


if __name__ == "__main__":
    raise SystemExit(main())
