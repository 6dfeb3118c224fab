# SPDX-License-Identifier: Apache-2.0
"""Graph in the response shapes of Marquez 0.51, so that its clients and tools can use this service.

Functions over records and graph, without I/O. Keys that Marquez does not have (`stale`, `closedBecause`,
`vanishedEdges`, nested `fields`) are additions that its clients ignore.
"""

from lineage.marquez.catalog import Catalog
from lineage.marquez.columns import ColumnNeighbourhood, column_lineage
from lineage.marquez.index import Index, NameIndex
from lineage.marquez.neighbourhood import Neighbourhood, lineage_graph
from lineage.marquez.node_ids import NodeKind, NodeRef, find_node, node_id
from lineage.marquez.search import Query, Search, search
from lineage.marquez.upstream import UpstreamRuns
from lineage.marquez.versions import DatasetVersions, job_version_id

__all__ = [
    "Catalog",
    "ColumnNeighbourhood",
    "DatasetVersions",
    "Index",
    "NameIndex",
    "Neighbourhood",
    "NodeKind",
    "NodeRef",
    "Query",
    "Search",
    "UpstreamRuns",
    "column_lineage",
    "find_node",
    "job_version_id",
    "lineage_graph",
    "node_id",
    "search",
]
