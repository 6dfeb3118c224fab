# SPDX-License-Identifier: Apache-2.0
"""Write routes of Marquez that this service refuses: its graph is derived from events alone."""

from typing import NoReturn

from fastapi import APIRouter, Request

from lineage.api.errors import ApiError

_NAMESPACE = "/api/v1/namespaces/{namespace:path}"
_WRITES = (
    (f"{_NAMESPACE}/datasets/{{dataset:path}}/fields/{{field:path}}/tags/{{tag}}", ("POST", "DELETE")),
    (f"{_NAMESPACE}/datasets/{{dataset:path}}/tags/{{tag}}", ("POST", "DELETE")),
    (f"{_NAMESPACE}/datasets/{{dataset:path}}", ("PUT", "DELETE")),
    (f"{_NAMESPACE}/jobs/{{job:path}}/runs", ("POST",)),
    (f"{_NAMESPACE}/jobs/{{job:path}}/tags/{{tag}}", ("POST", "DELETE")),
    (f"{_NAMESPACE}/jobs/{{job:path}}", ("PUT", "DELETE")),
    (_NAMESPACE, ("PUT", "DELETE")),
    ("/api/v1/jobs/runs/{run}/{action}", ("POST",)),
    ("/api/v1/sources/{source:path}", ("PUT",)),
    ("/api/v1/tags/{tag:path}", ("PUT",)),
)
"""Paths and methods of Marquez's write API."""

router = APIRouter()


async def refuse(request: Request) -> NoReturn:
    """Refuse the request with 405 and name the ingest route."""
    message = (
        f"{request.method} is not supported here: lineage arrives as events. Send an OpenLineage event to "
        "POST /api/v1/lineage (tags, descriptions and schemas are facets of it)"
    )
    raise ApiError(405, "method_not_allowed", message, {"method": request.method}, {"Allow": "GET"})


for _path, _methods in _WRITES:
    router.add_api_route(_path, refuse, methods=list(_methods), include_in_schema=False, response_model=None)
