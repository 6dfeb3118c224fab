# SPDX-License-Identifier: Apache-2.0
"""Metrics for Prometheus."""

import asyncio
import time

from fastapi import APIRouter, Request, Response
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

from lineage.alerts.outbox import OutboxError
from lineage.alerts.watch import Watch
from lineage.api.alerts import last_writes, node_alerts, read_contract
from lineage.api.dependencies import ServiceDep
from lineage.api.errors import ApiError
from lineage.api.lab import Lab
from lineage.checks.contract import ContractError
from lineage.metrics.exposition import Snapshot, render
from lineage.store import DeadLetterKind

PATH = "/metrics"

router = APIRouter()


@router.get(PATH, response_class=Response, responses={200: {"content": {"text/plain": {}}}})
async def metrics(request: Request, service: ServiceDep) -> Response:
    """Return metrics in Prometheus' text format: delays of events, queues, dead letters, alerts, last writes."""
    now = time.time_ns()
    lab: Lab | None = request.app.state.lab
    watch: Watch | None = request.app.state.watch
    try:
        contract = None if lab is None else await read_contract(lab)
        letters = await asyncio.to_thread(service.log.dead_letters.count)
        snapshot = Snapshot(
            counts=service.counts(),
            logged=await asyncio.to_thread(service.log.count),
            dead_letters={kind.value: letters.get(kind, 0) for kind in DeadLetterKind},
            alerts=await node_alerts(request.app.state, service, now),
            written={} if contract is None else await last_writes(service, contract, now),
            webhooks=[] if watch is None else await watch.status(),
            jobs=len(service.graph.job_lineages),
            datasets=len(service.lineage.datasets),
        )
    except (ContractError, OutboxError) as error:
        raise ApiError(503, "metrics_unusable", str(error)) from error
    return Response(render(snapshot, service.delays.registry), media_type=CONTENT_TYPE_PLAIN_0_0_4)
