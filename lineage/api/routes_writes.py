# SPDX-License-Identifier: Apache-2.0
"""Writes of Marquez's API. Each becomes events of the service's own producer, stored like every event.

More specific paths come first: parameters match greedily. A body is read before the write begins (`meta` before
`write`), so that a slow one delays no other write.
"""

import time
from enum import StrEnum
from typing import Annotated
from uuid import UUID, uuid4

from fastapi import APIRouter, Depends, Path, Query, Response
from pydantic import BeforeValidator

from lineage.api.dependencies import DatasetDep, JobDep, NameListsDep, NamespaceDep, RunDep, is_known_dataset
from lineage.api.errors import ApiError, not_found
from lineage.api.parameters import time_parameter
from lineage.api.raw_path import decode
from lineage.api.responses import json_response
from lineage.api.schemas import marquez
from lineage.api.schemas import marquez_writes as bodies
from lineage.api.write_request import WriteDep, WriteRequest, body_of, body_schema
from lineage.events import DatasetId, JobId, JsonObject, RunId
from lineage.events.own_facets import CatalogKey, EntryKind
from lineage.graph.run_record import RunRecord
from lineage.marquez import Catalog
from lineage.marquez.sources import namespace_json, source_json, tag_json
from lineage.marquez.tags import Tag

router = APIRouter(prefix="/api/v1")

_NAMESPACE = "/namespaces/{namespace:path}"
_JOB = f"{_NAMESPACE}/jobs/{{job:path}}"
_DATASET = f"{_NAMESPACE}/datasets/{{dataset:path}}"

NamespaceBody = Annotated[bodies.NamespaceMeta, Depends(body_of(bodies.NamespaceMeta))]
SourceBody = Annotated[bodies.SourceMeta, Depends(body_of(bodies.SourceMeta))]
DatasetBody = Annotated[bodies.DatasetMeta, Depends(body_of(bodies.DatasetMeta))]
JobBody = Annotated[bodies.JobMeta, Depends(body_of(bodies.JobMeta))]
RunBody = Annotated[bodies.RunMeta, Depends(body_of(bodies.RunMeta))]
TagBody = Annotated[bodies.TagMeta, Depends(body_of(bodies.TagMeta))]


class Transition(StrEnum):
    """Transition of a run, as the path of the request names it."""

    START = "start"
    COMPLETE = "complete"
    FAIL = "fail"
    ABORT = "abort"


@router.put("/sources/{source:path}", response_model=marquez.Source, openapi_extra=body_schema(bodies.SourceMeta))
async def put_source(meta: SourceBody, write: WriteDep, source: str) -> Response:
    """Create or describe a source."""
    key = CatalogKey(EntryKind.SOURCE, decode(source))
    await write.store(write.events.put_entry(key, _content(meta)))
    return json_response(source_json(write.service.lineage, key.name))


@router.put("/tags/{tag:path}", response_model=marquez.Tag, openapi_extra=body_schema(bodies.TagMeta))
async def put_tag(meta: TagBody, write: WriteDep, tag: str) -> Response:
    """Create or describe a tag."""
    key = CatalogKey(EntryKind.TAG, decode(tag))
    await write.store(write.events.put_entry(key, _content(meta)))
    return json_response(tag_json(write.service.lineage, key.name))


def _known_transition(name: str) -> str:
    if name not in frozenset(Transition):
        raise not_found("transition", name)
    return name


TransitionParameter = Annotated[Transition, BeforeValidator(_known_transition), Path()]


@router.post("/jobs/runs/{run}/{transition}", response_model=marquez.Run)
async def move_run(
    write: WriteDep, run: RunDep, transition: TransitionParameter, at: Annotated[str | None, Query()] = None
) -> Response:
    """Start or end a run, now or at a time; a run that has ended is not started again."""
    event = write.events.move_run(run, transition.name, time_parameter("at", at) if at else None)
    await write.store(event)
    return json_response(_catalog(write).run(_run_of(write, run.id)))


