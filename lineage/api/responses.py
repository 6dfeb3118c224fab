# SPDX-License-Identifier: Apache-2.0
"""Answers of any length, made in turns so that a long one does not keep others from the event loop."""

from collections.abc import Iterable

from fastapi import Response

from lineage.api.time_slices import in_slices
from lineage.events import JsonObject, canonical_json

_ROWS = 20
"""Rows made and encoded between two turns of others: some milliseconds for the largest kind, jobs."""


async def rows_response(key: str, rows: Iterable[JsonObject], **more: object) -> Response:
    """`{key: rows, more}`; `rows` are made as they are encoded."""
    encoded = [canonical_json(row) async for part in in_slices(rows, _ROWS) for row in part]
    parts = {name: canonical_json(value) for name, value in more.items()}
    parts[key] = b"[%b]" % b",".join(encoded)
    content = b",".join(b'"%b":%b' % (name.encode(), part) for name, part in sorted(parts.items()))
    return Response(b"{%b}" % content, media_type="application/json")


def json_response(value: object) -> Response:
    """One short value."""
    return Response(canonical_json(value), media_type="application/json")
