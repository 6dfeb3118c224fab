# SPDX-License-Identifier: Apache-2.0
"""Compression of what is in memory: values that only this version of Python reads again."""

from marshal import dumps, loads
from typing import Any

from lineage.graph import zstd

_LEVEL = 1


def pack(value: Any) -> bytes:  # noqa: ANN401 - any value of plain types
    """Return a value of plain types (JSON, tuples, bytes) packed. Equal values may have different bytes."""
    return zstd.compressed(dumps(value), _LEVEL)


def unpack(packed: bytes) -> Any:  # noqa: ANN401 - any value of plain types
    """Return the value that was packed, a new one each time; strings that were interned are interned again."""
    return loads(zstd.decompressed(packed))
