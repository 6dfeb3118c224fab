# SPDX-License-Identifier: Apache-2.0
"""Runs an SQL file as a Flink job and sees to it: `python -m lineagelab_flink.launch_sql [--once] FILE.sql`.

The job has the file's name. What stands in `catalog.sql` beside the file comes first. SIGTERM cancels the job with a
savepoint, from which the next launch goes on. A job that somebody else cancels, or that has read all there is, ends
the launcher with exit code 0; a file that cannot be used, with 2. A job that fails is submitted again, later and
later; with `--once` it ends the launcher with 1.

Environment: `FLINK_URL`, `FLINK_SQL_GATEWAY_URL`; optional `LINEAGE_URL`, `OPENLINEAGE_NAMESPACE`, `FLINK_STATE`,
`LINEAGE_OPEN_RUNS`, `FLINK_SQL_LINEAGE` (command that derives column lineage from a script), values of placeholders.
"""

import argparse
import hashlib
import logging
import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from lineagelab_flink import gateway, launcher
from lineagelab_flink.columns import LineageError, derive_lineage
from lineagelab_flink.errors import FlinkError, ScriptError
from lineagelab_flink.launcher import Place
from lineagelab_flink.launcher_state import Described
from lineagelab_flink.script import PLACEHOLDERS, Script, script

PRELUDE = "catalog.sql"
UNUSABLE = 2
NEEDED = ("FLINK_URL", "FLINK_SQL_GATEWAY_URL")

log = logging.getLogger(__name__)


class SqlJob:
    """An SQL script as a job.

    Args:
        name: of the job.
        content: what it does.
        gateway_url: of the SQL gateway.
        lineage_command: what reads column lineage from a script; empty for none.
    """

    job_type = "SQL_JOB"

    def __init__(self, name: str, content: Script, gateway_url: str, lineage_command: Sequence[str]) -> None:
        self.name = name
        self.identity = hashlib.sha256(content.text.encode()).hexdigest()[:16]
        self._content = content
        self._gateway = gateway_url
        self._lineage_command = lineage_command

    def submit(self, job_id: str, restore: str, parameters: str) -> None:
        """Raises FlinkError: as the gateway says, with file and line."""
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

    def describe(self) -> Described:
        """Raises FlinkError: the planner does not say."""
        if not self._lineage_command:
            return Described(self.identity)
        try:
            found = derive_lineage(self._content.text, self._lineage_command)
        except LineageError as error:
            raise FlinkError(str(error)) from error
        if found.unknown:
            log.warning("the lineage of %s is not known whole: %s", self.name, "; ".join(found.unknown))
        return Described(self.identity, found.inputs, found.outputs, found.job_facets)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs until the job is over; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="lineagelab-flink-sql", description="Run an SQL file as a Flink job, supervise it and report its lineage."
    )
    parser.add_argument("--once", action="store_true", help="a job that fails is not submitted again")
    parser.add_argument("file", type=Path, help="the SQL file")
    given = parser.parse_args(arguments)
    file: Path = given.file
    try:
        job = _job(file, os.environ)
    except (OSError, ScriptError) as error:
        print(f"{file} cannot be run: {error}", file=sys.stderr)
        return UNUSABLE
    with TemporaryDirectory(prefix="launch-") as scratch:
        return launcher.run(job, Place.of(os.environ, Path(scratch)), once=given.once)


def _job(file: Path, environment: Mapping[str, str]) -> SqlJob:
    missing = [name for name in NEEDED if not environment.get(name)]
    if missing:
        raise ScriptError(f"{' and '.join(missing)} must be in the environment")
    values = {name: environment[name] for name in PLACEHOLDERS if name in environment}
    command = shlex.split(environment.get("FLINK_SQL_LINEAGE", ""))
    return SqlJob(file.stem, script(_files(file), values), environment["FLINK_SQL_GATEWAY_URL"], command)


def _files(file: Path) -> list[tuple[str, str]]:
    prelude = file.with_name(PRELUDE)
    found = [prelude] if prelude.exists() else []
    return [(path.name, path.read_text(encoding="utf-8")) for path in (*found, file)]


if __name__ == "__main__":
    raise SystemExit(main())
