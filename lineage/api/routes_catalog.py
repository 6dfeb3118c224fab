# SPDX-License-Identifier: Apache-2.0
"""Namespaces, jobs, runs and datasets, as Marquez serves them.

More specific paths come first: parameters match greedily, so that unencoded slashes are understood too.
"""

from fastapi import APIRouter

from lineage.api.dependencies import CatalogDep, DatasetDep, JobDep, Limit, NamespaceDep, Offset, ServiceDep
from lineage.api.errors import not_found
from lineage.api.raw_path import decode
from lineage.events import JsonObject

router = APIRouter(prefix="/api/v1")


@router.get("/namespaces")
async def namespaces(service: ServiceDep, catalog: CatalogDep, limit: Limit = 100, offset: Offset = 0) -> JsonObject:
    """All namespaces of jobs and datasets."""
    names = sorted(service.lineage.namespaces)[offset : offset + limit]
    return {"namespaces": [catalog.namespace(name) for name in names]}


@router.get("/jobs")
async def jobs(service: ServiceDep, catalog: CatalogDep, limit: Limit = 100, offset: Offset = 0) -> JsonObject:
    """All jobs."""
    found = sorted(service.lineage.jobs)
    return {
        "jobs": [catalog.job(job) for job in found[offset : offset + limit]],
        "totalCount": len(found),
    }


@router.get("/jobs/runs/{run}")
async def run(service: ServiceDep, catalog: CatalogDep, run: str) -> JsonObject:
    """One run by its UUID."""
    record = service.lineage.run(decode(run))
    if record is None:
        raise not_found("run", decode(run))
    return catalog.run(record)


@router.get("/namespaces/{namespace:path}/jobs/{job:path}/runs")
async def runs(
    service: ServiceDep, catalog: CatalogDep, job: JobDep, limit: Limit = 100, offset: Offset = 0
) -> JsonObject:
    """The runs of a job, latest first."""
    record = service.lineage.jobs[job]
    return {
        "runs": [catalog.run(found) for found in catalog.runs_of(record, offset, limit)],
        "totalCount": len(record.runs),
    }


@router.get("/namespaces/{namespace:path}/jobs/{job:path}")
async def job(catalog: CatalogDep, job: JobDep) -> JsonObject:
    """One job."""
    return catalog.job(job)


@router.get("/namespaces/{namespace:path}/jobs")
async def jobs_of_namespace(
    service: ServiceDep, catalog: CatalogDep, namespace: NamespaceDep, limit: Limit = 100, offset: Offset = 0
) -> JsonObject:
    """The jobs of a namespace."""
    found = sorted(job for job in service.lineage.jobs if job.namespace == namespace)
    return {
        "jobs": [catalog.job(job) for job in found[offset : offset + limit]],
        "totalCount": len(found),
    }


@router.get("/namespaces/{namespace:path}/datasets/{dataset:path}")
async def dataset(catalog: CatalogDep, dataset: DatasetDep) -> JsonObject:
    """One dataset."""
    return catalog.dataset(dataset)


@router.get("/namespaces/{namespace:path}/datasets")
async def datasets_of_namespace(
    service: ServiceDep, catalog: CatalogDep, namespace: NamespaceDep, limit: Limit = 100, offset: Offset = 0
) -> JsonObject:
    """The datasets of a namespace."""
    found = sorted(dataset for dataset in service.lineage.datasets if dataset.namespace == namespace)
    return {
        "datasets": [catalog.dataset(dataset) for dataset in found[offset : offset + limit]],
        "totalCount": len(found),
    }


@router.get("/namespaces/{namespace:path}")
async def namespace(catalog: CatalogDep, namespace: NamespaceDep) -> JsonObject:
    """One namespace."""
    return catalog.namespace(namespace)
