# SPDX-License-Identifier: Apache-2.0
"""Command that runs an SQL file as a Flink job and supervises it: `python -m lineagelab_flink.launch_sql FILE.sql`.

The job is named after the file. Statements of `catalog.sql` in the same folder come first. SIGTERM stops the job with
a savepoint, from which the next launch restores it. The exit code is 0 after a job that has finished or was cancelled
by another client, and 2 for an invalid file. A failed job is resubmitted with backoff; with `--once` it ends the
launcher with exit code 1.

Environment: `FLINK_URL` and `FLINK_SQL_GATEWAY_URL` of a session cluster, or of a cluster that is started for the job
alone (`application_cluster`): `FLINK_JOBMANAGER` and `FLINK_TASKMANAGER`, the commands that start it, and
`FLINK_CHECKPOINTS`, its folder of checkpoints; optional `LINEAGE_URL`, `OPENLINEAGE_NAMESPACE`, `FLINK_STATE`,
`LINEAGE_OPEN_RUNS`, `FLINK_JOB_ID_PREFIX` (`job_id`), `FLINK_SQL_LINEAGE` (command that derives column lineage from a
script), values of placeholders.
"""

import argparse
import hashlib
import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from lineagelab_flink import gateway, launcher
from lineagelab_flink.application_cluster import JOBMANAGER_VARIABLE
from lineagelab_flink.errors import ScriptError
from lineagelab_flink.job_definition import ApplicationProgram
from lineagelab_flink.job_lineage import derived_lineage
from lineagelab_flink.launcher import EXIT_UNUSABLE
from lineagelab_flink.launcher_state import JobLineage
from lineagelab_flink.script import Script, placeholder_values, script

PRELUDE = "catalog.sql"
SQL_DRIVER = "org.apache.flink.table.runtime.application.SqlDriver"
"""Main class of SQL scripts that a JobManager runs."""


class SqlJob:
    """SQL script as a Flink job.

    Args:
        name: of the job.
        content: its statements.
        gateway_url: of the SQL gateway; empty for a job with a cluster of its own.
        lineage_command: command that derives column lineage from a script; empty for none.
    """

    job_type = "SQL_JOB"

    def __init__(self, name: str, content: Script, gateway_url: str, lineage_command: Sequence[str]) -> None:
        self.name = name
        self.identity = hashlib.sha256(content.text.encode()).hexdigest()[:16]
        self._content = content
        self.names_datasets = bool(lineage_command)
        self._gateway = gateway_url
        self._lineage_command = lineage_command

    def submit(self, job_id: str, restore: str, parameters: str) -> None:
        """Execute the script. Raises FlinkError with file and line."""
        with gateway.session(self._gateway) as session:
            for statement in self._content.prepare:
                session.execute(statement)
            session.set("pipeline.name", self.name)
            session.set("$internal.pipeline.job-id", job_id)
            session.set("pipeline.global-job-parameters", parameters)
            if restore:
                session.set("execution.state-recovery.path", restore)
                session.set("execution.state-recovery.claim-mode", "CLAIM")
            session.execute(self._content.job)

    def application(self, folder: Path) -> ApplicationProgram:
        statements = (*self._content.prepare, self._content.job)
        file = folder / f"{self.name}.sql"
        file.write_text("".join(f"{statement.text};\n" for statement in statements), encoding="utf-8")
        return ApplicationProgram(("--job-classname", SQL_DRIVER), ("--scriptUri", file.as_uri()))

    def describe(self) -> JobLineage:
        """Derive lineage with Flink's planner. Raises FlinkError."""
        if not self._lineage_command:
            return JobLineage(self.identity)
        return derived_lineage(self.name, self.identity, self._lineage_command, self._content.text)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run until the job has ended; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="lineagelab-flink-sql", description="Run an SQL file as a Flink job, supervise it and report its lineage."
    )
    parser.add_argument("--once", action="store_true", help="do not resubmit a failed job")
    parser.add_argument("file", type=Path, help="the SQL file")
    given = parser.parse_args(arguments)
    file: Path = given.file
    try:
        job = _job(file, os.environ)
    except (OSError, ScriptError) as error:
        print(f"cannot run {file}: {error}", file=sys.stderr)
        return EXIT_UNUSABLE
    return launcher.run_by_environment(job, str(file), once=given.once)


def _job(file: Path, environment: Mapping[str, str]) -> SqlJob:
    required = () if environment.get(JOBMANAGER_VARIABLE) else ("FLINK_URL", "FLINK_SQL_GATEWAY_URL")
    missing = [name for name in required if not environment.get(name)]
    if missing:
        raise ScriptError(f"environment variables not set: {', '.join(missing)}")
    values = placeholder_values(environment)
    command = shlex.split(environment.get("FLINK_SQL_LINEAGE", ""))
    return SqlJob(file.stem, script(_files(file), values), environment.get("FLINK_SQL_GATEWAY_URL", ""), command)


def _files(file: Path) -> list[tuple[str, str]]:
    prelude = file.with_name(PRELUDE)
    found = [prelude] if prelude.exists() else []
    return [(path.name, path.read_text(encoding="utf-8")) for path in (*found, file)]


if __name__ == "__main__":
    raise SystemExit(main())
