# SPDX-License-Identifier: Apache-2.0
"""Ids of submitted jobs, by which a lineage transport in the cluster recognises jobs that have a launcher.

The transport is `components/flink-lineage-transport`. OpenLineage's listener in the cluster reports each job; for a job
with a launcher, the transport drops what the launcher reports itself. An id is a prefix, which cluster and launchers
are given, one digit, and random digits.
"""

import os
import re

MAX_PREFIX_DIGITS = 16
"""Longest prefix: of the 32 digits of an id, almost as many stay random."""

NAMES_DATASETS, NAMES_NONE = "1", "0"
"""Digit behind the prefix: the launcher names the datasets of the job, or the listener alone can."""

_PREFIX = re.compile(rf"([0-9a-f]{{4,{MAX_PREFIX_DIGITS}}})?")


def check_prefix(prefix: str) -> None:
    """Raise ValueError for an invalid prefix; an empty one is valid and marks no job."""
    if not _PREFIX.fullmatch(prefix):
        raise ValueError(
            f"FLINK_JOB_ID_PREFIX is {prefix!r}, not 4 to {MAX_PREFIX_DIGITS} hexadecimal digits in lower case; "
            "give the openlineage.transport.jobIdPrefix of the cluster"
        )


def new_job_id(prefix: str, *, names_datasets: bool) -> str:
    """Return the id of a new job, 32 hexadecimal digits."""
    mark = prefix + (NAMES_DATASETS if names_datasets else NAMES_NONE) if prefix else ""
    return mark + os.urandom(16).hex()[len(mark) :]


def listener_reports_start(job_id: str, prefix: str) -> bool:
    """Return whether the start of the job's run comes from the listener, with the datasets that it alone knows."""
    return bool(prefix) and job_id.startswith(prefix + NAMES_NONE)
