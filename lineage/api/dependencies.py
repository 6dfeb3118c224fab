# SPDX-License-Identifier: Apache-2.0
"""Dependencies of routes.

Every dependency is `async def`: FastAPI would run a plain function in a thread, and the graph belongs to the
event loop alone.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Protocol, TypeVar

from fastapi import Depends, Query, Request
from pydantic import AfterValidator, BeforeValidator
from starlette.datastructures import State

from lineage.api.errors import ApiError, not_found
from lineage.api.parameters import whole_number
from lineage.api.past import NO_DATASET
from lineage.api.raw_path import decode
from lineage.api.time_slices import refreshed, run_cooperatively
from lineage.events import DatasetId, JobId
from lineage.graph.adjacency import Column, Graph
from lineage.graph.records import LineageRecords
from lineage.graph.run_record import RunRecord
from lineage.marquez import Catalog, DatasetVersions, Index, NodeRef, find_node, job_version_id
from lineage.service import Service

MAX_PAGE = 10_000
MAX_DEPTH = 1_000


async def service_of(request: Request) -> Service:
    """Return the service of this process."""
    service: Service = request.app.state.service
    return service


ServiceDep = Annotated[Service, Depends(service_of)]
Limit = Annotated[int, BeforeValidator(whole_number), Query(ge=0, le=MAX_PAGE)]
Offset = Annotated[int, BeforeValidator(whole_number), Query(ge=0, le=2**31)]
Depth = Annotated[int, BeforeValidator(whole_number), AfterValidator(lambda depth: max(0, depth)), Query(le=MAX_DEPTH)]
"""Number of steps; a negative one is 0, as in Marquez."""


async def catalog_of(service: ServiceDep) -> Catalog:
    """Return a catalog over the current graph."""
    graph = await current_graph(service)
    return Catalog(service.lineage, graph, time.time_ns())


async def current_graph(service: Service) -> Graph:
    """Return the graph, up to date with the records."""
    while True:
        graph = service.graph
        await refreshed(graph)
        # A rebuild may have replaced it in between.
        if graph is service.graph:
            return graph


CatalogDep = Annotated[Catalog, Depends(catalog_of)]


@dataclass(frozen=True, slots=True)
class NameLists:
    """Sorted names of jobs and datasets, and a catalog of the same records."""

    index: Index
    catalog: Catalog


class _Derived(Protocol):
    """Values derived from records, which `steps` brings up to date."""

    def __init__(self, lineage: LineageRecords) -> None: ...

    @property
    def lineage(self) -> LineageRecords: ...

    def steps(self) -> Iterator[None]: ...


_DerivedValue = TypeVar("_DerivedValue", bound=_Derived)


async def derived(state: State, service: Service, kind: type[_DerivedValue]) -> _DerivedValue:
    """Return values of a kind, up to date. `state` caches them until the service replaces its records."""
    while True:
        found: _DerivedValue | None = getattr(state, kind.__name__, None)
        if found is None or found.lineage is not service.lineage:
            found = kind(service.lineage)
            setattr(state, kind.__name__, found)
        await run_cooperatively(found.steps())
        # A rebuild may have replaced the records in between.
        if found.lineage is service.lineage:
            return found


async def name_lists_of(request: Request, service: ServiceDep) -> NameLists:
    """Return the sorted names, up to date."""
    index = await derived(request.app.state, service, Index)
    return NameLists(index, await catalog_of(service))


NameListsDep = Annotated[NameLists, Depends(name_lists_of)]


async def known_namespace(service: ServiceDep, namespace: str) -> str:
    """Return the decoded namespace of the path; 404 if no event names it."""
    name = decode(namespace)
    if name not in service.lineage.namespaces:
        raise not_found("namespace", name)
    return name


NamespaceDep = Annotated[str, Depends(known_namespace)]


async def known_job(service: ServiceDep, namespace: str, job: str) -> JobId:
    """Return the job of the path; 404 if no event names it, or if it is deleted."""
    identity = JobId(decode(namespace), decode(job))
    record = service.lineage.jobs.get(identity)
    if record is None or service.lineage.catalog.is_deleted_job(record):
        raise not_found("job", f"{identity.namespace}/{identity.name}")
    return identity


JobDep = Annotated[JobId, Depends(known_job)]


async def known_dataset(service: ServiceDep, namespace: str, dataset: str) -> DatasetId:
    """Return the dataset of the path, also by an alias; 404 if no event names it, or if it is deleted."""
    identity = DatasetId(decode(namespace), decode(dataset))
    if not is_known_dataset(service, identity):
        identity = service.canonical_dataset(identity)
    if not is_known_dataset(service, identity):
        raise not_found("dataset", f"{identity.namespace}/{identity.name}")
    return identity


def is_known_dataset(service: Service, dataset: DatasetId) -> bool:
    """Return whether an event names a dataset, and it is not deleted."""
    record = service.lineage.datasets.get(dataset)
    return record is not None and not service.lineage.catalog.is_deleted_dataset(record)


DatasetDep = Annotated[DatasetId, Depends(known_dataset)]


async def known_run(service: ServiceDep, run: str) -> RunRecord:
    """Return the run of the path; 404 if no event names it."""
    found = service.lineage.run(decode(run))
    if found is None:
        raise not_found("run", decode(run))
    return found


RunDep = Annotated[RunRecord, Depends(known_run)]


NodeParameter = Annotated[str, Query(alias="nodeId")]
TimeParameter = Annotated[str | None, Query(alias="asOf")]


async def known_node(service: ServiceDep, node: NodeParameter) -> NodeRef:
    """Return the node of `nodeId`, also by an alias of its dataset; 404 if no event names it, or if it is deleted.

    A version may follow, as in `dataset:{namespace}:{name}#{version}`: the current one, since the graph is that of
    the current versions.
    """
    await current_graph(service)
    found = find_node(service.lineage, service.graph, node)
    if found is not None:
        return found
    bare, separator, version = node.rpartition("#")
    found = find_node(service.lineage, service.graph, bare) if separator else None
    if found is None:
        found = find_node(service.lineage, service.graph, node, service.canonical_dataset)
        if found is None:
            raise not_found("nodeId", node)
        return found
    current = _current_version(service, found)
    if version != current:
        message = f"{bare!r} is at version {current}; lineage of version {version!r} is not stored, omit the version"
        raise ApiError(404, "not_found", message, {"nodeId": node, "currentVersion": current})
    return found


NodeDep = Annotated[NodeRef, Depends(known_node)]


def column_of(node: NodeRef) -> Column:
    """Return the dataset or column of `nodeId`; 400 for a job."""
    if node.column is None:
        raise ApiError(400, "invalid_parameter", NO_DATASET, {"field": "nodeId"})
    return node.column


def _current_version(service: Service, node: NodeRef) -> str:
    if node.job is not None:
        view = service.graph.job_lineages[node.job]
        return job_version_id(node.job, view.inputs, view.outputs)
    assert node.column is not None
    return DatasetVersions(service.lineage.datasets[node.column.dataset]).current_id
