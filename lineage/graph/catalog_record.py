# SPDX-License-Identifier: Apache-2.0
"""Records of namespaces, sources and tags that requests describe, and the deletion of jobs and datasets."""

from dataclasses import dataclass

from lineage.events.event import Order
from lineage.events.ids import DatasetId, JsonObject
from lineage.events.own_facets import DELETED_FACET, CatalogKey, CatalogStatement, EntryKind
from lineage.graph.dataset_record import DatasetRecord
from lineage.graph.job_record import JobRecord
from lineage.graph.mergeable import Register, Span


@dataclass(slots=True)
class CatalogEntry:
    """Namespace, source or tag: its last description, and the last event that deleted it."""

    span: Span
    described: Register | None = None
    deleted: Order | None = None

    def join(self, order: Order, statement: CatalogStatement) -> None:
        """Merge one event; idempotent."""
        self.span.join(order)
        if statement.deleted:
            self.deleted = max(self.deleted or order, order)
        elif self.described is None or self.described.order < order:
            self.described = Register(order, statement.content)

    @property
    def content(self) -> JsonObject:
        """Return the last description; empty if no event describes the entry."""
        return self.described.value if self.described else {}


class CatalogEntries(dict[CatalogKey, CatalogEntry]):
    """All entries by kind and name. `dropped` are the datasets that are dropped, or deleted with their namespace."""

    def __init__(self) -> None:
        super().__init__()
        self.dropped: set[DatasetId] = set()

    def join(self, order: Order, statement: CatalogStatement) -> None:
        """Merge one event; idempotent."""
        entry = self.get(statement.key)
        if entry is None:
            entry = self[statement.key] = CatalogEntry(Span(order, order))
        entry.join(order, statement)

    def content(self, kind: EntryKind, name: str) -> JsonObject:
        """Return the last description of an entry; empty if there is none."""
        entry = self.get(CatalogKey(kind, name))
        return entry.content if entry else {}

    def is_deleted_with_namespace(self, namespace: str, last: Order) -> bool:
        """Return whether a namespace was deleted with a node in it whose last event is `last`."""
        deleted = self.deletion_of_namespace(namespace)
        return deleted is not None and deleted >= last

    def deletion_of_namespace(self, namespace: str) -> Order | None:
        """Return the last event that deleted a namespace, or None."""
        entry = self.get(CatalogKey(EntryKind.NAMESPACE, namespace)) if self else None
        return entry.deleted if entry else None

    def is_deleted_job(self, job: JobRecord) -> bool:
        """Return whether a job is deleted: no event of it follows the deletion."""
        last = job.span.last
        deleted = job.facets.register(DELETED_FACET)
        return (deleted is not None and deleted.order >= last) or self.is_deleted_with_namespace(job.id.namespace, last)

    def is_deleted_dataset(self, dataset: DatasetRecord) -> bool:
        """Return whether a dataset is dropped (see `DatasetRecord.dropped`), or deleted: no event names it since."""
        return dataset.id in self.dropped or self.is_deleted_with_namespace(dataset.id.namespace, dataset.span.last)
