# SPDX-License-Identifier: Apache-2.0
"""Validation of real responses against the models of their routes."""

from fastapi.routing import APIRoute
from pydantic import TypeAdapter
from starlette.routing import Match


def validate_responses(app):
    """Return an httpx response hook that fails the test if a response does not match its documented model."""
    adapters = {}

    async def validate(response):
        if response.status_code != 200 or "json" not in response.headers.get("content-type", ""):
            return
        model = _model(app, response.request)
        if model is not None:
            adapter = adapters.setdefault(model, TypeAdapter(model))
            adapter.validate_json(await response.aread(), strict=True)

    return validate


def _model(app, request):
    path = request.url.raw_path.decode().partition("?")[0]
    scope = {"type": "http", "method": request.method, "path": path, "root_path": "", "headers": []}
    for route in app.routes:
        if isinstance(route, APIRoute) and route.matches(scope)[0] is Match.FULL:
            return route.response_model
    return None
