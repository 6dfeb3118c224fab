# SPDX-License-Identifier: Apache-2.0
"""Runs upstream of a run: the runs that wrote the dataset versions it read, transitively."""

from bisect import bisect_left
from collections.abc import Iterator

from lineage.events import DatasetId, JsonObject
from lineage.events.event import Order
from lineage.graph import Graph, LineageRecords
from lineage.graph.job_record import RunRecord
from lineage.graph.run_history import Direction, RunPosition, RunPositions
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
        histories = [
            (self._lineage.jobs[job].runs, places)
            for job in self._graph.producers.get(dataset, ())
            for name in self._lineage.nodes.names(dataset)
            if (places := self._lineage.jobs[job].history.by_edge.get((Direction.OUTPUT, name))) is not None
        ]
        for until in (reader.place.order, reader.span.last):
            found = [runs[place.run] for runs, places in histories if (place := _last_before(places, until))]
            found = [run for run in found if run.id != reader.id]
            if found:
                return max(found, key=lambda run: run.place)
        return None


def _stated_version(facet: JsonObject | None) -> str:
    version = (facet or {}).get("datasetVersion")
    return version if isinstance(version, str) else ""


def _last_before(places: RunPositions, until: Order) -> RunPosition | None:
    """Return the last position before a point in the total order."""
    at = bisect_left(range(len(places)), True, key=lambda i: places.latest_first(i, 1)[0].order < until)
    found = places.latest_first(at, 1)
    return found[0] if found else None
