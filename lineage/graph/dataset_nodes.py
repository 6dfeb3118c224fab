# SPDX-License-Identifier: Apache-2.0
"""Records of datasets under the names that events use, and merged under the nodes that the names lead to."""

from collections.abc import Callable, Iterable

from lineage.events.event import Order
from lineage.events.ids import DatasetId, JsonObject, RunId
from lineage.graph.dataset_record import DatasetRecord
from lineage.graph.dataset_statements import StatementArchive
from lineage.graph.mergeable import Span
from lineage.graph.name_resolution import NameResolution
from lineage.graph.records_by_name import RecordsByName


class DatasetNodes:
    """Records by name (`by_name`) and by node (`by_node`).

    The record of a node that has no other name is the one of its name; of several names the records are merged, and
    every event is applied to both. So a name that leads elsewhere takes its whole history along. `merged` has the names
    of each such node.

    `read` restores the record of a name that is not in memory by `restore`.
    """

    def __init__(self, read: Callable[[DatasetId], None], archive: StatementArchive | None = None) -> None:
        self._archive = archive
        self.by_name: RecordsByName[DatasetId, DatasetRecord] = RecordsByName(read)
        self.by_node: RecordsByName[DatasetId, DatasetRecord] = RecordsByName(self._read_node)
        self.resolution = NameResolution()
        self._node_of: dict[DatasetId, DatasetId] = {}
        self.merged: dict[DatasetId, set[DatasetId]] = {}

    def node(self, name: DatasetId) -> DatasetId:
        """Return the node of a name that events use; of any other name see `resolution`."""
        return self._node_of.get(name, name)

    def names(self, node: DatasetId) -> Iterable[DatasetId]:
        """Return the names of a node that events use."""
        return self.merged.get(node) or ((node,) if node in self.by_node else ())

    def new(self, name: DatasetId, order: Order) -> DatasetRecord:
        """Add and return the record of a new name; it begins with the event at `order`."""
        record = DatasetRecord(id=name, span=Span(order, order), archive=self._archive)
        self.add(record)
        return record

    def join_merged(self, name: DatasetId, order: Order, dataset: JsonObject, read: bool, run: RunId | None) -> None:
        """Apply an event that was applied to the record of a name to that of its node, if that is another."""
        node = self.node(name)
        if node in self.merged:
            self.by_node[node].join(order, dataset, read, run)

    def add(self, record: DatasetRecord) -> None:
        """Add the record of a new name."""
        name, node = record.id, self.resolution.node(record.id)
        self.by_name[name] = record
        if name == node and node not in self.merged:
            self.by_node[node] = record
        else:
            self._place(name, node)
            self._merge(node)

    def add_stored(self, names: Iterable[DatasetId]) -> None:
        """Add names without other names, whose records are read when they are used."""
        stored = list(names)
        self.by_name.add_stored(stored)
        self.by_node.add_stored(stored)

    def restore(self, record: DatasetRecord) -> None:
        """Set the record of a name that was not in memory."""
        self.by_name[record.id] = record
        if self._is_alone(record.id) and record.id in self.by_node:
            self.by_node[record.id] = record

    def release(self, name: DatasetId) -> bool:
        """Remove the record of a name from memory; return False if it has another name, or states one."""
        record = self.by_name.in_memory(name)
        if record is None or record.names is not None or not self._is_alone(name):
            return False
        self.by_name.release(name)
        self.by_node.release(name)
        return True

    def _is_alone(self, name: DatasetId) -> bool:
        """Return whether a name is a node without any other name."""
        return name not in self._node_of and name not in self.merged

    def _read_node(self, node: DatasetId) -> None:
        self.by_node[node] = self.by_name[node]

    def move(self, names: Iterable[DatasetId]) -> dict[DatasetId, DatasetId]:
        """Move the records of names to the nodes that they lead to now; return the previous node of each that moved."""
        moved: dict[DatasetId, DatasetId] = {}
        for name in names:
            before, after = self.node(name), self.resolution.node(name)
            if name in self.by_name and before != after:
                self._group(before).discard(name)
                self._place(name, after)
                moved[name] = before
        for node in {*moved.values(), *map(self.node, moved)}:
            self._merge(node)
        return moved

    def _place(self, name: DatasetId, node: DatasetId) -> None:
        self._group(node).add(name)
        if name == node:
            self._node_of.pop(name, None)
        else:
            self._node_of[name] = node

    def _group(self, node: DatasetId) -> set[DatasetId]:
        """Return the names of a node, to be changed; `_merge` must follow."""
        names = self.merged.get(node)
        if names is None:
            names = self.merged[node] = {node} if node in self.by_node else set()
        return names

    def _merge(self, node: DatasetId) -> None:
        names = self.merged[node]
        if names <= {node}:
            del self.merged[node]
            self.by_node.pop(node, None)
            if names:
                self.by_node[node] = self.by_name[node]
            return
        records = [self.by_name[name] for name in names]
        merged = DatasetRecord(id=node, span=Span(records[0].span.first, records[0].span.last))
        for record in records:
            merged.merge(record)
        self.by_node[node] = merged
