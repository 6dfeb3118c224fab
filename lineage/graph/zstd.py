# SPDX-License-Identifier: Apache-2.0
"""Compression of many small values: with contexts that are kept, as making one takes longer than to use it.

Segments of the log and copies of the checkpoint, which are few and large, have contexts of their own: one that is kept
stays as large as its largest value needs.
"""

from threading import local

import zstandard


def compressed(plain: bytes, level: int) -> bytes:
    """Return bytes compressed; the level should be one of few."""
    compressor = _threads.compressors.get(level)
    if compressor is None:
        compressor = _threads.compressors[level] = zstandard.ZstdCompressor(level=level)
    # A copy: the compressor returns bytes within a block of memory for the longest possible result.
    return bytes(memoryview(compressor.compress(plain)))


def decompressed(body: bytes) -> bytes:
    """Return bytes that were compressed.

    Raises:
        zstandard.ZstdError: they are damaged.
    """
    return _threads.decompressor.decompress(body)


class _Threads(local):
    """Contexts of each thread: they are not thread-safe."""

    def __init__(self) -> None:
        self.compressors: dict[int, zstandard.ZstdCompressor] = {}
        self.decompressor = zstandard.ZstdDecompressor()


_threads = _Threads()
