# SPDX-License-Identifier: Apache-2.0
"""What routes ask for.

Every dependency is `async def`: FastAPI would run a plain function in a thread, and the graph belongs to the
event loop alone.
"""

import time
from typing import Annotated

from fastapi import Depends, Query, Request

from lineage.api.errors import not_found
from lineage.api.raw_path import decode
from lineage.events import DatasetId, JobId
from lineage.marquez import Catalog, NodeRef, find_node
from lineage.service import Service

MAX_PAGE = 10_000
MAX_DEPTH = 1_000


async def service_of(request: Request) -> Service:
    """The one service of this process."""
    service: Service = request.app.state.service
    return service


ServiceDep = Annotated[Service, Depends(service_of)]
Limit = Annotated[int, Query(ge=0, le=MAX_PAGE)]
Offset = Annotated[int, Query(ge=0, le=2**31)]
Depth = Annotated[int, Query(ge=0, le=MAX_DEPTH)]


async def catalog_of(service: ServiceDep) -> Catalog:
    """A catalog over the graph as it is now."""
    service.graph.refresh()
    return Catalog(service.lineage, service.graph, time.time_ns())


CatalogDep = Annotated[Catalog, Depends(catalog_of)]


async def known_namespace(service: ServiceDep, namespace: str) -> str:
    """The decoded namespace of the path; 404 where no event spoke of it."""
    name = decode(namespace)
    if name not in service.lineage.namespaces:
        raise not_found("namespace", name)
    return name


NamespaceDep = Annotated[str, Depends(known_namespace)]


async def known_job(service: ServiceDep, namespace: str, job: str) -> JobId:
    """The job of the path; 404 where no event spoke of it."""
    identity = JobId(decode(namespace), decode(job))
    if identity not in service.lineage.jobs:
        raise not_found("job", f"{identity.namespace}/{identity.name}")
    return identity


JobDep = Annotated[JobId, Depends(known_job)]


async def known_dataset(service: ServiceDep, namespace: str, dataset: str) -> DatasetId:
    """The dataset of the path; 404 where no event spoke of it."""
    identity = DatasetId(decode(namespace), decode(dataset))
    if identity not in service.lineage.datasets:
        raise not_found("dataset", f"{identity.namespace}/{identity.name}")
    return identity


DatasetDep = Annotated[DatasetId, Depends(known_dataset)]


async def known_node(service: ServiceDep, node: Annotated[str, Query(alias="nodeId")]) -> NodeRef:
    """The node of `nodeId`; 404 where no event spoke of it."""
    service.graph.refresh()
    found = find_node(service.lineage, service.graph, node)
    if found is None:
        raise not_found("nodeId", node)
    return found


NodeDep = Annotated[NodeRef, Depends(known_node)]
