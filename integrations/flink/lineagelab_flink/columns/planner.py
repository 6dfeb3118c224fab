# SPDX-License-Identifier: Apache-2.0
"""Execution of Flink's planner in a child process."""

import json
import subprocess
from collections.abc import Sequence

from lineagelab_flink.columns.description import Description, description
from lineagelab_flink.columns.planned import parse_planner_output

SECONDS = 120.0
"""Timeout of the planner, for a JVM on a busy machine and a slow catalog."""

_MAX_ERROR = 4000


class PlannerError(Exception):
    """Failure of the planner. For an invalid statement, the message contains its position and Flink's error."""


def derive_lineage(script: str, command: Sequence[str], seconds: float = SECONDS) -> Description:
    """Derive datasets and column lineage of a script.

    Args:
        script: statements of Flink SQL, placeholders replaced.
        command: runs `dev.lineagelab.flink.sql.Main`, which reads the script from standard input.
        seconds: timeout.

    Raises:
        PlannerError: invalid statement, unavailable catalog, or the program cannot be run.
    """
    try:
        ended = subprocess.run(command, input=script.encode(), capture_output=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired as error:
        raise PlannerError(f"Flink's planner timed out after {seconds:g} s") from error
    except OSError as error:
        raise PlannerError(f"cannot run Flink's planner as `{command[0]}`: {error}") from error
    if ended.returncode:
        message = ended.stderr.decode(errors="replace").strip()[-_MAX_ERROR:]
        raise PlannerError(message or f"Flink's planner failed with exit code {ended.returncode} and no message")
    try:
        return description(parse_planner_output(json.loads(ended.stdout)))
    except (ValueError, KeyError, TypeError) as error:
        raise PlannerError(f"invalid output of Flink's planner: {error!r}") from error
