# SPDX-License-Identifier: Apache-2.0
"""The graph in the response shapes of Marquez 0.50, so that its clients and tools read this service.

Pure functions of records and graph; keys that Marquez does not have (`stale`, `closedBecause`,
`vanishedEdges`, nested `fields`) are additions that its clients ignore.
"""

from lineage.marquez.catalog import Catalog
from lineage.marquez.columns import column_lineage
from lineage.marquez.neighbourhood import lineage_graph
from lineage.marquez.node_ids import NodeKind, NodeRef, find_node, node_id
from lineage.marquez.search import search

__all__ = [
    "Catalog",
    "NodeKind",
    "NodeRef",
    "column_lineage",
    "find_node",
    "lineage_graph",
    "node_id",
    "search",
]
