# SPDX-License-Identifier: Apache-2.0
"""Request bodies, limited in size before and after decompression."""

import zlib

from fastapi import Request

from lineage.api.errors import ApiError

_GZIP = 16 + zlib.MAX_WBITS


async def read_body(request: Request, limit: int) -> bytes:
    """Read the body and decompress gzip; at most `limit` bytes before and after.

    Raises:
        ApiError: 413 too large, 415 unknown encoding, 400 broken gzip.
    """
    encoding = request.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ("identity", "gzip", ""):
        message = f"content encoding {encoding!r} is not supported; send gzip or none"
        raise ApiError(415, "unsupported_encoding", message, {"encoding": encoding})
    length = request.headers.get("content-length", "")
    if length.isdecimal() and int(length) > limit:
        raise _too_large(limit)
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > limit:
            raise _too_large(limit)
    return _gunzip(bytes(body), limit) if encoding == "gzip" else bytes(body)


def _gunzip(data: bytes, limit: int) -> bytes:
    unpacker = zlib.decompressobj(_GZIP)
    try:
        # One byte more than the limit detects a decompression bomb without expanding it.
        unpacked = unpacker.decompress(data, limit + 1)
    except zlib.error as error:
        raise ApiError(400, "malformed_gzip", f"the body is not gzip: {error}") from error
    if len(unpacked) > limit:
        raise _too_large(limit)
    if not unpacker.eof or unpacker.unused_data:
        raise ApiError(400, "malformed_gzip", "the gzip body is cut short or followed by other data")
    return unpacked


def _too_large(limit: int) -> ApiError:
    message = f"an event may have {limit} bytes, also unpacked; leave out large facets such as query plans"
    return ApiError(413, "too_large", message, {"limit": limit})
