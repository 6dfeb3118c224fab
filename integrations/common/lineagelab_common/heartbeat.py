# SPDX-License-Identifier: Apache-2.0
"""Interval of the events of a running streaming job, from the environment."""

import math
from collections.abc import Mapping

VARIABLE = "LINEAGE_HEARTBEAT_SECONDS"
DEFAULT_SECONDS = 30.0
MINIMUM_SECONDS = 1.0


def heartbeat_seconds(environment: Mapping[str, str]) -> float:
    """Return the seconds between two RUNNING events of a job.

    A receiver takes a job for stale after three of them without an event.

    Raises:
        ValueError: the variable is not a number of at least `MINIMUM_SECONDS`.
    """
    text = environment.get(VARIABLE, "")
    try:
        found = float(text) if text else DEFAULT_SECONDS
    except ValueError:
        found = math.nan
    if not math.isfinite(found) or found < MINIMUM_SECONDS:
        raise ValueError(f"{VARIABLE} is {text!r}, not a number of seconds from {MINIMUM_SECONDS:g}")
    return found
