# SPDX-License-Identifier: Apache-2.0
"""The ASGI application."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from lineage.api import (
    routes_catalog,
    routes_graph,
    routes_impact,
    routes_ingest,
    routes_lineage,
    routes_operations,
    routes_page,
    routes_search,
    routes_writes,
)
from lineage.api.errors import install_error_handlers
from lineage.api.lab import read_lab
from lineage.api.openapi import install_openapi
from lineage.api.page_files import site_routes
from lineage.api.raw_path import RawPath
from lineage.rules import Rules
from lineage.rules.event_reader import EventReader
from lineage.rules.table_locations import TableLocations
from lineage.service import Service
from lineage.settings import Settings
from lineage.store import EventLog
from lineage.store.projection import Projection


def create_app(settings: Settings, rules: Rules, log: EventLog) -> FastAPI:
    """Create the application over an open log, which it closes on shutdown. Builds the graph first.

    Raises:
        StoreUnusable: the log cannot be read.
        LabError: the `--lab` file cannot be used.
        OSError: the `--page` folder has no page.
    """
    routes_of_site = site_routes(settings.page)
    lab = read_lab(settings.lab) if settings.lab else None
    locations = TableLocations(rules)
    state = Projection(log, EventReader(rules, locations.known))
    for _ in state.build():
        pass

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        service = Service(log, rules, locations, settings, state)
        app.state.service = service
        try:
            yield
        finally:
            await service.close()

    # The interactive documentation pages load scripts from other hosts; the service must work offline.
    app = FastAPI(title="Lineage service", lifespan=lifespan, docs_url=None, redoc_url=None)
    app.router.redirect_slashes = False
    app.state.settings = settings
    app.state.lab = lab
    app.add_middleware(RawPath)
    install_error_handlers(app)
    install_openapi(app)
    for routes in (
        routes_ingest,
        routes_page,
        routes_catalog,
        routes_lineage,
        routes_graph,
        routes_operations,
        routes_impact,
        routes_search,
        routes_writes,
    ):
        app.include_router(routes.router)
    app.router.routes.extend(routes_of_site)
    return app
