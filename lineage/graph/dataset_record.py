# SPDX-License-Identifier: Apache-2.0
"""Record of a dataset."""

from collections.abc import Callable
from dataclasses import InitVar, dataclass, field

from lineage.events.event import Order
from lineage.events.ids import DatasetId, JsonObject, RunId
from lineage.graph.dataset_statements import (
    DatasetStatement,
    DatasetStatements,
    PackedColumns,
    StatementArchive,
    schema_digest,
)
from lineage.graph.dataset_versions import NO_COLUMNS, DatasetVersion, all_versions
from lineage.graph.descriptive_facets import MERGED_FACETS, DescriptiveFacets, merge_roles
from lineage.graph.mergeable import Span, effective_facet
from lineage.graph.name_statements import (
    Change,
    LifecycleChange,
    NameStatements,
    Write,
    Writes,
    join_write,
    lifecycle_change,
    written_after,
)
from lineage.graph.packed_json import is_tombstone


@dataclass(slots=True, kw_only=True)
class DatasetRecord:
    """One dataset: state merged from all events.

    `facets` are those of writers and dataset events, `read_facets` those of readers, which may be partial or of
    another time: a writer's takes precedence. `names` is what events state about names; None without any. Older
    statements of columns and versions are moved to the archive, if there is one.
    """

    id: DatasetId
    span: Span
    facets: DescriptiveFacets = field(default_factory=DescriptiveFacets)
    read_facets: DescriptiveFacets = field(default_factory=DescriptiveFacets)
    archive: InitVar[StatementArchive | None] = None
    statements: DatasetStatements = field(init=False)
    writes: Writes = ()
    names: NameStatements | None = None
    _last_statement: tuple[JsonObject | None, JsonObject | None, bool, Order] | None = None
    _last_columns: tuple[JsonObject | None, PackedColumns | None] | None = None

    def __post_init__(self, archive: StatementArchive | None) -> None:
        """Begin without statements."""
        self.statements = DatasetStatements(self.id, archive)

    def join(self, order: Order, dataset: JsonObject, read: bool, run: RunId | None) -> JsonObject:
        """Apply the facets of one event (of `run`, if any); `read` if the dataset is an input.

        Returns `dataset` with facets shared.
        """
        self.span.join(order)
        own, other = (self.read_facets, self.facets) if read else (self.facets, self.read_facets)
        facets = other.share(own.share(dataset.get("facets") or {}))
        if not read or "symlinks" in facets:
            self._join_names(order, facets, read, run)
        if facets:
            own.join(order, facets)
            self._join_statement(order, run, read, facets)
        return {**dataset, "facets": facets}

    def merge(self, other: "DatasetRecord") -> None:
        """Merge the record of another name of this dataset."""
        self.span.merge(other.span)
        self.facets.merge(other.facets)
        self.read_facets.merge(other.read_facets)
        for statement in other.statements.all():
            self.statements.join(statement)
        for write in other.writes:
            self.writes = join_write(self.writes, write)
        if other.names is not None:
            self.stated_names().merge(other.names)

    def stated_names(self) -> NameStatements:
        """Return what events state about names, to be added to."""
        if self.names is None:
            self.names = NameStatements()
        return self.names

    def dropped(self, has_failed: Callable[[RunId], bool]) -> LifecycleChange | None:
        """Return the DROP in force: of a run that did not fail, and without a later write by another one."""
        if self.names is None:
            return None
        drops = [
            change
            for change in self.names.changes.values()
            if change.change is Change.DROP and not (change.run is not None and has_failed(change.run))
        ]
        last = max(drops, key=lambda change: change.order, default=None)
        return None if last is None or written_after(self.writes, last) else last

    def all_facets(self) -> dict[str, JsonObject]:
        """Return all current facets; see `facet`."""
        names = dict.fromkeys((*self.read_facets.names(), *self.facets.names()))
        return {name: facet for name in names if (facet := self.facet(name)) is not None}

    def facet(self, name: str) -> JsonObject | None:
        """Return a current facet: a writer's, else a reader's; a merged one has the rows of both."""
        written = self.facets.get(name)
        if written is not None and name not in MERGED_FACETS:
            # A reader's need not be unpacked.
            return written
        read = self.read_facets.get(name)
        if written is None or read is None:
            return read if written is None else written
        merged = merge_roles(name, self.read_facets.producer_registers(name), self.facets.producer_registers(name))
        return merged.value if merged else None

    def fields(self) -> list[JsonObject]:
        """Return the schema's columns; empty if unknown."""
        fields: list[JsonObject] = (self.facet("schema") or {}).get("fields") or []
        return fields

    def columns_digest(self) -> bytes:
        """Return the digest of the schema's columns, as a version has it (`DatasetVersion.has_columns`)."""
        register = self.facets.register("schema") or self.read_facets.register("schema")
        return (register and schema_digest(register.stored)) or NO_COLUMNS

    @property
    def has_columns_of_readers(self) -> bool:
        """Return whether only readers state the columns, which may be some of them, or parts of a record."""
        return self.facets.register("schema") is None and self.read_facets.register("schema") is not None

    def versions(self) -> list[DatasetVersion]:
        """Return the dataset's versions, oldest first."""
        return all_versions(self.statements)

    def _join_names(self, order: Order, facets: JsonObject, read: bool, run: RunId | None) -> None:
        if (symlinks := facets.get("symlinks")) is not None:
            self.stated_names().join_symlinks(order, symlinks)
        if read:
            return
        stated = facets.get("lifecycleStateChange")
        change = lifecycle_change(order, run, stated) if stated is not None else None
        if change is None:
            self.writes = join_write(self.writes, Write(order, run if stated is None else None))
            return
        self.stated_names().join_change(change)
        if change.change is Change.RENAME:
            self.writes = join_write(self.writes, Write(order, None))

    def _join_statement(self, order: Order, run: RunId | None, read: bool, facets: JsonObject) -> None:
        stated = facets.get("schema"), facets.get("version")
        last = self._last_statement
        # Equal facets are shared: repeated statements carry identical objects.
        if last and last[0] is stated[0] and last[1] is stated[1] and last[2] is read and last[3] < order:
            return
        self._last_statement = (*stated, read, order)
        columns = self._columns_of(facets)
        version = (effective_facet(facets, "version") or {}).get("datasetVersion")
        if columns is None and not isinstance(version, str):
            return
        self.statements.join(DatasetStatement(order, run, read, columns, version if isinstance(version, str) else None))

    def _columns_of(self, facets: JsonObject) -> PackedColumns | None:
        """Return the columns of the schema facet; those of the last one if it is the same object."""
        schema = facets.get("schema")
        if self._last_columns is None or self._last_columns[0] is not schema:
            stated = None if schema is None or is_tombstone(schema) else schema
            self._last_columns = schema, None if stated is None else self.statements.packed(stated)
        return self._last_columns[1]
