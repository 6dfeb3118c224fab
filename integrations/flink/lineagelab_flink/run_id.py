# SPDX-License-Identifier: Apache-2.0
"""Run id that OpenLineage's Flink listener gives to a job, so that launcher and listener report the same run.

A UUID of version 7 whose random part is the SHA-1 of the job's start, as Java formats an instant, and of its id.
Source: `OpenLineageContext.setRunUuidFromFlinkJobId` of openlineage-flink 1.53, checked against its events.
"""

import hashlib
from datetime import UTC, datetime
from uuid import UUID

_RANDOM_A, _RANDOM_B = (1 << 12) - 1, (1 << 62) - 1


def run_id(job_id: str, started: int) -> str:
    """Return the run id of a job.

    Args:
        job_id: 32 hexadecimal digits, as in Flink's REST API.
        started: its `start-time` there, in milliseconds since 1970.
    """
    digest = hashlib.sha1((_instant(started) + job_id).encode()).digest()
    high = started << 16 | 0x7000 | int.from_bytes(digest[:8], "big") & _RANDOM_A
    low = 1 << 63 | int.from_bytes(digest[8:16], "big") & _RANDOM_B
    return str(UUID(int=(high & (1 << 64) - 1) << 64 | low))


def _instant(milliseconds: int) -> str:
    """Return `java.time.Instant.toString`, which omits a zero fraction."""
    seconds, rest = divmod(milliseconds, 1000)
    fraction = f".{rest:03d}" if rest else ""
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}{fraction}Z"
