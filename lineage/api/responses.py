# SPDX-License-Identifier: Apache-2.0
"""JSON responses of any length, encoded in slices so that a long one does not block the event loop."""

from collections.abc import Iterable

from fastapi import Response

from lineage.api.time_slices import in_slices
from lineage.events import JsonObject, canonical_json

_ROWS_PER_SLICE = 5
"""Rows encoded between two yields to the event loop: some milliseconds for the largest kinds, jobs and datasets."""


async def rows_response(key: str, rows: Iterable[JsonObject], size: int = _ROWS_PER_SLICE, **more: object) -> Response:
    """Return `{key: rows, **more}`; `rows` may be lazy, `size` of them are made and encoded at once."""
    encoded = [canonical_json(row) async for part in in_slices(rows, size) for row in part]
    parts = {name: canonical_json(value) for name, value in more.items()}
    parts[key] = b"[%b]" % b",".join(encoded)
    content = b",".join(b'"%b":%b' % (name.encode(), part) for name, part in sorted(parts.items()))
    return Response(b"{%b}" % content, media_type="application/json")


def json_response(value: object) -> Response:
    """Return one short value."""
    return Response(canonical_json(value), media_type="application/json")
