# SPDX-License-Identifier: Apache-2.0
"""Input facets of a dataset, such as data quality metrics and assertions, as the runs that read it state them."""

from lineage.events import DatasetId, JsonObject
from lineage.graph import Graph, LineageRecords
from lineage.graph.job_record import JobRecord
from lineage.graph.mergeable import Facets

RUNS_EXAMINED = 3
"""Latest runs of each reading job that are examined: the one in progress and those that ended before it."""


def input_facets(lineage: LineageRecords, graph: Graph, dataset: DatasetId) -> JsonObject:
    """Return the current input facets of a dataset by name; the last one stated of each.

    Marquez shows them among the facets of the dataset; output facets only belong to the run.
    """
    found = Facets()
    for job in graph.consumers.get(dataset, ()):
        _merge_latest(found, lineage, lineage.jobs[job], dataset)
    return found.values()


def _merge_latest(found: Facets, lineage: LineageRecords, job: JobRecord, dataset: DatasetId) -> None:
    """Merge the input facets of the latest run of a job that states any."""
    for place in job.history.runs.latest_first(0, RUNS_EXAMINED):
        use = lineage.by_node(job.runs[place.run].inputs).get(dataset)
        if use is not None and use.transfer is not None:
            found.merge(use.transfer)
            return
