# SPDX-License-Identifier: Apache-2.0
"""Runs a jar as a Flink job and sees to it: `python -m jobs.flink.launch_jar NAME [ARGUMENT...]`.

The jar's own manifest names its main class. It gets the arguments that `ARGUMENTS` has for NAME, and then those given
here. OpenLineage's listener says what the job reads and writes; where a file beside this one declares its columns
(`declared_columns`), the launcher says those for the same run. For the rest see `launch_sql`.

Environment: `FLINK_URL`, `FLINK_JOB_JAR` and what the arguments need; optional `LINEAGE_URL`, `FLINK_STATE`,
`LINEAGE_OPEN_RUNS`.
"""

import argparse
import hashlib
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from infra.namespaces import JOB_SUPPLIER_WINDOWS, TOPIC_ORDERS, TOPIC_SUPPLIER_WINDOWS
from jobs.flink import launcher
from jobs.flink.declared_columns import DeclarationError, declaration
from jobs.flink.errors import FlinkError
from jobs.flink.launcher import Place
from jobs.flink.memory import Described
from jobs.flink.rest import Rest

UNUSABLE = 2


def _supplier_windows(environment: Mapping[str, str]) -> list[str]:
    return [
        *("--name", JOB_SUPPLIER_WINDOWS),
        *("--bootstrap", environment["KAFKA_BOOTSTRAP"]),
        *("--registry", environment["SCHEMA_REGISTRY_URL"]),
        *("--orders", TOPIC_ORDERS),
        *("--windows", TOPIC_SUPPLIER_WINDOWS),
    ]


ARGUMENTS: Mapping[str, Callable[[Mapping[str, str]], list[str]]] = {JOB_SUPPLIER_WINDOWS: _supplier_windows}
"""What each of the lab's own jobs is told; KeyError for what the environment lacks."""


class JarJob:
    """A jar as a job.

    Args:
        name: of the job.
        jar: the file.
        arguments: for its main class.
        flink_url: of the REST API.

    Raises:
        OSError: the jar cannot be read.
    """

    job_type = "JOB"

    def __init__(self, name: str, jar: Path, arguments: Sequence[str], flink_url: str) -> None:
        content = hashlib.sha256(jar.read_bytes()).hexdigest()[:16]
        self.name = name
        self.identity = hashlib.sha256("\0".join((content, *arguments)).encode()).hexdigest()[:16]
        self._jar = jar
        self._uploaded_as = f"{name}-{content}.jar"
        self._arguments = list(arguments)
        self._flink = flink_url

    def submit(self, job_id: str, restore: str, parameters: str) -> None:
        """Raises FlinkError: as Flink says."""
        body = {
            "jobId": job_id,
            "programArgsList": self._arguments,
            "flinkConfiguration": {"pipeline.name": self.name, "pipeline.global-job-parameters": parameters},
            **({"savepointPath": restore, "claimMode": "CLAIM"} if restore else {}),
        }
        rest = Rest(self._flink)
        try:
            jar_id = rest.uploaded(self._uploaded_as) or rest.upload(self._jar, self._uploaded_as)
            rest.run(jar_id, body)
        finally:
            rest.close()

    def describe(self) -> Described:
        """Raises FlinkError: the declaration cannot be used."""
        try:
            found = declaration(self.name)
        except DeclarationError as error:
            raise FlinkError(str(error)) from error
        if found is None:
            return Described(self.identity)
        return Described(self.identity, found.inputs, found.outputs, found.job_facets)


def main(arguments: Sequence[str]) -> int:
    """Runs until the job is over; returns the exit code."""
    parser = argparse.ArgumentParser(prog="jobs.flink.launch_jar", description="Runs a jar as a Flink job.")
    parser.add_argument("name", help="of the job")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="for the jar's main class")
    given = parser.parse_args(arguments)
    try:
        own = ARGUMENTS[given.name](os.environ) if given.name in ARGUMENTS else []
        job = JarJob(given.name, Path(os.environ["FLINK_JOB_JAR"]), [*own, *given.arguments], os.environ["FLINK_URL"])
    except OSError as error:
        print(f"{given.name} cannot be run: its jar cannot be read: {error}", file=sys.stderr)
        return UNUSABLE
    except KeyError as error:
        print(f"{given.name} cannot be run: {error.args[0]} is not in the environment", file=sys.stderr)
        return UNUSABLE
    with TemporaryDirectory(prefix="launch-") as scratch:
        return launcher.run(job, Place.of(os.environ, Path(scratch)))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
