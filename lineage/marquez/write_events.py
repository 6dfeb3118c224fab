# SPDX-License-Identifier: Apache-2.0
"""Events that state what a write of Marquez's API states.

Pure functions: records, content of the request and time of the event -> event bodies. The facets are those of the
standard where it has one, else those of `lineage.events.own_facets`.
"""

from collections.abc import Iterable
from functools import partial

from lineage.events import DatasetId, JobId, JsonObject, RunId, identity_json, standard_facets
from lineage.events.own_facets import (
    CATALOG_FACET,
    CATALOG_NAMESPACE,
    DATASET_FACET,
    DELETED_FACET,
    REMOVED_TAGS_FACET,
    CatalogKey,
    own_facet_schema,
)
from lineage.events.timestamps import format_time
from lineage.marquez.tags import PRODUCER, RequestedTags

INTEGRATION = "MARQUEZ"

Facets = dict[str, JsonObject]

standard_facet = partial(standard_facets.standard_facet, PRODUCER)
"""A facet of the standard, by the name of its schema and its content."""


def own_facet(name: str, content: JsonObject) -> JsonObject:
    """Return a facet of the service's own."""
    return {"_producer": PRODUCER, "_schemaURL": own_facet_schema(name), **content}


def tags_of_dataset_facets(tags: RequestedTags) -> Facets:
    """Return the facets with the tags that requests added to a dataset and its columns, and removed from them."""
    return _tags_facets("TagsDatasetFacet", tags)


def tags_of_job_facets(tags: RequestedTags) -> Facets:
    """Return the facets with the tags that requests added to a job, and removed from it."""
    return _tags_facets("TagsJobFacet", tags)


def lifecycle_facet(state: str) -> Facets:
    """Return the facet with the state of a dataset: CREATE, ALTER or DROP."""
    return {
        "lifecycleStateChange": standard_facet("LifecycleStateChangeDatasetFacet", lifecycleStateChange=state),
    }


def catalog_event(time: int, key: CatalogKey, content: JsonObject) -> JsonObject:
    """Return the event that describes a namespace, source or tag; `content` without nulls."""
    facet = own_facet(CATALOG_FACET, {"kind": key.kind.value, "name": key.name, **content})
    return dataset_event(time, DatasetId(CATALOG_NAMESPACE, key.kind.value.lower()), {CATALOG_FACET: facet})


def dataset_event(time: int, dataset: DatasetId, facets: Facets) -> JsonObject:
    """Return a dataset event."""
    return {**_envelope(time, "DatasetEvent"), "dataset": {**identity_json(dataset), "facets": facets}}


def dataset_facets(content: JsonObject, connection_url: str) -> Facets:
    """Return the facets of a dataset that a request describes; `content` as Marquez's API defines it."""
    facets: Facets = {
        DATASET_FACET: own_facet(
            DATASET_FACET,
            _present(content, "type", "physicalName", "sourceName", "schemaLocation"),
        ),
        "dataSource": standard_facet("DatasourceDatasetFacet", name=content["sourceName"], uri=connection_url),
    }
    if content.get("description") is not None:
        facets["documentation"] = standard_facet("DocumentationDatasetFacet", description=content["description"])
    if content.get("fields") is not None:
        fields = [_present(field, "name", "type", "description") for field in content["fields"]]
        facets["schema"] = standard_facet("SchemaDatasetFacet", fields=fields)
    return facets


def job_event(time: int, job: JobId, facets: Facets, **uses: Iterable[DatasetId]) -> JsonObject:
    """Return a job event; `uses` are `inputs` and `outputs`, and absent for an event that leaves them unchanged."""
    named = {direction: [_entity(dataset) for dataset in sorted(found)] for direction, found in uses.items()}
    return {**_envelope(time, "JobEvent"), "job": {**identity_json(job), "facets": facets}, **named}


def deletion_of_job(time: int, job: JobId) -> JsonObject:
    """Return the event that deletes a job."""
    return job_event(time, job, {DELETED_FACET: own_facet(DELETED_FACET, {})})


def job_facets(content: JsonObject) -> Facets:
    """Return the facets of a job that a request describes; `content` as Marquez's API defines it."""
    kind = {"STREAM": "STREAMING"}.get(content["type"], content["type"])
    facets: Facets = {
        "jobType": standard_facet("JobTypeJobFacet", processingType=kind, integration=INTEGRATION, jobType="JOB"),
    }
    if content.get("description") is not None:
        facets["documentation"] = standard_facet("DocumentationJobFacet", description=content["description"])
    if content.get("location") is not None:
        facets["sourceCodeLocation"] = standard_facet("SourceCodeLocationJobFacet", type="url", url=content["location"])
    query = (content.get("context") or {}).get("sql")
    if query:
        facets["sql"] = standard_facet("SQLJobFacet", query=query)
    return facets


def run_event(time: int, event_type: str, run: RunId, facets: Facets | None = None) -> JsonObject:
    """Return a run event that names no dataset."""
    return {
        **_envelope(time, "RunEvent"),
        "eventType": event_type,
        "run": {"runId": run.run, "facets": facets or {}},
        "job": identity_json(run.job),
    }


def run_event_with_datasets(
    event: JsonObject, inputs: Iterable[DatasetId] = (), outputs: Iterable[DatasetId] = (), facets: Facets | None = None
) -> JsonObject:
    """Return a run event that also names datasets; `facets` are those of the outputs."""
    return {
        **event,
        "inputs": [_entity(dataset) for dataset in sorted(inputs)],
        "outputs": [{**_entity(dataset), "facets": facets or {}} for dataset in sorted(outputs)],
    }


def run_facets(content: JsonObject) -> Facets:
    """Return the facets of a run that a request creates; `content` as Marquez's API defines it."""
    facets: Facets = {}
    if content.get("nominalStartTime") is not None:
        facets["nominalTime"] = standard_facet(
            "NominalTimeRunFacet", **_present(content, "nominalStartTime", "nominalEndTime")
        )
    if content.get("args"):
        parameters = [{"key": key, "name": key, "value": value} for key, value in sorted(content["args"].items())]
        facets["executionParameters"] = standard_facet("ExecutionParametersRunFacet", parameters=parameters)
    return facets


def _tags_facets(definition: str, tags: RequestedTags) -> Facets:
    return {
        "tags": standard_facet(definition, tags=tags.added_rows()),
        REMOVED_TAGS_FACET: own_facet(REMOVED_TAGS_FACET, {"tags": tags.removed_rows()}),
    }


def _envelope(time: int, kind: str) -> JsonObject:
    return {"eventTime": format_time(time), "producer": PRODUCER, "schemaURL": standard_facets.event_schema(kind)}


def _entity(dataset: DatasetId) -> JsonObject:
    return {**identity_json(dataset), "facets": {}}


def _present(content: JsonObject, *keys: str) -> JsonObject:
    return {key: content[key] for key in keys if content.get(key) is not None}
