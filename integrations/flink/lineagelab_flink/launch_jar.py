# SPDX-License-Identifier: Apache-2.0
"""Command that runs a jar as a Flink job and supervises it: `python -m lineagelab_flink.launch_jar NAME [ARGUMENT...]`.

The jar's manifest names its main class. `--columns` names the file in which the job declares its datasets and their
columns (`declared_columns`). Without it, OpenLineage's listener in the cluster reports what the job reads and writes,
for the same run. For the life cycle of the job see `launch_sql`.

Environment: `FLINK_URL`, `FLINK_JOB_JAR`; optional `LINEAGE_URL`, `OPENLINEAGE_NAMESPACE`, `FLINK_STATE`,
`LINEAGE_OPEN_RUNS`, `FLINK_JOB_ID_PREFIX` (`job_id`).
"""

import argparse
import hashlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from lineagelab_flink import launcher
from lineagelab_flink.declared_columns import Aliases, DeclarationError, declaration
from lineagelab_flink.errors import FlinkError
from lineagelab_flink.launcher import EXIT_UNUSABLE
from lineagelab_flink.launcher_state import JobLineage
from lineagelab_flink.rest import FlinkClient


class JarJob:
    """A jar as a Flink job.

    Args:
        name: of the job.
        jar: the file.
        arguments: for its main class.
        flink_url: of the REST API.
        columns: declaration of the job's column lineage; None for none.
        aliases: of the namespaces in that declaration.

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
    ) -> None:
        content = hashlib.sha256(jar.read_bytes()).hexdigest()[:16]
        self.name = name
        self.identity = hashlib.sha256("\0".join((content, *arguments)).encode()).hexdigest()[:16]
        self.names_datasets = columns is not None
        self._jar = jar
        self._uploaded_as = f"{name}-{content}.jar"
        self._arguments = list(arguments)
        self._flink = flink_url
        self._columns = columns
        self._aliases = aliases or {}

    def submit(self, job_id: str, restore: str, parameters: str) -> None:
        """Upload the jar unless the cluster has it, and run it. Raises FlinkError."""
        body = {
            "jobId": job_id,
            "programArgsList": self._arguments,
            "flinkConfiguration": {"pipeline.name": self.name, "pipeline.global-job-parameters": parameters},
            **({"savepointPath": restore, "claimMode": "CLAIM"} if restore else {}),
        }
        rest = FlinkClient(self._flink)
        try:
            jar_id = rest.uploaded(self._uploaded_as) or rest.upload(self._jar, self._uploaded_as)
            rest.run(jar_id, body)
        finally:
            rest.close()

    def describe(self) -> JobLineage:
        """Return the declared lineage. Raises FlinkError where the declaration is invalid."""
        if self._columns is None:
            return JobLineage(self.identity)
        try:
            found = declaration(self._columns, self._aliases)
        except DeclarationError as error:
            raise FlinkError(str(error)) from error
        return JobLineage(self.identity, found.inputs, found.outputs, found.job_facets)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run until the job is over; return the exit code."""
    given = _parse(arguments)
    try:
        job = JarJob(
            given.name,
            Path(os.environ["FLINK_JOB_JAR"]),
            given.arguments,
            os.environ["FLINK_URL"],
            given.columns,
            dict(given.dataset_namespace),
        )
    except OSError as error:
        print(f"cannot run {given.name}: cannot read its jar: {error}", file=sys.stderr)
        return EXIT_UNUSABLE
    except KeyError as error:
        print(f"cannot run {given.name}: environment variable {error.args[0]} is not set", file=sys.stderr)
        return EXIT_UNUSABLE
    return launcher.run_by_environment(job, given.name)


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="lineagelab-flink-jar", description="Run a jar as a Flink job, supervise it and report its lineage."
    )
    parser.add_argument("--columns", type=Path, metavar="FILE", help="declared column lineage of the job, JSON")
    parser.add_argument(
        "--dataset-namespace",
        type=_alias,
        action="append",
        default=[],
        metavar="ALIAS=NAMESPACE",
        help="namespace for which an alias in --columns stands; can be repeated",
    )
    parser.add_argument("name", help="name of the job")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="arguments of the jar's main class")
    return parser.parse_args(arguments)


def _alias(text: str) -> tuple[str, str]:
    alias, equals, namespace = text.partition("=")
    if not alias or not equals or not namespace:
        raise argparse.ArgumentTypeError(f"{text!r} does not match ALIAS=NAMESPACE")
    return alias, namespace


if __name__ == "__main__":
    raise SystemExit(main())
