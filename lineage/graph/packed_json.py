# SPDX-License-Identifier: Apache-2.0
"""Large facets in memory: compressed, a hundredth of the size of the objects that they are unpacked to."""

from hashlib import blake2b
from typing import TypeAlias

import orjson

from lineage.events.ids import JsonObject
from lineage.graph import zstd

PACKED_FACETS = frozenset(
    {
        *("columnLineage", "lineage", "schema", "sourceCode", "sql"),
        *("environment-properties", "spark.logicalPlan", "spark_properties", "spark_unknown"),
    }
)
"""Facets that are packed; with many columns these are nearly all of a service's memory."""

_DIGEST_BYTES, _LEVEL = 16, 1


class PackedJson:
    """A JSON object, immutable. `digest` is equal for equal objects whose keys have the same order."""

    __slots__ = ("_body", "digest")

    def __init__(self, value: JsonObject) -> None:
        plain = orjson.dumps(value)
        self.digest = _digest(plain)
        self._body = zstd.compressed(plain, _LEVEL)

    @classmethod
    def of_bytes(cls, stored: bytes) -> "PackedJson":
        """Return the object that `bytes` stored."""
        packed = cls.__new__(cls)
        packed.digest, packed._body = stored[:_DIGEST_BYTES], stored[_DIGEST_BYTES:]
        return packed

    def __bytes__(self) -> bytes:
        return self.digest + self._body

    @property
    def value(self) -> JsonObject:
        """Return the object, a new one each time."""
        value: JsonObject = orjson.loads(zstd.decompressed(self._body))
        return value


StoredJson: TypeAlias = JsonObject | PackedJson


def packed_facet(name: str, value: StoredJson) -> StoredJson:
    """Return the stored form of a facet. Tombstones are not packed, as every read checks for them."""
    if name not in PACKED_FACETS or isinstance(value, PackedJson) or is_tombstone(value):
        return value
    return PackedJson(value)


def is_tombstone(value: StoredJson) -> bool:
    """Return whether a stored facet says that the facet was deleted."""
    return not isinstance(value, PackedJson) and value.get("_deleted") is True


def plain_facet(value: StoredJson) -> JsonObject:
    """Return a stored facet as an object."""
    return value.value if isinstance(value, PackedJson) else value


def digest_of(value: StoredJson) -> bytes:
    """Return the digest that a value has when it is packed."""
    return value.digest if isinstance(value, PackedJson) else _digest(orjson.dumps(value))


def _digest(plain: bytes) -> bytes:
    return blake2b(plain, digest_size=_DIGEST_BYTES).digest()
