# SPDX-License-Identifier: Apache-2.0
"""JSON responses of any length."""

import asyncio
import json

import pytest

from lineage.api.responses import rows_response
from lineage.events import canonical_json


async def sent(rows, **more):
    """Return the declared length and the blocks of a response, as a server sends them."""
    response = await rows_response("graph", iter(rows), **more)
    blocks = []

    async def send(message):
        if message["type"] == "http.response.body" and message["body"]:
            blocks.append(message["body"])

    async def receive():
        await asyncio.Event().wait()

    await response({"type": "http", "asgi": {"spec_version": "2.4"}}, receive, send)
    return int(response.headers["content-length"]), blocks


@pytest.mark.parametrize(
    ("rows", "blocks"),
    [
        pytest.param(0, 1, id="none"),
        pytest.param(3, 1, id="short"),
        pytest.param(2000, 2, id="long"),
    ],
)
def test_rows_are_one_json_object_of_the_declared_length(rows, blocks):
    expected = {"after": 1, "graph": [{"number": number, "text": "ä" * 100} for number in range(rows)], "total": rows}
    length, found = asyncio.run(sent(expected["graph"], after=1, total=rows))
    text = b"".join(found)
    assert text == canonical_json(expected)
    assert json.loads(text) == expected
    assert length == len(text)
    assert len(found) == blocks
