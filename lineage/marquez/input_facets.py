# SPDX-License-Identifier: Apache-2.0
"""Input facets of a dataset, such as data quality metrics and assertions, as the runs that read it state them."""

from lineage.events import DatasetId, JsonObject
from lineage.graph import Graph, LineageRecords
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
    """Merge the input facets of the latest run of a job that states any, of those that its lineage is derived from."""
    for run in sorted(job.runs.loaded.values(), key=lambda run: run.place, reverse=True):
        use = lineage.by_node(run.inputs).get(dataset)
        if use is not None and use.transfer is not None:
            found.merge(use.transfer)
            return
