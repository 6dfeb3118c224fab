# SPDX-License-Identifier: Apache-2.0
"""Records of datasets under the names that events use, and merged under the nodes that the names lead to."""

from collections.abc import Iterable

from lineage.events.event import Order
from lineage.events.ids import DatasetId, JsonObject, RunId
from lineage.graph.dataset_record import DatasetRecord
from lineage.graph.mergeable import Span
from lineage.graph.name_resolution import NameResolution


class DatasetNodes:
    """Records by name (`by_name`) and by node (`by_node`).

    The record of a node that has no other name is the one of its name; of several names the records are merged, and
    every event is applied to both. So a name that leads elsewhere takes its whole history along.
    """

    def __init__(self) -> None:
        self.by_name: dict[DatasetId, DatasetRecord] = {}
        self.by_node: dict[DatasetId, DatasetRecord] = {}
        self.resolution = NameResolution()
        self._node_of: dict[DatasetId, DatasetId] = {}
        self._names: dict[DatasetId, set[DatasetId]] = {}

    def node(self, name: DatasetId) -> DatasetId:
        """Return the node of a name that events use; of any other name see `resolution`."""
        return self._node_of.get(name, name)

    def names(self, node: DatasetId) -> Iterable[DatasetId]:
        """Return the names of a node that events use."""
        return self._names.get(node) or ((node,) if node in self.by_node else ())

    def record(self, name: DatasetId, order: Order) -> DatasetRecord:
        """Return the record of a name; a new one begins with the event at `order`."""
        record = self.by_name.get(name)
        if record is None:
            record = DatasetRecord(id=name, span=Span(order, order))
            self.add(record)
        return record

    def join(
        self, record: DatasetRecord, order: Order, dataset: JsonObject, read: bool, run: RunId | None
    ) -> JsonObject:
        """Apply the facets of one event that uses the name of a record; see `DatasetRecord.join`."""
        shared = record.join(order, dataset, read, run)
        if self._names:
            node = self.node(record.id)
            if node in self._names:
                self.by_node[node].join(order, shared, read, run)
        return shared

    def add(self, record: DatasetRecord) -> None:
        """Add the record of a new name."""
        self.by_name[record.id] = record
        self._place(record.id, self.resolution.node(record.id))

    def move(self, name: DatasetId) -> DatasetId | None:
        """Move the record of a name to the node that it leads to now; return the previous node if it changed."""
        if name not in self.by_name:
            return None
        before, after = self.node(name), self.resolution.node(name)
        if before == after:
            return None
        self._take(name, before)
        self._place(name, after)
        return before

    def _place(self, name: DatasetId, node: DatasetId) -> None:
        if name == node and node not in self._names:
            self.by_node[node] = self.by_name[name]
            return
        names = self._names.get(node)
        if names is None:
            names = self._names[node] = {node} if node in self.by_node else set()
        names.add(name)
        if name != node:
            self._node_of[name] = node
        self._merge(node)

    def _take(self, name: DatasetId, node: DatasetId) -> None:
        self._node_of.pop(name, None)
        names = self._names.get(node, set())
        names.discard(name)
        if names - {node}:
            self._merge(node)
            return
        self._names.pop(node, None)
        if names:
            self.by_node[node] = self.by_name[node]
        else:
            del self.by_node[node]

    def _merge(self, node: DatasetId) -> None:
        records = [self.by_name[name] for name in self._names[node]]
        merged = DatasetRecord(id=node, span=Span(records[0].span.first, records[0].span.last))
        for record in records:
            merged.merge(record)
        self.by_node[node] = merged
