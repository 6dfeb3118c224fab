# SPDX-License-Identifier: Apache-2.0
"""Marquez-compatible routes of namespaces, sources, tags, jobs, runs and datasets.

More specific paths come first: parameters match greedily, so that unencoded slashes are understood too.
"""

from collections.abc import Iterable
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Response

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
from lineage.api.raw_path import decode
from lineage.api.responses import json_response, rows_response
from lineage.api.schemas import marquez
from lineage.api.time_slices import in_slices
from lineage.events import DatasetId, JobId
from lineage.graph import RunState, run_outcome
from lineage.marquez import job_version_id, source_of_namespace, tags_of
from lineage.service import Service

router = APIRouter(prefix="/api/v1")

_JOB = "/namespaces/{namespace:path}/jobs/{job:path}"
_DATASET = "/namespaces/{namespace:path}/datasets/{dataset:path}"

_ROWS_PER_SLICE = 1000
"""Jobs or datasets processed between two yields to the event loop: a few milliseconds."""

LastRunStates = Annotated[list[str] | None, Query(alias="lastRunStates")]


@router.get("/namespaces", response_model=marquez.Namespaces)
async def namespaces(service: ServiceDep, catalog: CatalogDep, limit: Limit = 100, offset: Offset = 0) -> Response:
    """List the namespaces of jobs and datasets."""
    names = sorted(service.lineage.namespaces)[offset : offset + limit]
    return await rows_response("namespaces", map(catalog.namespace, names))


@router.get("/sources", response_model=marquez.Sources)
async def sources(service: ServiceDep, lists: NameListsDep, limit: Limit = 100, offset: Offset = 0) -> Response:
    """List sources: the namespaces of datasets."""
    names = lists.index.datasets.namespaces.page(offset, limit)
    return await rows_response("sources", (source_of_namespace(service.lineage, name) for name in names))


@router.get("/sources/{source:path}", response_model=marquez.Source)
async def source_of_name(service: ServiceDep, lists: NameListsDep, source: str) -> Response:
    """Return one namespace of datasets."""
    name = decode(source)
    if not lists.index.datasets.count(name):
        raise not_found("source", name)
    return json_response(source_of_namespace(service.lineage, name))


@router.get("/tags", response_model=marquez.Tags)
async def tags(service: ServiceDep, limit: Limit = 100, offset: Offset = 0) -> Response:
    """List the tags of jobs, datasets and columns."""
    found: set[str] = set()
    nodes: list[JobId | DatasetId] = [*service.lineage.jobs, *service.lineage.datasets]
    async for part in in_slices(nodes, _ROWS_PER_SLICE):
        for node in part:
            found |= tags_of(service.lineage, node)
    return json_response(
        {"tags": [{"name": name, "description": None} for name in sorted(found)[offset : offset + limit]]}
    )


@router.get("/jobs", response_model=marquez.Jobs)
async def jobs(
    service: ServiceDep, lists: NameListsDep, states: LastRunStates = None, limit: Limit = 100, offset: Offset = 0
) -> Response:
    """List jobs. `lastRunStates` filters by the state of the latest run; `totalCount` counts all, as in Marquez."""
    return await _jobs_response(service, lists, None, states, limit, offset)


@router.get("/jobs/runs/{run}/facets", response_model=marquez.RunFacets)
async def facets_of_run(run: RunDep, kind: Annotated[Literal["run", "job"], Query(alias="type")]) -> Response:
    """Return the facets of a run, or those of its job that the run's events carry."""
    facets = run.facets if kind == "run" else run.job_facets
    return json_response({"runId": run.id.run, "facets": facets.values()})


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
    return await rows_response("versions", rows, totalCount=len(found))


@router.get(_JOB, response_model=marquez.Job)
async def job(catalog: CatalogDep, job: JobDep) -> Response:
    """Return one job."""
    return json_response(catalog.job(job))


@router.get("/namespaces/{namespace:path}/jobs", response_model=marquez.Jobs)
async def jobs_of_namespace(
    service: ServiceDep,
    lists: NameListsDep,
    namespace: NamespaceDep,
    states: LastRunStates = None,
    limit: Limit = 100,
    offset: Offset = 0,
) -> Response:
    """List the jobs of a namespace, as `/jobs` does."""
    return await _jobs_response(service, lists, namespace, states, limit, offset)


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
async def namespace(catalog: CatalogDep, namespace: NamespaceDep) -> Response:
    """Return one namespace."""
    return json_response(catalog.namespace(namespace))


async def _jobs_response(
    service: Service, lists: NameLists, namespace: str | None, states: list[str] | None, limit: int, offset: int
) -> Response:
    names = lists.index.jobs
    total = names.count(namespace)
    if not states:
        found = names.page(namespace, offset, limit)
    else:
        wanted = frozenset(map(_run_state, states))
        found = []
        async for part in in_slices(names.all(namespace), _ROWS_PER_SLICE):
            found += _in_states(service, part, wanted)
            if len(found) >= offset + limit:
                break
        found = found[offset : offset + limit]
    return await rows_response("jobs", map(lists.catalog.job, found), totalCount=total)


def _in_states(service: Service, jobs: Iterable[JobId], states: frozenset[RunState]) -> list[JobId]:
    job_lineages = service.graph.job_lineages
    return [
        job
        for job in jobs
        if job in job_lineages
        and (run := job_lineages[job].latest_run) is not None
        and run_outcome(service.lineage, run).state in states
    ]


def _run_state(text: str) -> RunState:
    try:
        return RunState(text)
    except ValueError as error:
        message = f"lastRunStates: {text[:40]!r} is none of {', '.join(RunState)}"
        raise ApiError(400, "invalid_parameter", message, {"field": "lastRunStates"}) from error
