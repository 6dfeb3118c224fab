# SPDX-License-Identifier: Apache-2.0
"""Compression of events in the log, and of answers about the past."""

import zstandard

from lineage.graph import zstd

LEVEL = 3
_MAGIC = zstandard.FRAME_HEADER


def compress(data: bytes) -> bytes:
    """Compress JSON text."""
    return zstd.compressed(data, LEVEL)


def decompress(body: bytes) -> bytes:
    """Return the JSON text. That of an event is not compressed in segments, nor in rows of schema 2 and before.

    Raises:
        ValueError: the body is damaged.
    """
    if not body.startswith(_MAGIC):
        return body
    try:
        return zstd.decompressed(body)
    except zstandard.ZstdError as error:
        raise ValueError(f"the compressed event is damaged: {error}") from error
