# SPDX-License-Identifier: Apache-2.0
"""The meaning of a set of events: states of runs, and the graph of jobs, datasets and columns.

Everything kept is a minimum, a maximum or a last-in-total-order register. Joining one more event into such a
value is commutative, associative and idempotent, so the state depends on the *set* of events alone: arrival
order and duplicates mean nothing, and applying one event at a time gives what folding all at once gives.
"""

from lineage.graph.adjacency import Graph
from lineage.graph.export import export_graph, export_steps
from lineage.graph.job_lineage import ColumnEdge, JobLineage, VanishedEdge, derive_job_lineage
from lineage.graph.records import LineageRecords, fold_events
from lineage.graph.run_state import RunOutcome, RunState, is_stale, run_outcome

__all__ = [
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
