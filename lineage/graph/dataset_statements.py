# SPDX-License-Identifier: Apache-2.0
"""Statements of events about a dataset's columns and version: the last ones in memory, the others in an archive."""

from collections.abc import Iterable
from hashlib import blake2b
from itertools import count
from typing import NamedTuple, Protocol

from lineage.events.event import Order
from lineage.events.ids import DatasetId, JsonObject, RunId
from lineage.events.strict_json import canonical_json
from lineage.graph.memo import Memo
from lineage.graph.packed_json import PackedJson, StoredJson, plain_facet

MAX_LOADED = 8
"""Statements in memory with which the older ones of them are archived."""

KEPT = 2
"""Latest statements that stay in memory."""

_FIELDS = "fields"
_DIGEST_BYTES = 16

_MAX_DIGESTS = 20_000
_digests: Memo[bytes, bytes | None] = Memo(_MAX_DIGESTS)
"""Digests of columns by digest of the schema facet: one takes 0.2 kB, and the time of unpacking the facet."""


class PackedColumns:
    """Columns of a dataset, packed; `digest` is equal for equal columns."""

    __slots__ = ("digest", "packed")

    def __init__(self, digest: bytes, packed: PackedJson) -> None:
        self.digest = digest
        self.packed = packed

    @classmethod
    def of(cls, fields: list[JsonObject]) -> "PackedColumns":
        """Pack columns."""
        return cls(columns_digest(fields), PackedJson({_FIELDS: fields}))

    @classmethod
    def of_schema(cls, schema: StoredJson, known: Iterable["PackedColumns"] = ()) -> "PackedColumns | None":
        """Pack the columns of a schema facet, or return those of `known` that equal them; None if it has none."""
        digest = schema_digest(schema)
        if digest is None:
            return None
        equal = next((columns for columns in known if columns.digest == digest), None)
        return equal or cls(digest, PackedJson({_FIELDS: plain_facet(schema)[_FIELDS]}))

    @classmethod
    def of_bytes(cls, stored: bytes) -> "PackedColumns":
        """Return the columns that `bytes` stored."""
        return cls(stored[:_DIGEST_BYTES], PackedJson.of_bytes(stored[_DIGEST_BYTES:]))

    def __bytes__(self) -> bytes:
        return self.digest + bytes(self.packed)

    @property
    def fields(self) -> list[JsonObject]:
        """Return the columns, a new list each time."""
        fields: list[JsonObject] = self.packed.value[_FIELDS]
        return fields


def _digest(content: bytes) -> bytes:
    return blake2b(content, digest_size=_DIGEST_BYTES).digest()


def columns_digest(fields: list[JsonObject]) -> bytes:
    """Return the digest of columns."""
    return _digest(canonical_json(fields))


def schema_digest(schema: StoredJson) -> bytes | None:
    """Return the digest of the columns of a schema facet that is no tombstone; None if it has no `fields`."""
    if not isinstance(schema, PackedJson):
        return _fields_digest(schema)
    return _digests.get(schema.digest, lambda: _fields_digest(schema.value))


def _fields_digest(schema: JsonObject) -> bytes | None:
    fields = schema.get(_FIELDS)
    return None if fields is None else columns_digest(fields)


class DatasetStatement(NamedTuple):
    """Columns and version of a dataset that one event states; None if it omits them."""

    order: Order
    run: RunId | None
    read: bool
    columns: PackedColumns | None
    version: str | None

    @property
    def key(self) -> bytes:
        """Return a key that is equal for equal statements."""
        return _key(self.read, self.columns.digest if self.columns else None, self.version)


def _key(read: bool, columns: bytes | None, version: str | None) -> bytes:
    stated = b"" if version is None else b"=" + version.encode()
    return _digest(b"%d%s%s" % (read, columns or b"", stated))


class StatementArchive(Protocol):
    """Archive of statements. A statement is either in it or in memory."""

    def add_statements(self, dataset: DatasetId, statements: Iterable[DatasetStatement]) -> None:
        """Add statements about a dataset."""

    def order_of_statement(self, dataset: DatasetId, key: bytes) -> Order | None:
        """Return the order of an archived statement; None if it is not in the archive."""

    def remove_statement(self, dataset: DatasetId, key: bytes) -> None:
        """Remove a statement."""

    def statements(self, dataset: DatasetId) -> list[DatasetStatement]:
        """Return all archived statements about a dataset, in any order."""

    def latest_statements(self, dataset: DatasetId, read: bool, number: int) -> list[DatasetStatement]:
        """Return the latest archived statements of a dataset's readers, or of others; at most `number`."""

    def statements_of(self, dataset: DatasetId) -> int:
        """Return the number of archived statements about a dataset."""


