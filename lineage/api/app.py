# SPDX-License-Identifier: Apache-2.0
"""The ASGI application."""

import asyncio
import os
import sqlite3
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from fastapi import FastAPI
from starlette.datastructures import State

from lineage.access.audit import AuditLog
from lineage.access.hosts import HostPolicy, hosts_of_environment
from lineage.access.keys import open_keys
from lineage.alerts.outbox import Outbox
from lineage.alerts.watch import Watch
from lineage.alerts.webhook import WEBHOOKS_VARIABLE, Webhook, parse_webhooks, read_webhooks
from lineage.api import (
    routes_catalog,
    routes_cause,
    routes_graph,
    routes_impact,
    routes_ingest,
    routes_lineage,
    routes_metadata,
    routes_metrics,
    routes_operations,
    routes_page,
    routes_search,
    routes_writes,
)
from lineage.api.alerts import AlertsOfService
from lineage.api.errors import install_error_handlers
from lineage.api.lab import read_lab
from lineage.api.openapi import install_openapi
from lineage.api.page_files import site_routes
from lineage.api.raw_path import RawPath
from lineage.api.request_body import BodyBudget
from lineage.api.request_guard import RequestGuard
from lineage.api.starting_gate import StartingGate
from lineage.rules import Rules
from lineage.rules.event_reader import EventReader
from lineage.rules.table_locations import TableLocations
from lineage.service import Service
from lineage.settings import Settings
from lineage.store import StoreError, StoreUnusable
from lineage.store.event_store import EventStore
from lineage.store.projection import Projection
from lineage.store.reading_progress import ReadingProgress
from lineage.store.state_file import open_state

MAX_EVENTS_AHEAD = 10_000
"""Events of the log that are read before the service listens: some 10 s. After a stop or a crash there are fewer."""


def create_app(
    settings: Settings, rules: Rules, log: EventStore, environment: Mapping[str, str] = os.environ
) -> FastAPI:
    """Create the application over an open log, which it closes on shutdown.

    Builds the graph first; of a long log, the service does so once it listens.

    `environment` may have keys (`lineage.access.keys.KEY_VARIABLES`), host names
    (`lineage.access.hosts.HOSTS_VARIABLE`) and webhooks (`lineage.alerts.webhook.WEBHOOKS_VARIABLE`).

    Raises:
        StoreUnusable: the log cannot be read.
        KeysError: the API keys cannot be used.
        LabError: the `--lab` file cannot be used.
        WebhooksError: the webhooks cannot be used.
        OutboxError: the messages to webhooks cannot be used.
        OSError: the `--page` folder has no page.
    """
    routes_of_site = site_routes(settings.page)
    lab = read_lab(settings.lab) if settings.lab else None
    keys = open_keys(settings.data, settings.keys, settings.require_keys, environment)
    webhooks = _webhooks(settings, environment)
    outbox = Outbox(settings.data, webhooks) if webhooks is not None else None
    audit = AuditLog(settings.data)
    locations = TableLocations(rules)
    saved = open_state(settings.data, rules, log.compacted_through(), log.last(), log.identity)
    # Not a variable that `lifespan` refers to: it would keep the records after a rebuild has replaced them.
    projections = [Projection(log, EventReader(rules), saved)]
    progress = ReadingProgress(saved.position or log.compacted_through(), log.last(), time.monotonic())
    is_built = progress.events <= MAX_EVENTS_AHEAD
    if is_built:
        for _ in projections[0].build(checkpoints=True):
            pass
        _save(projections[0])

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        service = Service(log, rules, locations, settings, projections.pop(), None if is_built else progress)
        app.state.service = service
        app.state.watch = None
        watching = asyncio.create_task(_watch_when_ready(app.state, service, outbox))
        try:
            yield
        finally:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)
            try:
                if app.state.watch is not None:
                    await app.state.watch.close()
                await service.close()
            finally:
                audit.close()

    # The interactive documentation pages load scripts from other hosts; the service must work offline.
    app = FastAPI(title="Lineage service", lifespan=lifespan, docs_url=None, redoc_url=None)
    app.router.redirect_slashes = False
    app.state.settings = settings
    app.state.bodies = BodyBudget(max(settings.max_body_memory, settings.max_batch_bytes, settings.max_event_bytes))
    app.state.lab = lab
    names = (*settings.allowed_hosts, *hosts_of_environment(environment))
    hosts = HostPolicy.of(names, settings.allowed_origins)
    app.add_middleware(StartingGate)
    app.add_middleware(RequestGuard, hosts=hosts, keys=keys, audit=audit)
    app.add_middleware(RawPath)  # outermost: the guard sees the path that is routed
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
        routes_cause,
        routes_search,
        routes_writes,
        routes_metadata,
        routes_metrics,
    ):
        app.include_router(routes.router)
    app.router.routes.extend(routes_of_site)
    return app


def _webhooks(settings: Settings, environment: Mapping[str, str]) -> tuple[Webhook, ...] | None:
    """Return the webhooks of `--webhooks`, else those of the environment; None if neither is given."""
    if settings.webhooks:
        return read_webhooks(settings.webhooks)
    text = environment.get(WEBHOOKS_VARIABLE, "")
    return parse_webhooks(text, WEBHOOKS_VARIABLE) if text else None


async def _watch_when_ready(state: State, service: Service, outbox: Outbox | None) -> None:
    """Start the watch, `state.watch`, once the graph can be read, if there are webhooks."""
    if outbox is None:
        return
    await service.wait_until_ready()
    watch = Watch(outbox, AlertsOfService(state, service, state.lab).at, lambda: service.log.writes)
    watch.start()
    state.watch = watch


def _save(state: Projection) -> None:
    """Make the first checkpoint, so that the work of a long start is done once.

    Raises:
        StoreUnusable: the data directory cannot be written.
    """
    try:
        for _ in state.save():
            pass
        state.commit()
    except (sqlite3.Error, StoreError) as error:
        raise StoreUnusable(
            f"the state of the log cannot be saved: {error}; free space, or restore a backup with"
            " `python -m lineage.maintenance restore`"
        ) from error
