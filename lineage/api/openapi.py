# SPDX-License-Identifier: Apache-2.0
"""OpenAPI document of the service, generated from its routes and response models."""

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from lineage.api.routes_ingest import documented
from lineage.api.schemas.base import ErrorResponse
from lineage.api.schemas.marquez_writes import REQUEST_BODIES
from lineage.api.schemas.metadata import MetadataEntry

_VALIDATION_ERROR = {"HTTPValidationError", "ValidationError"}
"""Schemas of FastAPI's own 422 response, which this service replaces by `ErrorResponse` with status 400."""


def install_openapi(app: FastAPI) -> None:
    """Serve the document at `/openapi.json`; it is generated at the first request."""

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _openapi_document(app)
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]


def _openapi_document(app: FastAPI) -> dict[str, Any]:
    document = get_openapi(
        title=app.title, version=app.version, description=app.description, routes=[*app.routes, *documented.routes]
    )
    schemas = document["components"]["schemas"]
    for name in _VALIDATION_ERROR:
        schemas.pop(name, None)
    for model in (ErrorResponse, *REQUEST_BODIES, MetadataEntry):
        schemas[model.__name__] = model.model_json_schema(ref_template="#/components/schemas/{model}")
        schemas.update(schemas[model.__name__].pop("$defs", {}))
    error = {"application/json": {"schema": {"$ref": "#/components/schemas/ErrorResponse"}}}
    for operations in document["paths"].values():
        for operation in operations.values():
            operation["responses"].pop("422", None)
            operation["responses"]["4XX"] = {"description": "The request is refused", "content": error}
            operation["responses"]["5XX"] = {"description": "The request failed", "content": error}
    return document
