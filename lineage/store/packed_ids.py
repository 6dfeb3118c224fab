# SPDX-License-Identifier: Apache-2.0
"""UUIDs of runs as they are stored."""

from uuid import UUID


def packed_id(run: str) -> bytes | str:
    """Return a UUID in 16 bytes; unchanged if it is in another spelling."""
    try:
        packed = UUID(run)
    except ValueError:
        return run
    return packed.bytes if str(packed) == run else run


def unpacked_id(run: bytes | str) -> str:
    """Return the UUID of a stored one."""
    return run if isinstance(run, str) else str(UUID(bytes=run))
