# SPDX-License-Identifier: Apache-2.0
"""Versions of a dataset, derived from what its events state.

Statements of readers count only if no other one was made. Columns or version that a statement omits are unchanged.
"""

from collections.abc import Iterable
from typing import NamedTuple

from lineage.events.event import Order
from lineage.events.ids import JsonObject, RunId
from lineage.graph.dataset_statements import DatasetStatement, DatasetStatements, PackedColumns, columns_digest

NO_COLUMNS = columns_digest([])
"""Digest of unknown columns."""

_LATEST = 2
"""Statements of which the latest version is derived first: most have columns and version."""


class DatasetVersion(NamedTuple):
    """State of a dataset, identified by its columns or by the `version` facet's datasetVersion.

    `order` is the first event with it, `run` the run that sent it (None: a dataset event).
    """

    order: Order
    run: RunId | None
    columns: PackedColumns | None
    version: str | None

    @property
    def fields(self) -> list[JsonObject]:
        """Return the columns; empty if unknown."""
        return self.columns.fields if self.columns else []

    def has_columns(self, digest: bytes) -> bool:
        """Return whether the version has the columns with a digest (`columns_digest`)."""
        return (self.columns.digest if self.columns else NO_COLUMNS) == digest


def all_versions(statements: DatasetStatements) -> list[DatasetVersion]:
    """Return all versions, oldest first."""
    found = statements.all()
    return _versions([said for said in found if not said.read] or found)


def last_version_with(statements: DatasetStatements, columns: bytes) -> DatasetVersion | None:
    """Return the last version that has columns, by their digest; the last one if none has; None without any.

    Of a long history usually only the last statements are read. Their `order` and `run` may be those of a later
    statement than the first one of the version.
    """
    latest = _versions(statements.latest(False, _LATEST) or statements.latest(True, _LATEST))[-1:]
    if latest and latest[0].version and latest[0].columns and latest[0].has_columns(columns):
        return latest[0]
    versions = all_versions(statements)
    same = [version for version in versions if version.has_columns(columns)] or versions
    return same[-1] if same else None


def is_stated(statements: DatasetStatements, columns: bytes, version: str) -> bool:
    """Return whether one statement that counts has columns, by their digest, and a version."""
    if statements.has(False, columns, version):
        return True
    return statements.has(True, columns, version) and not statements.latest(False, 1)


def _versions(statements: Iterable[DatasetStatement]) -> list[DatasetVersion]:
    versions: list[DatasetVersion] = []
    columns: PackedColumns | None = None
    version: str | None = None
    for statement in statements:
        columns = statement.columns or columns
        version = statement.version or version
        found = DatasetVersion(statement.order, statement.run, columns, version)
        if not versions or not _is_same(versions[-1], found):
            versions.append(found)
    return versions


def _is_same(one: DatasetVersion, other: DatasetVersion) -> bool:
    return one.version == other.version and one.has_columns(other.columns.digest if other.columns else NO_COLUMNS)
