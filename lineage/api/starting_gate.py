# SPDX-License-Identifier: Apache-2.0
"""Refusal of what reads the graph, while a service makes it again from a long log."""

from starlette.types import ASGIApp, Receive, Scope, Send

from lineage.api.errors import ApiError
from lineage.service import Service

INGEST_PATHS = ("/api/v1/lineage", "/api/v1/lineage/batch")
"""Paths of events, which are stored meanwhile."""

_GRAPH_PATHS = ("/api/", "/metrics")
_RETRY_SECONDS = "10"


class StartingGate:
    """ASGI middleware; it runs within `RequestGuard`, so that only admitted callers get the progress."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer 503 with the progress."""
        if scope["type"] == "http" and (refusal := _refusal(scope)) is not None:
            await refusal.response()(scope, receive, send)
            return
        await self._app(scope, receive, send)


def _refusal(scope: Scope) -> ApiError | None:
    service: Service = scope["app"].state.service
    path: str = scope["path"]
    if service.starting is None or not path.startswith(_GRAPH_PATHS):
        return None
    if scope["method"] == "POST" and path in INGEST_PATHS:
        return None
    message = f"{service.starting}; events are stored meanwhile, ask again later"
    return ApiError(503, "starting", message, headers={"Retry-After": _RETRY_SECONDS})
