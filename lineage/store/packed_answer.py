# SPDX-License-Identifier: Apache-2.0
"""JSON text of an answer, compressed: that of a whole graph has hundreds of megabytes, and compresses 15 times."""

from collections.abc import Iterator
from dataclasses import dataclass

import zstandard

from lineage.store.compression import LEVEL, decompress


@dataclass(frozen=True)
class PackedAnswer:
    """Text that `lineage.store.compression.compress` compressed."""

    body: bytes

    @property
    def size(self) -> int:
        """Return the number of bytes of the text."""
        return zstandard.frame_content_size(self.body)

    @property
    def text(self) -> bytes:
        """Return the text."""
        return decompress(self.body)

    def blocks(self, size: int) -> Iterator[bytes]:
        """Yield the text in blocks of up to `size` bytes, each of which is decompressed when it is asked for."""
        yield from zstandard.ZstdDecompressor().read_to_iter(self.body, write_size=size)


class PackedText:
    """Text of `size` bytes that is compressed while it is made."""

    def __init__(self, size: int) -> None:
        self._compressor = zstandard.ZstdCompressor(level=LEVEL).compressobj(size=size)
        self._parts: list[bytes] = []

    def add(self, text: bytes) -> None:
        """Append text."""
        self._parts.append(self._compressor.compress(text))

    def answer(self) -> PackedAnswer:
        """Return all of the text; nothing can be added any more."""
        return PackedAnswer(b"".join([*self._parts, self._compressor.flush()]))
