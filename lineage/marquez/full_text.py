# SPDX-License-Identifier: Apache-2.0
"""Search in names, SQL, source code and columns, in the shapes of Marquez's `v2beta` search.

Marquez asks OpenSearch for documents of which one field contains the words of the query in a row, the last one as a
prefix. Here the same condition is evaluated on the current facets; names rank before other fields.
"""

import re
import time
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from lineage.events import DatasetId, JobId, JsonObject
from lineage.graph import Graph, LineageRecords, RunState, run_outcome
from lineage.graph.run_record import RunRecord
from lineage.marquez.index import Index

MAX_HITS = 10
"""Hits of a response, as in Marquez."""

_NODES_PER_SLICE = 500
"""Jobs or datasets searched between two yields: some milliseconds."""

_SNIPPET = 100
"""Maximum length of a highlighted snippet, as in OpenSearch."""

_NAME_FIELDS = frozenset({"name", "namespace"})

_EVENT_TYPES = {
    RunState.NEW: "OTHER",
    RunState.RUNNING: "RUNNING",
    RunState.COMPLETED: "COMPLETE",
    RunState.ABORTED: "ABORT",
    RunState.FAILED: "FAIL",
}

Texts = Iterator[tuple[str, object]]
"""Fields of a document: name and text."""


class Hit(NamedTuple):
    """Document that matches, with the snippets of each matching field."""

    source: JsonObject
    highlight: dict[str, list[str]]


class FullTextSearch:
    """Cooperative search for jobs or datasets."""

    def __init__(self, index: Index, graph: Graph, query: str) -> None:
        self._index = index
        self._lineage: LineageRecords = index.lineage
        self._graph = graph
        words = re.findall(r"\w+", query)
        self._pattern = re.compile(r"(?<![^\W_])" + r"[\W_]+".join(map(re.escape, words)), re.IGNORECASE)
        self._is_empty = not words
        self._now = time.time_ns()
        self._by_name: list[Hit] = []
        self._by_content: list[Hit] = []

    def job_steps(self) -> Iterator[None]:
        """Search jobs; yields after each slice."""
        return self._steps(self._index.jobs.all(), self._job_texts, self._job_source)

    def dataset_steps(self) -> Iterator[None]:
        """Search datasets; yields after each slice."""
        return self._steps(self._index.datasets.all(), self._dataset_texts, self._dataset_source)

    def result(self) -> JsonObject:
        """Return the best hits in Marquez's shape."""
        best = (self._by_name + self._by_content)[:MAX_HITS]
        return {"hits": [hit.source for hit in best], "highlights": [hit.highlight for hit in best]}

    def _steps(
        self,
        nodes: Iterable[JobId] | Iterable[DatasetId],
        texts: Callable[..., Texts],
        source: Callable[..., JsonObject],
    ) -> Iterator[None]:
        for number, node in enumerate(() if self._is_empty else nodes, 1):
            highlight = self._highlights(texts(node))
            if highlight:
                hits = self._by_name if _NAME_FIELDS & highlight.keys() else self._by_content
                if len(hits) < MAX_HITS:
                    hits.append(Hit(source(node), highlight))
            if len(self._by_name) == MAX_HITS:
                return
            if number % _NODES_PER_SLICE == 0:
                yield

    def _highlights(self, texts: Texts) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for field, text in texts:
            match = self._pattern.search(text) if isinstance(text, str) else None
            if match is not None:
                found.setdefault(field, []).append(_snippet(match))
        return found

    def _job_texts(self, job: JobId) -> Texts:
        record = self._lineage.jobs[job]
        run = self._graph.latest_run(job)
        yield "name", job.name
        yield "namespace", job.namespace
        yield "run_id", run.id.run if run else None
        yield "facets.sql.query", (record.facets.get("sql") or {}).get("query")
        code = record.facets.get("sourceCode") or {}
        yield "facets.sourceCode.sourceCode", code.get("sourceCode")
        yield "facets.sourceCode.language", code.get("language")
        yield "runFacets.processing_engine.name", ((run and run.facets.get("processing_engine")) or {}).get("name")

    def _dataset_texts(self, dataset: DatasetId) -> Texts:
        facets = self._lineage.datasets[dataset].facets
        yield "name", dataset.name
        yield "namespace", dataset.namespace
        for field in self._lineage.datasets[dataset].fields():
            yield "facets.schema.fields.name", field.get("name")
            yield "facets.schema.fields.type", field.get("type")
        columns = (facets.get("columnLineage") or {}).get("fields")
        for name, column in (columns if isinstance(columns, dict) else {}).items():
            path = f"facets.columnLineage.fields.{name}"
            yield f"{path}.transformationDescription", column.get("transformationDescription")
            yield f"{path}.transformationType", column.get("transformationType")
            for source in column.get("inputFields") or ():
                yield from ((f"{path}.inputFields.{key}", source.get(key)) for key in ("name", "namespace", "field"))

    def _job_source(self, job: JobId) -> JsonObject:
        record = self._lineage.jobs[job]
        run = self._graph.latest_run(job)
        streaming = (record.facets.get("jobType") or {}).get("processingType") in ("STREAMING", "STREAM")
        return {
            **self._run_keys(run),
            "name": job.name,
            "namespace": job.namespace,
            "type": "STREAM" if streaming else "BATCH",
            "facets": record.facets.values(),
            "runFacets": run.facets.values() if run else {},
        }

    def _dataset_source(self, dataset: DatasetId) -> JsonObject:
        runs = [run for job in self._graph.jobs_of(dataset) if (run := self._graph.latest_run(job))]
        return {
            **self._run_keys(max(runs, key=lambda run: run.span.last, default=None)),
            "name": dataset.name,
            "namespace": dataset.namespace,
            "inputFacets": {},
            "outputFacets": {},
            "facets": self._lineage.datasets[dataset].all_facets(),
        }

    def _run_keys(self, run: RunRecord | None) -> JsonObject:
        if run is None:
            return {"run_id": None, "eventType": None}
        return {"run_id": run.id.run, "eventType": _EVENT_TYPES[run_outcome(self._lineage, run, self._now).state]}


def _snippet(match: re.Match[str]) -> str:
    """Return the text around a match, which is marked as OpenSearch marks it."""
    room = max(0, _SNIPPET - len(match.group())) // 2
    before = match.string[max(0, match.start() - room) : match.start()]
    return f"{before}<em>{match.group()}</em>{match.string[match.end() : match.end() + room]}"
