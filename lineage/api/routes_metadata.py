# SPDX-License-Identifier: Apache-2.0
"""Routes of the metadata that users state, by a file or on the page: read, and replaced with an admin key."""

from collections.abc import Callable
from hashlib import sha256
from typing import Annotated

from fastapi import APIRouter, Depends, Header, Response

from lineage.api.dependencies import NodeDep, ServiceDep, current_graph, is_known_dataset
from lineage.api.errors import ApiError
from lineage.api.responses import json_response, rows_response
from lineage.api.schemas import metadata as schemas
from lineage.api.time_slices import in_slices
from lineage.api.write_request import WriteDep, body_of, body_schema
from lineage.checks.metadata import (
    Described,
    Metadata,
    described_by,
    described_of_entry,
    entry_json,
    is_empty,
    metadata_events,
)
from lineage.checks.metadata.events import PRODUCER
from lineage.events import DatasetId, JobId, JsonObject, canonical_json, identity_json
from lineage.events.own_facets import COLUMN_DESCRIPTIONS_FACET
from lineage.events.timestamps import format_time
from lineage.graph.descriptive_facets import DescriptiveFacets, facet_producer
from lineage.marquez.node_ids import NodeRef, node_id
from lineage.service import Service

router = APIRouter(prefix="/api/v1")

PATH = "/metadata"
_NODES_PER_SLICE = 500

EntryBody = Annotated[schemas.MetadataEntry, Depends(body_of(schemas.MetadataEntry))]


@router.get(PATH, response_model=schemas.NodeMetadata)
async def node_metadata(service: ServiceDep, node: NodeDep) -> Response:
    """Return what the metadata file and the page say about a dataset or job; `ETag` changes with it."""
    return _response(_stated(service, _identity(node)))


@router.get(f"{PATH}/all", response_model=schemas.AllMetadata)
async def all_metadata(service: ServiceDep) -> Response:
    """Return the metadata of every node that has some, for a file of it."""
    await current_graph(service)
    described: list[Described] = []
    nodes: list[DatasetId | JobId] = [*service.lineage.datasets, *service.graph.job_lineages]
    async for part in in_slices(nodes, _NODES_PER_SLICE):
        # Between two slices, nodes may have gone or got another name.
        described += [_stated(service, node) for node in part if _is_known(service, node)]
    stated = [found for found in described if not is_empty(found)]
    return await rows_response("nodes", map(_json, sorted(stated, key=lambda found: node_id(found.node))))


@router.put(PATH, response_model=schemas.NodeMetadata, openapi_extra=body_schema(schemas.MetadataEntry))
async def put_metadata(
    entry: EntryBody, write: WriteDep, node: NodeDep, if_match: Annotated[str | None, Header()] = None
) -> Response:
    """Replace what the metadata file and the page say about a dataset or job; what other producers say stays.

    With `If-Match`, 412 if it is not the `ETag` of the current metadata: somebody else has changed it.
    """
    identity = _identity(node)
    if isinstance(identity, JobId) and entry.columns:
        message = f"columns: {node_id(identity)} is a job, which has no columns; describe those of its datasets"
        raise ApiError(400, "invalid_body", message, {"field": "columns"})
    current = _stated(write.service, identity)
    if if_match is not None and if_match != _tag(current):
        message = f"the metadata of {node_id(identity)} was changed meanwhile; read it again, and repeat the change"
        raise ApiError(412, "changed_meanwhile", message, {"nodeId": node_id(identity)})
    stated = described_of_entry(identity, entry.model_dump(mode="json"))
    if stated != current:
        await write.store(*metadata_events(Metadata((stated,)), format_time(write.events.time_after_node(identity))))
    return _response(_stated(write.service, identity))


def _response(found: Described) -> Response:
    response = json_response(_json(found))
    response.headers["etag"] = _tag(found)
    return response


def _json(found: Described) -> JsonObject:
    return {"nodeId": node_id(found.node), **identity_json(found.node), "entry": entry_json(found)}


def _is_known(service: Service, node: DatasetId | JobId) -> bool:
    return is_known_dataset(service, node) if isinstance(node, DatasetId) else node in service.graph.job_lineages


def _tag(found: Described) -> str:
    return f'"{sha256(canonical_json(entry_json(found))).hexdigest()[:32]}"'


def _identity(node: NodeRef) -> DatasetId | JobId:
    """Return the dataset or job; 400 for a column, which is described with its dataset."""
    if node.job is not None:
        return node.job
    assert node.column is not None
    if node.column.field is not None:
        message = "nodeId: names a column; name its dataset, whose metadata has its columns"
        raise ApiError(400, "invalid_parameter", message, {"field": "nodeId"})
    return node.column.dataset


def _stated(service: Service, node: DatasetId | JobId) -> Described:
    record = service.lineage.datasets[node] if isinstance(node, DatasetId) else service.lineage.jobs[node]
    return described_by(node, _stated_by_users(record.facets))


def _stated_by_users(facets: DescriptiveFacets) -> Callable[[str], JsonObject]:
    def stated(name: str) -> JsonObject:
        if name == COLUMN_DESCRIPTIONS_FACET:
            return facets.get(name) or {}
        for register in facets.producer_registers(name):
            value = register.value
            if facet_producer(value) == PRODUCER and value.get("_deleted") is not True:
                return value
        return {}

    return stated
