# SPDX-License-Identifier: Apache-2.0
"""Compression of what is in memory: values that only this version of Python reads again."""

from marshal import dumps, loads
from threading import local
from typing import Any

import zstandard

_LEVEL = 1


def compressed(plain: bytes) -> bytes:
    """Return bytes compressed."""
    # A copy: the compressor returns bytes within a block of memory for the longest possible result.
    return bytes(memoryview(_threads.compressor.compress(plain)))


def pack(value: Any) -> bytes:  # noqa: ANN401 - any value of plain types
    """Return a value of plain types (JSON, tuples, bytes) packed. Equal values may have different bytes."""
    return compressed(dumps(value))


def unpack(packed: bytes) -> Any:  # noqa: ANN401 - any value of plain types
    """Return the value that was packed, a new one each time; strings that were interned are interned again."""
    return loads(_threads.decompressor.decompress(packed))


class _Threads(local):
    """Contexts of each thread: they are not thread-safe, and expensive to make."""

    def __init__(self) -> None:
        self.compressor = zstandard.ZstdCompressor(level=_LEVEL)
        self.decompressor = zstandard.ZstdDecompressor()


_threads = _Threads()
