# SPDX-License-Identifier: Apache-2.0
"""State derived from a set of events: records, states of runs, and the graph of jobs, datasets and columns.

Every stored value is a minimum, a maximum or a last-writer-wins register in the total order of events. Applying an
event to such a value is commutative, associative and idempotent (a state-based CRDT), so the state depends on the *set*
of events alone: ingestion is order-independent, and duplicates have no effect.
"""

from lineage.graph.adjacency import Graph
from lineage.graph.column_edges import ColumnEdge
from lineage.graph.export import export_graph, export_steps
from lineage.graph.job_lineage import JobLineage, derive_job_lineage
from lineage.graph.records import LineageRecords, fold_events
from lineage.graph.run_state import SETTLED, RunOutcome, RunState, is_stale, run_outcome
from lineage.graph.vanished_edges import VanishedEdge

__all__ = [
    "SETTLED",
    "ColumnEdge",
    "Graph",
    "JobLineage",
    "LineageRecords",
    "RunOutcome",
    "RunState",
    "VanishedEdge",
    "derive_job_lineage",
    "export_graph",
    "export_steps",
    "fold_events",
    "is_stale",
    "run_outcome",
]
