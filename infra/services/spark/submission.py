# SPDX-License-Identifier: Apache-2.0
"""`spark-submit` script of a driver, for a cluster that the lab does not run. Pure."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from infra.errors import LabError
from infra.model import Python, Service, Task
from infra.services.spark.agent import without_spool
from infra.services.spark.driver import LAUNCHER, OBSERVER, PROPERTIES, TIMER
from infra.services.spark.packages import PACKAGES

CLASS_PATH = "spark.executor.extraClassPath"
SCRIPT, MAIN, SOURCES = "submit.sh", "main.py", "sources.zip"

_LOCAL_PROPERTIES = {
    "spark.master",
    "spark.driver.host",
    "spark.driver.bindAddress",
    "spark.driver.defaultJavaOptions",
    "spark.executor.defaultJavaOptions",
    CLASS_PATH,
}
"""Properties that hold for this machine, or that the script sets itself."""

_LOCAL_VARIABLES = {
    "SPARK_LOCAL_IP",
    "SPARK_CONF_DIR",
    "SPARK_LOCAL_DIRS",
    "PYSPARK_SUBMIT_ARGS",
    "CLASS_DATA",
    "LINEAGE_OPEN_RUNS",
    PACKAGES,
}

_EXECUTOR_VARIABLES = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION")
"""Variables from which executors read the object store's credentials."""


@dataclass(frozen=True)
class Submission:
    """Arguments of `spark-submit` for a driver.

    Attributes:
        name: name of the job.
        modules: modules to run: the driver, preceded by the observer of its writes if it is observed.
        arguments: arguments of the driver.
        properties: Spark properties, without master and class path.
        variables: environment of the driver.
        secrets: names of environment variables that the user sets.
    """

    name: str
    modules: tuple[str, ...]
    arguments: tuple[str, ...]
    properties: Mapping[str, str]
    variables: Mapping[str, str]
    secrets: tuple[str, ...]

    @classmethod
    def of(cls, part: Service | Task) -> "Submission":
        """Return the submission of a part of the lab.

        Raises:
            LabError: the part is not a Spark driver.
        """
        run = part.run
        if not isinstance(run, Python) or run.module not in {LAUNCHER, TIMER}:
            raise LabError(f"{part.name} is not a Spark job: `bin/lab status` lists the jobs")
        words = list(run.args[1:] if run.module == TIMER else run.args)  # the timer's first argument is its interval
        if words[:1] == ["--application"]:
            del words[:2]
        observed = words[:1] == ["--observe"]
        module, *arguments = words[observed:]
        properties = _parse(part.files[PROPERTIES])
        return cls(
            part.name,
            (OBSERVER, module) if observed else (module,),
            tuple(arguments),
            without_spool({k: v for k, v in properties.items() if k not in _LOCAL_PROPERTIES}),
            without_spool({k: v for k, v in part.env.items() if k not in _LOCAL_VARIABLES}),
            tuple(sorted(part.secrets)),
        )


def main_program(submission: Submission) -> str:
    """Return the Python program that `spark-submit` runs: it runs the driver's module as `python -m` does."""
    first, *rest = submission.modules
    words = [*rest, *submission.arguments]
    return f"""# Spark job {submission.name}
import runpy
import sys

sys.argv = [sys.argv[0], *{words!r}, *sys.argv[1:]]
runpy.run_module({first!r}, run_name="__main__", alter_sys=True)
"""


def script(submission: Submission, master: str, packages: Sequence[str]) -> str:
    """Return the shell script that submits a driver; its arguments are further options of `spark-submit`.

    Secrets are read from the environment, and are in no file. `SPARK_CLASS_PATH` replaces the Maven packages.

    Args:
        submission: the driver.
        master: master URL, unless `SPARK_MASTER` names another.
        packages: Maven coordinates of the jars of driver and executors.
    """
    coordinates = ",".join(packages)
    required = [name for name in submission.secrets if name.startswith("AWS_")]
    lines = [
        "#!/bin/sh",
        f"# Submits the Spark job {submission.name}. Options of spark-submit may follow: ./{SCRIPT} --num-executors 4",
        "set -eu",
        'cd "$(dirname "$0")"',
        *(f': "${{{name}:?set it to the credential of the object store}}"' for name in required),
        *(f"export {name}={shlex.quote(value)}" for name, value in sorted(submission.variables.items())),
        'if [ -n "${SPARK_CLASS_PATH:-}" ]; then',
        f'  set -- --driver-class-path "$SPARK_CLASS_PATH" --conf "{CLASS_PATH}=$SPARK_CLASS_PATH" "$@"',
        "else",
        f'  set -- --packages {coordinates} "$@"',
        "fi",
        *(_executor_variable(name) for name in _EXECUTOR_VARIABLES),
        'exec "${SPARK_HOME:+$SPARK_HOME/bin/}spark-submit" \\',
        f'  --master "${{SPARK_MASTER:-{master}}}" --name {shlex.quote(submission.name)} --py-files {SOURCES} \\',
        *(f"  --conf {shlex.quote(f'{key}={value}')} \\" for key, value in sorted(submission.properties.items())),
        f'  "$@" {MAIN}',
    ]
    return "\n".join(lines) + "\n"


def _executor_variable(name: str) -> str:
    return f'[ -z "${{{name}:-}}" ] || set -- --conf "spark.executorEnv.{name}=${name}" "$@"'


def _parse(text: str) -> dict[str, str]:
    """Return the properties that `render_properties` has rendered."""
    pairs = (line.partition("=")[::2] for line in text.splitlines())
    return {key: value.replace("\\n", "\n").replace("\\\\", "\\") for key, value in pairs}
