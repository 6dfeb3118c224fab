# SPDX-License-Identifier: Apache-2.0
"""Request bodies, limited in size before and after decompression, in ratio, and in memory of all together."""

import asyncio
import zlib
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager

from fastapi import Request
from starlette.requests import ClientDisconnect

from lineage.api.errors import RETRY_OVERLOADED, ApiError

MAX_RATIO = 200
"""Ratio of unpacked to packed size; recorded events have 5 to 40, batches of similar events up to 100, bombs 1,000."""

RATIO_FROM = 2**20
"""Unpacked bytes from which the ratio is checked."""

FREE_BYTES = 64 * 1024
"""Bytes of each body that do not count against the budget: large bodies never keep usual events out."""

_SLICE = 256 * 1024
"""Bytes that are unpacked between two yields to the event loop: about a millisecond."""

_GZIP = 16 + zlib.MAX_WBITS


class BodyBudget:
    """Memory in bytes that the bodies of all requests in progress may take, beyond `FREE_BYTES` each."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._used = 0

    @contextmanager
    def share(self) -> Iterator["BodyShare"]:
        """Yield the share of one request, which is returned at the end."""
        share = BodyShare(self)
        try:
            yield share
        finally:
            self._used -= share.held

    def take(self, size: int) -> None:
        """Take a number of bytes.

        Raises:
            ApiError: 503 where they are not left.
        """
        if self._used + size > self._limit:
            message = "the bodies of all requests in progress take too much memory; send this one again"
            raise ApiError(503, "overloaded", message, headers={"Retry-After": RETRY_OVERLOADED})
        self._used += size


class BodyShare:
    """Share of one request in the budget."""

    def __init__(self, budget: BodyBudget) -> None:
        self._budget = budget
        self.held = 0

    def grow(self, size: int) -> None:
        """Hold memory for a body of `size` bytes.

        Raises:
            ApiError: 503 where it is not left.
        """
        more = size - FREE_BYTES - self.held
        if more > 0:
            self._budget.take(more)
            self.held += more


async def read_body(request: Request, limit: int, share: BodyShare | None = None) -> bytes:
    """Read the body and decompress gzip; at most `limit` bytes before and after, and `MAX_RATIO`.

    Raises:
        ApiError: 413 too large, 415 unknown encoding, 400 broken gzip or client gone, 503 no memory left in the budget.
    """
    encoding = request.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ("identity", "gzip", ""):
        message = f"content encoding {encoding!r} is not supported; send gzip or none"
        raise ApiError(415, "unsupported_encoding", message, {"encoding": encoding})
    length = request.headers.get("content-length", "")
    if length.isdecimal() and int(length) > limit:
        raise too_large(limit)
    parts = _limited(request, limit)
    unpacked = _unpacked(parts, limit) if encoding == "gzip" else parts
    body = bytearray()
    try:
        async for part in unpacked:
            body += part
            if share is not None:
                share.grow(len(body))
    except ClientDisconnect as error:
        raise ApiError(400, "disconnected", "the client closed the connection within the body") from error
    return bytes(body)


async def _limited(request: Request, limit: int) -> AsyncIterator[bytes]:
    """Yield the parts of the body as they arrive, at most `limit` bytes."""
    size = 0
    async for part in request.stream():
        size += len(part)
        if size > limit:
            raise too_large(limit)
        if part:
            yield part


async def _unpacked(parts: AsyncIterator[bytes], limit: int) -> AsyncIterator[bytes]:
    """Yield the unpacked body in slices, while it arrives."""
    unpacker = zlib.decompressobj(_GZIP)
    packed = size = 0
    async for part in parts:
        packed += len(part)
        rest = part
        while rest and not unpacker.eof:
            unpacked = _unpack(unpacker, rest)
            rest = unpacker.unconsumed_tail
            size += len(unpacked)
            if size > limit:
                raise too_large(limit)
            if size > RATIO_FROM and size > MAX_RATIO * (packed - len(rest)):
                message = f"the gzip body expands more than {MAX_RATIO} times; send it unpacked"
                raise ApiError(413, "too_large", message, {"maxRatio": MAX_RATIO}, {"Connection": "close"})
            yield unpacked
            if rest:
                await asyncio.sleep(0)
        if unpacker.unused_data or (unpacker.eof and rest):
            raise _malformed_gzip("the gzip body is followed by other data")
    # What the decompressor holds back after its last input.
    while not unpacker.eof and (unpacked := _unpack(unpacker, b"")):
        size += len(unpacked)
        if size > limit:
            raise too_large(limit)
        yield unpacked
    if not unpacker.eof:
        raise _malformed_gzip("the gzip body is cut short")


def _unpack(unpacker: "zlib._Decompress", data: bytes) -> bytes:
    try:
        return unpacker.decompress(data, _SLICE)
    except zlib.error as error:
        raise _malformed_gzip(f"the body is not gzip: {error}") from error


def _malformed_gzip(message: str) -> ApiError:
    return ApiError(400, "malformed_gzip", message)


def too_large(limit: int) -> ApiError:
    """Return the error for a body of more than `limit` bytes."""
    message = f"an event may have {limit} bytes, also unpacked; leave out large facets such as query plans"
    return ApiError(413, "too_large", message, {"limit": limit})
