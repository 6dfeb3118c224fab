# SPDX-License-Identifier: Apache-2.0
"""Asks Flink's planner, in a process of its own, what a script reads and writes."""

import json
import subprocess
from collections.abc import Sequence

from lineagelab_flink.columns.description import Description, description
from lineagelab_flink.columns.planned import planned

SECONDS = 120.0
"""That an answer may take: a JVM on a busy machine, and a catalog that is slow."""

_MOST_CHARACTERS = 4000


class LineageError(Exception):
    """The planner gives no answer. The message says why: of a bad statement, where it stands and what is wrong."""


def derive_lineage(script: str, command: Sequence[str], seconds: float = SECONDS) -> Description:
    """What a script reads and writes, down to columns.

    Args:
        script: statements of Flink SQL, placeholders replaced.
        command: runs `dev.lineagelab.flink.sql.Main`, which gets the script on its standard input.
        seconds: after which no answer is waited for.

    Raises:
        LineageError: Flink refuses a statement, a catalog is away, or the program cannot be run.
    """
    try:
        ended = subprocess.run(command, input=script.encode(), capture_output=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired as error:
        raise LineageError(f"Flink's planner gives no answer within {seconds:g} seconds") from error
    except OSError as error:
        raise LineageError(f"Flink's planner cannot be run as `{command[0]}`: {error}") from error
    if ended.returncode:
        said = ended.stderr.decode(errors="replace").strip()[-_MOST_CHARACTERS:]
        raise LineageError(said or f"Flink's planner has ended with exit code {ended.returncode}, and no word")
    try:
        return description(planned(json.loads(ended.stdout)))
    except (ValueError, KeyError, TypeError) as error:
        raise LineageError(f"Flink's planner gives an answer that is none: {error!r}") from error
