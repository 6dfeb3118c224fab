# SPDX-License-Identifier: Apache-2.0
"""JSON responses of any length, encoded in slices so that a long one does not block the event loop."""

from collections.abc import AsyncIterator, Iterable

from fastapi import Response
from fastapi.responses import StreamingResponse

from lineage.api.time_slices import in_slices
from lineage.events import JsonObject, canonical_json
from lineage.store.packed_answer import PackedAnswer

_ROWS_PER_SLICE = 5
"""Rows encoded between two yields to the event loop: some milliseconds for the largest kinds, jobs and datasets."""

_BLOCK_BYTES = 2**18
"""Bytes of a response that are sent at once."""

_JSON = "application/json"


async def rows_response(key: str, rows: Iterable[JsonObject], size: int = _ROWS_PER_SLICE, **more: object) -> Response:
    """Return `{key: rows, **more}`; `rows` may be lazy, `size` of them are made and encoded at once."""
    parts = {name: canonical_json(value) for name, value in more.items()}
    before, after = (
        b"".join(b'"%b":%b,' % (name.encode(), parts[name]) for name in sorted(parts) if name < key),
        b"".join(b',"%b":%b' % (name.encode(), parts[name]) for name in sorted(parts) if name > key),
    )
    content = _Content(b'{%b"%b":[' % (before, key.encode()))
    separator = b""
    async for part in in_slices(rows, size):
        for row in part:
            content.add(separator + canonical_json(row))
            separator = b","
    content.add(b"]%b}" % after)
    return content.response()


class _Content:
    """JSON text in blocks. A long one is never joined, which would hold it in memory twice."""

    def __init__(self, beginning: bytes) -> None:
        self._blocks: list[bytes] = []
        self._last = bytearray(beginning)

    def add(self, text: bytes) -> None:
        """Append text."""
        self._last += text
        if len(self._last) >= _BLOCK_BYTES:
            self._blocks.append(bytes(self._last))
            self._last.clear()

    def response(self) -> Response:
        """Return the response; nothing can be added any more."""
        blocks = [*self._blocks, bytes(self._last)]
        if len(blocks) == 1:
            return Response(blocks[0], media_type=_JSON)
        length = {"Content-Length": str(sum(map(len, blocks)))}
        return StreamingResponse(_sent(blocks), media_type=_JSON, headers=length)


async def _sent(blocks: list[bytes]) -> AsyncIterator[bytes]:
    """Yield blocks, each of which is freed once it is sent."""
    blocks.reverse()
    while blocks:
        yield blocks.pop()


def packed_response(answer: PackedAnswer) -> Response:
    """Return an answer that is compressed in memory; a long one is decompressed while it is sent."""
    if answer.size <= _BLOCK_BYTES:
        return Response(answer.text, media_type=_JSON)
    return StreamingResponse(_unpacked(answer), media_type=_JSON, headers={"Content-Length": str(answer.size)})


async def _unpacked(answer: PackedAnswer) -> AsyncIterator[bytes]:
    for block in answer.blocks(_BLOCK_BYTES):
        yield block


def json_response(value: object) -> Response:
    """Return one short value."""
    return Response(canonical_json(value), media_type=_JSON)
