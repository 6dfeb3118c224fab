# SPDX-License-Identifier: Apache-2.0
"""Replace this process by a Spark daemon: `python -m jobs.spark.launch_daemon CLASS [ARGUMENT...]`.

PySpark's wheel lacks `start-master.sh`, but has `spark-class`, which that script calls. Heap, JVM options and class
path come from the environment (`SPARK_DAEMON_MEMORY`, `SPARK_DAEMON_JAVA_OPTS`, `SPARK_DAEMON_CLASSPATH`).
"""

import os
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn


def main(arguments: Sequence[str]) -> NoReturn:
    """Replace this process by `spark-class`.

    Raises:
        SystemExit: PySpark is not installed.
    """
    found = find_spec("pyspark")
    if found is None or not found.submodule_search_locations:
        raise SystemExit(f"cannot start {arguments[0]}: {sys.executable} has no PySpark. Run bin/lab setup")
    home = Path(found.submodule_search_locations[0])
    script = str(home / "bin" / "spark-class")
    os.execve(script, [script, *arguments], {**os.environ, "SPARK_HOME": str(home)})


if __name__ == "__main__":
    main(sys.argv[1:])
