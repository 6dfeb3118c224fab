# SPDX-License-Identifier: Apache-2.0
"""The lineage run of a Flink job: the id that OpenLineage's listener for Flink gives it, so that both speak of one run.

Found in openlineage-flink 1.53 (`OpenLineageContext.setRunUuidFromFlinkJobId`) and checked against its events: a UUID
of version 7, whose random part is made of a SHA-1 of the job's start, as Java writes an instant, and of its id.
"""

import hashlib
from datetime import UTC, datetime
from uuid import UUID

_RANDOM_A, _RANDOM_B = (1 << 12) - 1, (1 << 62) - 1


def run_id(job_id: str, started: int) -> str:
    """The run of a job.

    Args:
        job_id: 32 hexadecimal digits, as Flink's REST API has it.
        started: its `start-time` there, in milliseconds since 1970.
    """
    digest = hashlib.sha1((_instant(started) + job_id).encode()).digest()
    high = started << 16 | 0x7000 | int.from_bytes(digest[:8], "big") & _RANDOM_A
    low = 1 << 63 | int.from_bytes(digest[8:16], "big") & _RANDOM_B
    return str(UUID(int=(high & (1 << 64) - 1) << 64 | low))


def _instant(milliseconds: int) -> str:
    """As `java.time.Instant.toString`: without a fraction where there is none."""
    seconds, rest = divmod(milliseconds, 1000)
    fraction = f".{rest:03d}" if rest else ""
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}{fraction}Z"
