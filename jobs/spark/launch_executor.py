# SPDX-License-Identifier: Apache-2.0
"""Replace this process by a Spark executor: `python -m jobs.spark.launch_executor`, in a pod that a driver created.

Spark describes the executor by environment variables, which the entry point of its own images turns into a command.
"""

import os
import re
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn

BACKEND = "org.apache.spark.scheduler.cluster.k8s.KubernetesExecutorBackend"

OPTIONS = {
    "--driver-url": "SPARK_DRIVER_URL",
    "--executor-id": "SPARK_EXECUTOR_ID",
    "--cores": "SPARK_EXECUTOR_CORES",
    "--app-id": "SPARK_APPLICATION_ID",
    "--hostname": "SPARK_EXECUTOR_POD_IP",
    "--resourceProfileId": "SPARK_RESOURCE_PROFILE_ID",
    "--podName": "SPARK_EXECUTOR_POD_NAME",
}
"""Option of the backend -> variable of the pod."""

MEMORY = "SPARK_EXECUTOR_MEMORY"
CLASS_PATH = "SPARK_CLASSPATH"
JAVA_OPTION = re.compile(r"SPARK_JAVA_OPT_(\d+)")


def executor_command(java: str, home: Path, environment: Mapping[str, str]) -> list[str]:
    """Return the command of an executor.

    Raises:
        SystemExit: the environment is not that of a pod that a driver created.
    """
    missing = [name for name in (*OPTIONS.values(), MEMORY) if name not in environment]
    if missing:
        raise SystemExit(
            f"cannot start an executor: {', '.join(missing)} not set; a Spark driver sets them in its pods"
        )
    numbered = {int(found[1]): value for name, value in environment.items() if (found := JAVA_OPTION.fullmatch(name))}
    memory = environment[MEMORY]
    class_path = ":".join(part for part in (environment.get(CLASS_PATH, ""), f"{home}/jars/*") if part)
    options = [word for option, name in OPTIONS.items() for word in (option, environment[name])]
    return [
        *(java, *(value for _, value in sorted(numbered.items())), f"-Xms{memory}", f"-Xmx{memory}"),
        *("-cp", class_path, BACKEND, *options),
    ]


def main() -> NoReturn:
    """Replace this process by the executor.

    Raises:
        SystemExit: PySpark is not installed, or the environment is incomplete.
    """
    found = find_spec("pyspark")
    if found is None or not found.submodule_search_locations:
        raise SystemExit("cannot start an executor: PySpark is not installed")
    home = Path(found.submodule_search_locations[0])
    command = executor_command(f"{os.environ['JAVA_HOME']}/bin/java", home, os.environ)
    os.execve(command[0], command, {**os.environ, "SPARK_HOME": str(home)})


if __name__ == "__main__":
    main()
