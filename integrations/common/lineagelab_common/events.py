# SPDX-License-Identifier: Apache-2.0
"""OpenLineage events and facets as JSON objects. Pure.

Each producer has one `EventWriter`; facets name the schema versions in `SCHEMAS`.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from lineagelab_common.identifiers import ParentRun

Json = dict[str, Any]

SPECIFICATION = "https://openlineage.io/spec"
EVENT_VERSION = "2-0-2"

SCHEMAS = {
    "columnLineage": "1-2-0/ColumnLineageDatasetFacet",
    "dataQualityAssertions": "1-1-0/DataQualityAssertionsDatasetFacet",
    "dataQualityMetrics": "1-0-3/DataQualityMetricsInputDatasetFacet",
    "errorMessage": "1-0-1/ErrorMessageRunFacet",
    "externalQuery": "1-0-2/ExternalQueryRunFacet",
    "inputStatistics": "1-0-0/InputStatisticsInputDatasetFacet",
    "jobType": "2-0-4/JobTypeJobFacet",
    "lifecycleStateChange": "1-0-1/LifecycleStateChangeDatasetFacet",
    "lineage": "1-0-0/LineageFacet",
    "outputStatistics": "1-0-2/OutputStatisticsOutputDatasetFacet",
    "parent": "1-2-0/ParentRunFacet",
    "processing_engine": "1-1-1/ProcessingEngineRunFacet",
    "schema": "1-2-0/SchemaDatasetFacet",
    "sql": "1-1-0/SQLJobFacet",
    "symlinks": "1-0-1/SymlinksDatasetFacet",
    "version": "1-0-1/DatasetVersionDatasetFacet",
}
"""Name of a standard facet -> version and file of its schema."""

DIRECT = frozenset({"IDENTITY", "TRANSFORMATION", "AGGREGATION"})
"""Subtypes of transformations along which values flow; the others affect values or rows indirectly."""

MAX_TEXT = 20_000
"""Characters kept of an error message and of a stack trace: engines quote whole plans in them."""


def _run(run: ParentRun) -> Json:
    return {"run": {"runId": run.run_id}, "job": {"namespace": run.namespace, "name": run.job}}


class DatasetId(Protocol):
    """Name of a dataset. Implementations are hashable and ordered."""

    @property
    def namespace(self) -> str: ...

    @property
    def name(self) -> str: ...


@dataclass(frozen=True, order=True)
class Dataset:
    """Name of a dataset, of programs that know no more of it."""

    namespace: str
    name: str


@dataclass(frozen=True, order=True)
class ColumnEdge:
    """Edge from a column of an input dataset to an output, with the transformation's subtype."""

    dataset: Any  # a DatasetId; a protocol cannot declare order and hash
    column: str
    subtype: str
    masking: bool


