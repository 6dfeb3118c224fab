# SPDX-License-Identifier: Apache-2.0
"""Marquez-compatible routes of namespaces, sources, tags, jobs, runs and datasets.

More specific paths come first: parameters match greedily, so that unencoded slashes are understood too.
"""

import asyncio
import time
from collections.abc import Iterable
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Response
from pydantic import BeforeValidator

from lineage.api.dependencies import (
    CatalogDep,
    DatasetDep,
    JobDep,
    Limit,
    NameLists,
    NameListsDep,
    NamespaceDep,
    Offset,
    RunDep,
    ServiceDep,
)
from lineage.api.errors import ApiError, not_found
from lineage.api.parameters import lower_case
from lineage.api.raw_path import decode
from lineage.api.responses import json_response, rows_response
from lineage.api.schemas import marquez
from lineage.events import JobId
from lineage.events.own_facets import CatalogKey, EntryKind
from lineage.graph import RunState, run_outcome
from lineage.graph.records_by_name import READS_PER_PART
from lineage.marquez import job_version_id
from lineage.marquez.sources import is_hidden_namespace, names_of_kind, namespace_json, source_json, tag_json
from lineage.marquez.tags import tags_of_dataset, tags_of_facets
from lineage.service import Service

router = APIRouter(prefix="/api/v1")

_JOB = "/namespaces/{namespace:path}/jobs/{job:path}"
_DATASET = "/namespaces/{namespace:path}/datasets/{dataset:path}"

_ROWS_PER_SLICE = 1000
"""Jobs or datasets processed between two yields to the event loop: a few milliseconds."""

LastRunStates = Annotated[list[str] | None, Query(alias="lastRunStates")]


@router.get("/namespaces", response_model=marquez.Namespaces)
async def namespaces(service: ServiceDep, limit: Limit = 100, offset: Offset = 0) -> Response:
    """List the namespaces of jobs and datasets that are not deleted."""
    lineage = service.lineage
    shown = sorted(name for name in lineage.namespaces if not is_hidden_namespace(lineage, name))
    return await rows_response("namespaces", (namespace_json(lineage, name) for name in shown[offset : offset + limit]))


@router.get("/sources", response_model=marquez.Sources)
async def sources(service: ServiceDep, lists: NameListsDep, limit: Limit = 100, offset: Offset = 0) -> Response:
    """List sources: the namespaces of datasets, and sources that requests created."""
    names = lists.index.datasets.namespaces
    requested = names_of_kind(service.lineage, EntryKind.SOURCE)
    shown = sorted({*names, *requested})[offset : offset + limit] if requested else names.page(offset, limit)
    return await rows_response("sources", (source_json(service.lineage, name) for name in shown))


@router.get("/sources/{source:path}", response_model=marquez.Source)
async def source_of_name(service: ServiceDep, lists: NameListsDep, source: str) -> Response:
    """Return one source."""
    name = decode(source)
    if not lists.index.datasets.count(name) and CatalogKey(EntryKind.SOURCE, name) not in service.lineage.catalog:
        raise not_found("source", name)
    return json_response(source_json(service.lineage, name))


@router.get("/tags", response_model=marquez.Tags)
async def tags(service: ServiceDep, lists: NameListsDep, limit: Limit = 100, offset: Offset = 0) -> Response:
    """List the tags of jobs, datasets and columns, and those that requests created."""
    lineage = service.lineage
    found = names_of_kind(lineage, EntryKind.TAG)
    for jobs in lineage.jobs.parts(lists.index.jobs.all(), _ROWS_PER_SLICE):
        for _, job in jobs:
            found.update(tag.key for tag in tags_of_facets(job.facets.values()))
        await asyncio.sleep(0)
    for datasets in lineage.datasets.parts(lists.index.datasets.all(), _ROWS_PER_SLICE):
        for _, dataset in datasets:
            found.update(tag.key for tag in tags_of_dataset(dataset))
        await asyncio.sleep(0)
    return json_response({"tags": [tag_json(lineage, name) for name in sorted(found)[offset : offset + limit]]})


@router.get("/jobs", response_model=marquez.Jobs)
async def jobs(
    service: ServiceDep, lists: NameListsDep, states: LastRunStates = None, limit: Limit = 100, offset: Offset = 0
) -> Response:
    """List jobs, latest event first.

    `lastRunStates` filters by the state of the latest run; `totalCount` counts all, as in Marquez.
    """
    return await _jobs_response(service, lists, None, states, limit, offset)


@router.get("/jobs/runs/{run}/facets", response_model=marquez.RunFacets)
async def facets_of_run(
    run: RunDep,
    kind: Annotated[Literal["run", "job", "dataset"], BeforeValidator(lower_case), Query(alias="type")],
) -> Response:
    """Return the facets of a run, or those of its job that the run's events carry; none for `dataset`."""
    facets = {"run": run.facets.values, "job": run.job_facets.values, "dataset": dict}[kind]()
    return json_response({"runId": run.id.run, "facets": facets})


@router.get("/jobs/runs/{run}", response_model=marquez.Run)
async def run(catalog: CatalogDep, run: RunDep) -> Response:
    """Return one run by its UUID."""
    return json_response(catalog.run(run))


