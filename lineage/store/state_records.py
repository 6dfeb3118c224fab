# SPDX-License-Identifier: Apache-2.0
"""Encoding of records in the state file."""

import json

import msgspec
import zstandard

from lineage.events.ids import JsonObject
from lineage.graph import zstd
from lineage.graph.dataset_statements import PackedColumns
from lineage.graph.packed_json import PackedJson
from lineage.graph.snapshot import Key, Snapshot, Subject

_LEVEL = -1
"""Fast: most of a record are facets that are compressed already, which level 1 makes no smaller in twice the time."""

_PACKED_JSON, _PACKED_COLUMNS = 1, 2
"""Types of extensions of MessagePack."""


def _extension(value: object) -> msgspec.msgpack.Ext:
    match value:
        case PackedJson():
            return msgspec.msgpack.Ext(_PACKED_JSON, bytes(value))
        case PackedColumns():
            return msgspec.msgpack.Ext(_PACKED_COLUMNS, bytes(value))
    raise NotImplementedError(f"{type(value).__name__} is no part of a record")


def _extended(code: int, data: memoryview) -> object:
    kind = PackedJson if code == _PACKED_JSON else PackedColumns
    return kind.of_bytes(bytes(data))


_encoder = msgspec.msgpack.Encoder(enc_hook=_extension)
_decoder = msgspec.msgpack.Decoder(ext_hook=_extended)


def packed_content(content: JsonObject) -> bytes:
    """Encode the content of a record."""
    return zstd.compressed(_encoder.encode(content), _LEVEL)


def unpacked_content(body: bytes) -> JsonObject:
    """Decode the content of a record.

    Raises:
        ValueError: it is damaged.
    """
    return decoded_content(decompressed_content(body))


def decompressed_content(body: bytes) -> bytes:
    """Decompress the content of a record, which is compressed with that of others.

    Raises:
        ValueError: it is damaged.
    """
    try:
        return zstd.decompressed(body)
    except zstandard.ZstdError as error:
        raise ValueError(f"a record of the state file is damaged: {error}") from error


def decoded_content(content: bytes) -> JsonObject:
    """Decode the content of a record that was decompressed.

    Raises:
        ValueError: it is damaged.
    """
    try:
        found: JsonObject = _decoder.decode(content)
    except msgspec.DecodeError as error:
        raise ValueError(f"a record of the state file is damaged: {error}") from error
    return found


def state_record(kind: str, key: str, body: bytes) -> Snapshot:
    """Decode the record of a row.

    Raises:
        ValueError: the row is damaged.
    """
    return decompressed_record(kind, key, decompressed_content(body))


def decompressed_record(kind: str, key: str, content: bytes) -> Snapshot:
    """Decode the record of a row whose content was decompressed.

    Raises:
        ValueError: the row is damaged.
    """
    return Snapshot(Key(Subject(kind), tuple(json.loads(key))), decoded_content(content))