@dataclass(frozen=True)
class EventWriter:
    """Writer of the events of one producer, a URI."""

    producer: str

    def run_event(
        self, event_type: str, time: str, run: Json, job: Json, inputs: list[Json], outputs: list[Json]
    ) -> Json:
        """Return a run event; `event_type` is START, RUNNING, COMPLETE, ABORT, FAIL or OTHER."""
        event = {"eventType": event_type, "eventTime": time, "run": run}
        return event | self._event("RunEvent", job, inputs, outputs)

    def open_run(self, run: Json, job: Json, inputs: list[Json], outputs: list[Json]) -> Json:
        """Return a run event without type and time, from which the terminal event of an open run is made."""
        return {"run": run} | self._event("RunEvent", job, inputs, outputs)

    def job_event(self, time: str, job: Json, inputs: list[Json], outputs: list[Json]) -> Json:
        """Return an event about a job, independent of any run."""
        return {"eventTime": time} | self._event("JobEvent", job, inputs, outputs)

    def facet(self, name: str, definition: str = "", /, **values: object) -> Json:
        """Return a facet without its `None` values.

        Args:
            name: of a standard facet, or the URN of a custom facet's schema.
            definition: name in the schema file, where it differs from the file's.
            values: of the facet.
        """
        return {
            "_producer": self.producer,
            "_schemaURL": name if name.startswith("urn:") else _schema_url(SCHEMAS[name], definition),
            **{key: value for key, value in values.items() if value is not None},
        }

    def run_facets(self, engine: str, version: str, parent: ParentRun | None, error: str, language: str) -> Json:
        """Return the facets of a run: engine, parent, and the message of a failed one; without those that are empty."""
        facets: Json = {}
        if version:
            facets["processing_engine"] = self.facet("processing_engine", name=engine, version=version)
        if parent is not None:
            facets["parent"] = self.parent(parent)
        if error:
            facets["errorMessage"] = self.error(error, language)
        return facets

    def error(self, message: str, language: str, stack_trace: str = "") -> Json:
        """Return the `errorMessage` facet, with long texts cut to `MAX_TEXT`."""
        trace = stack_trace[:MAX_TEXT] or None
        return self.facet("errorMessage", message=message[:MAX_TEXT], programmingLanguage=language, stackTrace=trace)

    def parent(self, parent: ParentRun) -> Json:
        """Return the `parent` facet."""
        return self.facet("parent", **_run(parent), root=None if parent.root is None else _run(parent.root))

    def schema(self, fields: Mapping[str, str]) -> Json:
        """Return the `schema` facet; `fields` are name -> type."""
        return self.facet("schema", fields=[{"name": name, "type": kind} for name, kind in fields.items()])

    def column_lineage(self, columns: Mapping[str, Iterable[ColumnEdge]], rows: Iterable[ColumnEdge]) -> Json:
        """Return the `columnLineage` facet.

        Args:
            columns: edges to each output column.
            rows: edges that affect every column, because they decide about rows.
        """
        fields = {name: {"inputFields": _input_fields(edges)} for name, edges in columns.items()}
        return self.facet("columnLineage", fields=fields, dataset=_input_fields(rows))

    def job_lineage(self, entries: Iterable[Json]) -> Json:
        """Return the `lineage` facet of a job, which states the inputs of each output; see `lineage_entry`."""
        return self.facet("lineage", "LineageJobFacet", entries=list(entries))

    def _event(self, definition: str, job: Json, inputs: list[Json], outputs: list[Json]) -> Json:
        return {
            "producer": self.producer,
            "schemaURL": f"{SPECIFICATION}/{EVENT_VERSION}/OpenLineage.json#/$defs/{definition}",
            "job": job,
            "inputs": inputs,
            "outputs": outputs,
        }


def dataset_json(dataset: DatasetId, facets: Json) -> Json:
    """Return an input or output of an event."""
    return {"namespace": dataset.namespace, "name": dataset.name, "facets": facets}


def lineage_entry(
    output: DatasetId,
    inputs: Collection[DatasetId],
    columns: Mapping[str, Iterable[ColumnEdge]],
    rows: Iterable[ColumnEdge],
) -> Json:
    """Return the entry of one output in the `lineage` facet: its input datasets, row edges and column edges."""
    whole = [{"namespace": each.namespace, "name": each.name, "type": "DATASET"} for each in sorted(inputs, key=_id)]
    return {
        "namespace": output.namespace,
        "name": output.name,
        "type": "DATASET",
        "inputs": [*whole, *_input_fields(rows, type="DATASET")],
        "fields": {name: {"inputs": _input_fields(edges, type="DATASET")} for name, edges in columns.items()},
    }


def _id(dataset: DatasetId) -> tuple[str, str]:
    return dataset.namespace, dataset.name


def _input_fields(edges: Iterable[ColumnEdge], **more: str) -> list[Json]:
    """Return one item per input column, with all its transformations."""
    by_column: dict[tuple[str, str, str], list[ColumnEdge]] = {}
    for edge in sorted(edges):
        by_column.setdefault((edge.dataset.namespace, edge.dataset.name, edge.column), []).append(edge)
    return [
        {
            "namespace": namespace,
            "name": name,
            **more,
            "field": column,
            "transformations": [_transformation(edge) for edge in same],
        }
        for (namespace, name, column), same in by_column.items()
    ]


def _transformation(edge: ColumnEdge) -> Json:
    kind = "DIRECT" if edge.subtype in DIRECT else "INDIRECT"
    return {"type": kind, "subtype": str(edge.subtype), "masking": edge.masking}


def _schema_url(schema: str, definition: str) -> str:
    return f"{SPECIFICATION}/facets/{schema}.json#/$defs/{definition or schema.partition('/')[2]}"