@router.post(f"{_JOB}/runs", status_code=201, response_model=marquez.Run, openapi_extra=body_schema(bodies.RunMeta))
async def create_run(meta: RunBody, write: WriteDep, job: JobDep) -> Response:
    """Create a run of a job; 400 if its id exists, as in Marquez."""
    run = RunId(str(meta.id or uuid4()), job)
    if write.service.lineage.run(run.run) is not None:
        message = f"run {run.run!r} exists already; omit the id, or use a new one"
        raise ApiError(400, "run_exists", message, {"run": run.run})
    await write.store(write.events.create_run(run, _content(meta)))
    response = json_response(_catalog(write).run(_run_of(write, run)))
    response.status_code = 201
    response.headers["location"] = f"/api/v1/jobs/runs/{run.run}"
    return response


@router.post(f"{_JOB}/tags/{{tag}}", response_model=marquez.Job)
async def tag_job(write: WriteDep, job: JobDep, tag: str) -> Response:
    """Add a tag to a job."""
    await write.store(write.events.tag_job(job, Tag(decode(tag))))
    return json_response(_catalog(write).job(job))


@router.delete(f"{_JOB}/tags/{{tag}}", response_model=marquez.Job)
async def untag_job(write: WriteDep, job: JobDep, tag: str) -> Response:
    """Remove a tag from a job, whoever added it."""
    await write.store(write.events.untag_job(job, Tag(decode(tag))))
    return json_response(_catalog(write).job(job))


@router.put(_JOB, response_model=marquez.Job, openapi_extra=body_schema(bodies.JobMeta))
async def put_job(meta: JobBody, write: WriteDep, namespace: NamespaceDep, job: str) -> Response:
    """Create or describe a job with its datasets; 404 if a dataset or the run does not exist."""
    identity = JobId(namespace, decode(job))
    run = _existing_run(write, meta.run_id)
    if run is not None and run.id.job != identity:
        raise not_found("run", run.id.run)
    inputs, outputs = ([_existing_dataset(write, named) for named in found] for found in (meta.inputs, meta.outputs))
    await write.store(*write.events.put_job(identity, _content(meta), inputs, outputs, run))
    return json_response(_catalog(write).job(identity))


@router.delete(_JOB, response_model=marquez.Job)
async def delete_job(write: WriteDep, job: JobDep) -> Response:
    """Delete a job; its next event brings it back. Returns the job as it was."""
    response = json_response(_catalog(write).job(job))
    await write.store(write.events.delete_job(job))
    return response


@router.post(f"{_DATASET}/fields/{{field:path}}/tags/{{tag}}", response_model=marquez.Dataset)
async def tag_field(write: WriteDep, dataset: DatasetDep, field: str, tag: str) -> Response:
    """Add a tag, in upper case, to a column."""
    await write.store(write.events.tag_dataset(dataset, _tag_of_field(write, dataset, decode(field), decode(tag))))
    return json_response(_catalog(write).dataset(dataset))


@router.delete(f"{_DATASET}/fields/{{field:path}}/tags/{{tag}}", response_model=marquez.Dataset)
async def untag_field(write: WriteDep, dataset: DatasetDep, field: str, tag: str) -> Response:
    """Remove a tag from a column, whoever added it."""
    await write.store(write.events.untag_dataset(dataset, _tag_of_field(write, dataset, decode(field), decode(tag))))
    return json_response(_catalog(write).dataset(dataset))


@router.post(f"{_DATASET}/tags/{{tag}}", response_model=marquez.Dataset)
async def tag_dataset(write: WriteDep, dataset: DatasetDep, tag: str) -> Response:
    """Add a tag to a dataset."""
    await write.store(write.events.tag_dataset(dataset, Tag(decode(tag))))
    return json_response(_catalog(write).dataset(dataset))