_REVISIONS = count(1)


class DatasetStatements:
    """Statements about one dataset, of equal ones the first. `loaded` are those in memory, by key.

    `revision` is another number for each record that was made, merged or read from disk, and after each statement that
    is older than the latest one or has other columns. While it stays equal, only versions were added.
    """

    __slots__ = ("_archive", "_dataset", "archived", "loaded", "revision")

    def __init__(self, dataset: DatasetId, archive: StatementArchive | None = None) -> None:
        self._dataset = dataset
        self._archive = archive
        self.archived = 0
        self.revision = next(_REVISIONS)
        self.loaded: dict[bytes, DatasetStatement] = {}

    def join(self, statement: DatasetStatement) -> None:
        """Add a statement; idempotent."""
        key = statement.key
        known = self.loaded.get(key)
        first = known.order if known is not None else self._archived_order(key)
        if first is not None and first <= statement.order:
            return
        if first is not None and known is None and self._archive is not None:
            self._archive.remove_statement(self._dataset, key)
            self.archived -= 1
        latest = max(self.loaded.values(), key=lambda other: other.order, default=None)
        if latest is None or statement.order < latest.order or not _have_equal_columns(statement, latest):
            self.revision = next(_REVISIONS)
        self.loaded[key] = statement
        if self._archive is not None and len(self.loaded) > MAX_LOADED:
            self._archive_oldest(self._archive)

    def packed(self, schema: StoredJson) -> PackedColumns | None:
        """Return the columns of a schema facet packed; those of a statement in memory if they are equal."""
        known = (known.columns for known in self.loaded.values() if known.columns is not None)
        return PackedColumns.of_schema(schema, known)

    def all(self) -> list[DatasetStatement]:
        """Return all statements in total order."""
        found = list(self.loaded.values())
        if self._archive is not None and self.archived:
            found += self._archive.statements(self._dataset)
        return sorted(found, key=_place)

    def latest(self, read: bool, number: int) -> list[DatasetStatement]:
        """Return the latest statements of readers, or of others, in total order; at most `number`."""
        found = {key: said for key, said in self.loaded.items() if said.read is read}
        if self._archive is not None and self.archived:
            archived = self._archive.latest_statements(self._dataset, read, number)
            found = {said.key: said for said in archived} | found
        return sorted(found.values(), key=_place)[-number:]

    def has(self, read: bool, columns: bytes, version: str) -> bool:
        """Return whether one statement, of a reader or another one, has columns, by their digest, and a version."""
        key = _key(read, columns, version)
        return key in self.loaded or self._archived_order(key) is not None

    def forget(self, before: int, kept: int) -> None:
        """Remove statements in memory from before a time (ns), but for the newest `kept` of them."""
        old = sorted(
            found for found in ((said.order, key) for key, said in self.loaded.items()) if found[0].time < before
        )
        for _, key in old[: max(0, len(old) - kept)]:
            del self.loaded[key]

    def restore(self, archive: StatementArchive) -> None:
        """Connect restored statements with the archive, which has the others."""
        self._archive = archive
        self.archived = archive.statements_of(self._dataset)

    def _archived_order(self, key: bytes) -> Order | None:
        if self._archive is None or not self.archived:
            return None
        return self._archive.order_of_statement(self._dataset, key)

    def _archive_oldest(self, archive: StatementArchive) -> None:
        oldest = sorted(self.loaded.values(), key=_place)[:-KEPT]
        archive.add_statements(self._dataset, oldest)
        self.archived += len(oldest)
        for statement in oldest:
            del self.loaded[statement.key]


def _place(statement: DatasetStatement) -> tuple[Order, bytes]:
    return statement.order, statement.key


def _have_equal_columns(one: DatasetStatement, other: DatasetStatement) -> bool:
    return (one.columns and one.columns.digest) == (other.columns and other.columns.digest)