@router.get(f"{_JOB}/runs", response_model=marquez.Runs)
async def runs(
    service: ServiceDep, catalog: CatalogDep, job: JobDep, limit: Limit = 100, offset: Offset = 0
) -> Response:
    """List the runs of a job, latest first."""
    record = service.lineage.jobs[job]
    found = catalog.runs_of(record, offset, limit)
    return await rows_response("runs", map(catalog.run, found), totalCount=len(record.runs))


@router.get(f"{_JOB}/versions/{{version}}", response_model=marquez.JobVersion)
async def job_version(catalog: CatalogDep, job: JobDep, version: str) -> Response:
    """Return one version of a job."""
    for found in catalog.job_versions(job):
        if job_version_id(job, found.inputs, found.outputs) == decode(version):
            return json_response(catalog.job_version(job, found))
    raise not_found("job version", decode(version))


@router.get(f"{_JOB}/versions", response_model=marquez.JobVersions)
async def job_versions(catalog: CatalogDep, job: JobDep, limit: Limit = 100, offset: Offset = 0) -> Response:
    """List the versions of a job, newest first: the sets of datasets that its runs used."""
    found = catalog.job_versions(job)
    rows = (catalog.job_version(job, version) for version in found[offset : offset + limit])
    return await rows_response("versions", rows)


@router.get(_JOB, response_model=marquez.Job)
async def job(catalog: CatalogDep, job: JobDep) -> Response:
    """Return one job."""
    return json_response(catalog.job(job))


@router.get("/namespaces/{namespace:path}/jobs", response_model=marquez.Jobs)
async def jobs_of_namespace(
    service: ServiceDep,
    lists: NameListsDep,
    namespace: str,
    states: LastRunStates = None,
    limit: Limit = 100,
    offset: Offset = 0,
) -> Response:
    """List the jobs of a namespace, as `/jobs` does; none for an unknown namespace."""
    return await _jobs_response(service, lists, decode(namespace), states, limit, offset)


@router.get(f"{_DATASET}/versions/{{version}}", response_model=marquez.DatasetVersion)
async def dataset_version(catalog: CatalogDep, dataset: DatasetDep, version: str) -> Response:
    """Return one version of a dataset."""
    found = catalog.dataset_versions(dataset).find(decode(version))
    if found is None:
        raise not_found("dataset version", decode(version))
    return json_response(catalog.dataset_version(dataset, found))


@router.get(f"{_DATASET}/versions", response_model=marquez.DatasetVersions)
async def dataset_versions(
    catalog: CatalogDep, dataset: DatasetDep, limit: Limit = 100, offset: Offset = 0
) -> Response:
    """List the versions of a dataset, newest first."""
    found = catalog.dataset_versions(dataset).all[::-1]
    rows = (catalog.dataset_version(dataset, version) for version in found[offset : offset + limit])
    return await rows_response("versions", rows, totalCount=len(found))


@router.get(_DATASET, response_model=marquez.Dataset)
async def dataset(catalog: CatalogDep, dataset: DatasetDep) -> Response:
    """Return one dataset."""
    return json_response(catalog.dataset(dataset))


@router.get("/namespaces/{namespace:path}/datasets", response_model=marquez.Datasets)
async def datasets_of_namespace(
    lists: NameListsDep, namespace: NamespaceDep, limit: Limit = 100, offset: Offset = 0
) -> Response:
    """List the datasets of a namespace."""
    names = lists.index.datasets
    rows = map(lists.catalog.dataset, names.page(namespace, offset, limit))
    return await rows_response("datasets", rows, totalCount=names.count(namespace))


@router.get("/namespaces/{namespace:path}", response_model=marquez.Namespace)
async def namespace(service: ServiceDep, namespace: NamespaceDep) -> Response:
    """Return one namespace, also a deleted one (`isHidden`)."""
    return json_response(namespace_json(service.lineage, namespace))


async def _jobs_response(
    service: Service, lists: NameLists, namespace: str | None, states: list[str] | None, limit: int, offset: int
) -> Response:
    recent = lists.index.recent_jobs
    total = recent.count(namespace)
    if not states:
        found = recent.page(namespace, offset, limit)
    else:
        wanted = frozenset(map(_run_state, states))
        found = []
        for part in recent.slices(namespace, READS_PER_PART):
            found += _in_states(service, part, wanted)
            if len(found) >= offset + limit:
                break
            await asyncio.sleep(0)
        found = found[offset : offset + limit]
    return await rows_response("jobs", map(lists.catalog.job, found), totalCount=total)


def _in_states(service: Service, jobs: Iterable[JobId], states: frozenset[RunState]) -> list[JobId]:
    now = time.time_ns()
    return [
        job
        for job in jobs
        if (run := service.graph.latest_run(job)) is not None and run_outcome(service.lineage, run, now).state in states
    ]


def _run_state(text: str) -> RunState:
    try:
        return RunState(text.upper())
    except ValueError as error:
        message = f"lastRunStates: {text[:40]!r} is none of {', '.join(RunState)}"
        raise ApiError(400, "invalid_parameter", message, {"field": "lastRunStates"}) from error
