# SPDX-License-Identifier: Apache-2.0
"""Runs upstream of a run: the runs that wrote the dataset versions it read, transitively."""

from collections.abc import Iterator

from lineage.events import DatasetId, JsonObject
from lineage.graph import Graph, LineageRecords
from lineage.graph.run_history import Direction
from lineage.graph.run_record import RunRecord
from lineage.marquez.catalog import Catalog


class UpstreamRuns:
    """All runs within `depth` steps upstream of a run, itself first, nearest first. The search is cooperative."""

    def __init__(self, catalog: Catalog, lineage: LineageRecords, graph: Graph, run: RunRecord, depth: int) -> None:
        self._catalog = catalog
        self._lineage = lineage
        self._graph = graph
        self._depth = depth
        self._run = run
        self._rows: list[JsonObject] = []

    def steps(self) -> Iterator[None]:
        """Run the search; yields after each run."""
        seen = {self._run.id}
        level = [self._run]
        for _ in range(self._depth + 1):
            producers: list[RunRecord] = []
            for run in level:
                row, found = self._run_row(run)
                self._rows.append(row)
                producers += (producer for producer in found if producer.id not in seen)
                seen.update(producer.id for producer in found)
                yield
            level = producers
            if not level:
                break

    def result(self) -> JsonObject:
        """Return the runs found in Marquez's shape."""
        return {"runs": self._rows}

    def _run_row(self, run: RunRecord) -> tuple[JsonObject, list[RunRecord]]:
        shown = self._catalog.run(run)
        inputs: list[JsonObject] = []
        producers: list[RunRecord] = []
        for version in shown["inputDatasetVersions"]:
            identity = version["datasetVersionId"]
            producer = self._producing_run(run, DatasetId(identity["namespace"], identity["name"]))
            inputs.append({**identity, "producedByRunId": producer.id.run if producer else None})
            if producer is not None and producer not in producers:
                producers.append(producer)
        return {
            "job": shown["jobVersion"],
            "run": {
                "id": run.id.run,
                "start": shown["startedAt"],
                "end": shown["endedAt"],
                "status": shown["state"],
            },
            "inputs": inputs,
        }, producers

    def _producing_run(self, reader: RunRecord, dataset: DatasetId) -> RunRecord | None:
        """Return the run that wrote the dataset version that a run read.

        The run that created the version which the reader names; else the last run that began to write the dataset
        before the reader began, or, if there is none, before the reader's last event.
        """
        facets = self._lineage.by_node(reader.inputs)[dataset]
        version = self._catalog.dataset_versions(dataset).version_used(facets, reader.span.last)
        if (
            version is not None
            and version.run is not None
            and version.version == _stated_version(facets.get("version"))
        ):
            made_by = self._lineage.run(version.run.run, version.run.job)
            if made_by is not None and dataset in self._lineage.by_node(made_by.outputs):
                return made_by
        writers = [
            (self._lineage.jobs[job], name)
            for job in self._graph.producers.get(dataset, ())
            for name in self._lineage.nodes.names(dataset)
        ]
        for until in (reader.place.order, reader.span.last):
            found = [(job, job.last_run_with((Direction.OUTPUT, name), until)) for job, name in writers]
            runs = [job.runs[place.run] for job, place in found if place is not None]
            runs = [run for run in runs if run.id != reader.id]
            if runs:
                return max(runs, key=lambda run: run.place)
        return None


def _stated_version(facet: JsonObject | None) -> str:
    version = (facet or {}).get("datasetVersion")
    return version if isinstance(version, str) else ""