@router.delete(f"{_DATASET}/tags/{{tag}}", response_model=marquez.Dataset)
async def untag_dataset(write: WriteDep, dataset: DatasetDep, tag: str) -> Response:
    """Remove a tag from a dataset, whoever added it."""
    await write.store(write.events.untag_dataset(dataset, Tag(decode(tag))))
    return json_response(_catalog(write).dataset(dataset))


@router.put(_DATASET, response_model=marquez.Dataset, openapi_extra=body_schema(bodies.DatasetMeta))
async def put_dataset(
    meta: DatasetBody, write: WriteDep, lists: NameListsDep, namespace: NamespaceDep, dataset: str
) -> Response:
    """Create or describe a dataset; 404 if its source or the run does not exist."""
    identity = write.service.canonical_dataset(DatasetId(namespace, decode(dataset)))
    run = _existing_run(write, meta.run_id)
    lineage = write.service.lineage
    is_requested = CatalogKey(EntryKind.SOURCE, meta.source_name) in lineage.catalog
    if not is_requested and not lists.index.datasets.count(meta.source_name):
        raise not_found("source", meta.source_name)
    url = source_json(lineage, meta.source_name)["connectionUrl"]
    await write.store(write.events.put_dataset(identity, _content(meta), url, run))
    return json_response(_catalog(write).dataset(identity))


@router.delete(_DATASET, response_model=marquez.Dataset)
async def delete_dataset(write: WriteDep, dataset: DatasetDep) -> Response:
    """Delete a dataset; its next event brings it back. Returns the dataset as it was."""
    response = json_response(_catalog(write).dataset(dataset))
    await write.store(write.events.delete_dataset(dataset))
    return response


@router.put(_NAMESPACE, response_model=marquez.Namespace, openapi_extra=body_schema(bodies.NamespaceMeta))
async def put_namespace(meta: NamespaceBody, write: WriteDep, namespace: str) -> Response:
    """Create or describe a namespace."""
    key = CatalogKey(EntryKind.NAMESPACE, decode(namespace))
    await write.store(write.events.put_entry(key, _content(meta)))
    return json_response(namespace_json(write.service.lineage, key.name))


@router.delete(_NAMESPACE, response_model=marquez.Namespace)
async def delete_namespace(write: WriteDep, namespace: NamespaceDep) -> Response:
    """Delete a namespace with its jobs and datasets, each until its next event. Returns the namespace as it was."""
    response = json_response(namespace_json(write.service.lineage, namespace))
    await write.store(write.events.delete_namespace(namespace))
    return response


def _content(meta: bodies.WriteModel) -> JsonObject:
    content: JsonObject = meta.model_dump(mode="json", by_alias=True, exclude_none=True)
    return content


def _catalog(write: WriteRequest) -> Catalog:
    write.service.graph.refresh()
    return Catalog(write.service.lineage, write.service.graph, time.time_ns())


def _run_of(write: WriteRequest, run: RunId) -> RunRecord:
    record = write.service.lineage.run(run.run, run.job)
    assert record is not None, f"the event of run {run.run} is applied"
    return record


def _existing_run(write: WriteRequest, run: UUID | None) -> RunRecord | None:
    record = write.service.lineage.run(str(run)) if run else None
    if run is not None and record is None:
        raise not_found("run", str(run))
    return record


def _existing_dataset(write: WriteRequest, named: bodies.DatasetName) -> DatasetId:
    identity = write.service.canonical_dataset(DatasetId(named.namespace, named.name))
    if not is_known_dataset(write.service, identity):
        raise not_found("dataset", f"{named.namespace}/{named.name}")
    return identity


def _tag_of_field(write: WriteRequest, dataset: DatasetId, field: str, tag: str) -> Tag:
    if all(known["name"] != field for known in write.service.lineage.datasets[dataset].fields()):
        raise not_found("field", field)
    return Tag(tag.upper(), field)
