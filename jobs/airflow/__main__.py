# SPDX-License-Identifier: Apache-2.0
"""Process of Airflow: `python -m jobs.airflow COMMAND`, such as `scheduler`, with the options of the lab.

`jobs.airflow.configuration.options` lists the environment variables.
"""

import os
import sys
from pathlib import Path

from jobs.airflow.configuration import environment, options
from jobs.airflow.orphans import COMMAND, end_orphans

DAGS = Path(__file__).with_name("dags")


def main() -> None:
    """Replace this process by Airflow's, after the end of what a killed one has left."""
    variables = {
        **os.environ,
        **environment(options(os.environ, DAGS)),
        COMMAND: sys.argv[1],
        # Its workers' titles would overwrite their environment, by which this module and the lab recognize them.
        "SPT_NOENV": "1",
    }
    end_orphans(variables["AIRFLOW_HOME"], variables[COMMAND])
    os.execve(sys.executable, [sys.executable, "-m", "airflow", *sys.argv[1:]], variables)


if __name__ == "__main__":
    main()
