# SPDX-License-Identifier: Apache-2.0
"""Nodes of the graph as the names of an event."""

from lineage.events.ids import DatasetId
from lineage.graph.records import LineageRecords
from lineage.rules.names import Names


class NodeNames:
    """Names of the nodes that the dataset names of an event lead to; aliases are no nodes and keep their names.

    `names` applies the naming rules to the names of an original event; without it they are canonical already.
    """

    def __init__(self, lineage: LineageRecords, names: Names | None = None) -> None:
        self._lineage = lineage
        self._names = names

    def dataset(self, namespace: str, name: str) -> DatasetId:
        """Return the node of a dataset."""
        if self._names is None:
            return self._lineage.node(DatasetId(namespace, name))
        node = self._lineage.node(self._names.dataset(namespace, name))
        return self._names.locations.get(node, node)

    def omits(self, namespace: str, name: str) -> bool:
        """Return whether a dataset is left out of events under the naming rules."""
        return self._names is not None and self._names.omits(namespace, name)

    def symlink(self, namespace: str, name: str) -> DatasetId:
        """Return an alias under the naming rules."""
        return DatasetId(namespace, name) if self._names is None else self._names.symlink(namespace, name)
