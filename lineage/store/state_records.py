# SPDX-License-Identifier: Apache-2.0
"""Encoding of records in the state file."""

import json

import msgspec
import zstandard

from lineage.events.ids import JsonObject
from lineage.graph.snapshot import Key, Snapshot, Subject

_LEVEL = 1


def packed_content(content: JsonObject) -> bytes:
    """Encode the content of a record."""
    return zstandard.ZstdCompressor(level=_LEVEL).compress(msgspec.msgpack.encode(content))


def unpacked_content(body: bytes) -> JsonObject:
    """Decode the content of a record.

    Raises:
        ValueError: it is damaged.
    """
    try:
        content: JsonObject = msgspec.msgpack.decode(zstandard.ZstdDecompressor().decompress(body))
    except (zstandard.ZstdError, msgspec.DecodeError) as error:
        raise ValueError(f"a record of the state file is damaged: {error}") from error
    return content


def state_record(kind: str, key: str, body: bytes) -> Snapshot:
    """Decode the record of a row.

    Raises:
        ValueError: the row is damaged.
    """
    return Snapshot(Key(Subject(kind), tuple(json.loads(key))), unpacked_content(body))
