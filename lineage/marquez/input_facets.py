# SPDX-License-Identifier: Apache-2.0
"""Input facets of a dataset, such as data quality metrics and assertions, as the runs that read it state them."""

from lineage.events import DatasetId, JsonObject
from lineage.graph import Graph, LineageRecords
from lineage.graph.current_runs import current_runs
from lineage.graph.job_record import JobRecord
from lineage.graph.mergeable import Facets


def input_facets(lineage: LineageRecords, graph: Graph, dataset: DatasetId) -> JsonObject:
    """Return the current input facets of a dataset by name; the last one stated of each.

    Marquez shows them among the facets of the dataset; output facets only belong to the run.
    """
    found = Facets()
    for job in graph.consumers.get(dataset, ()):
        _merge_latest(found, lineage, lineage.jobs[job], dataset)
    return found.values()


def _merge_latest(found: Facets, lineage: LineageRecords, job: JobRecord, dataset: DatasetId) -> None:
    """Merge the input facets of the latest current run of a job that states any.

    Only current runs: which other ones are in memory depends on more than the events.
    """
    for run in reversed(current_runs(job).runs):
        use = lineage.by_node(run.inputs).get(dataset)
        if use is not None and use.transfer is not None:
            found.merge(use.transfer)
            return
