# SPDX-License-Identifier: Apache-2.0
"""Alerts of a service, for its API and its webhooks."""

import asyncio
import json
import logging
import time
from collections.abc import Set

from starlette.datastructures import State

from lineage.alerts.alert import Alert
from lineage.alerts.contract_alerts import LastingAlerts, alerts_of_report
from lineage.alerts.current import CurrentAlerts
from lineage.api.dependencies import current_graph, derived
from lineage.api.lab import Lab
from lineage.api.time_slices import run_cooperatively
from lineage.checks.contract import Contract, ContractError, Dataset, Report, check_freshness, compare, load
from lineage.events import DatasetId
from lineage.graph.last_write import last_write
from lineage.graph.schema_breaks import SchemaBreaks
from lineage.service import Service

logger = logging.getLogger(__name__)

CONTRACT_INTERVAL = 60
"""Seconds between two comparisons with the contract for webhooks: each exports the graph."""

_SECOND = 10**9


async def node_alerts(
    state: State, service: Service, now: int, listening_since: int = 0, raised: Set[str] = frozenset()
) -> list[Alert]:
    """Return the alerts of jobs and datasets at `now` (ns), see `CurrentAlerts.at`."""
    while True:
        breaks = await derived(state, service, SchemaBreaks)
        graph = await current_graph(service)
        found: CurrentAlerts | None = getattr(state, "current_alerts", None)
        if found is None or found.lineage is not service.lineage:
            found = state.current_alerts = CurrentAlerts(service.lineage)
        await run_cooperatively(found.steps(graph))
        # A rebuild may have replaced the records in between.
        if breaks.lineage is found.lineage is service.lineage and graph is service.graph:
            return found.at(graph, breaks, now, listening_since, raised)


async def read_contract(lab: Lab) -> Contract | None:
    """Return the contract of the lab; None without one.

    Raises:
        ContractError: it cannot be read.
    """
    if lab.contract is None:
        return None
    try:
        # Read each time, because users edit the file while the lab runs.
        return load(await asyncio.to_thread(lab.contract.read_text, encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ContractError(f"the lineage contract {lab.contract} cannot be used: {error}") from error


async def contract_report(service: Service, lab: Lab) -> Report | None:
    """Compare the graph with the contract of the lab; None without one.

    Raises:
        ContractError: it cannot be read.
    """
    wanted = await read_contract(lab)
    if wanted is None:
        return None
    found = await service.export()
    report = await asyncio.to_thread(lambda: compare(wanted, json.loads(found.text), lab.features))
    now = time.time_ns()
    written = await last_writes(service, wanted, now)
    return report.with_findings(check_freshness(wanted, written, now / _SECOND, lab.features))


async def last_writes(service: Service, wanted: Contract, now: int) -> dict[Dataset, float]:
    """Return the time in seconds of the last write to the datasets of which freshness is demanded."""
    graph = await current_graph(service)
    demanded = [row.dataset for row in wanted.datasets if row.freshness is not None]
    found = {name: last_write(service.lineage, graph, DatasetId(*name), now) for name in demanded}
    return {name: time_ns / _SECOND for name, time_ns in found.items() if time_ns is not None}


class AlertsOfService:
    """All alerts of a service, for its webhooks: those of the contract once they have lasted."""

    def __init__(self, state: State, service: Service, lab: Lab | None) -> None:
        self._state = state
        self._service = service
        self._lab = lab
        self._lasting = LastingAlerts()
        self._contract: list[Alert] = []
        self._compared = 0

    async def at(self, now: int, listening_since: int, raised: Set[str]) -> list[Alert]:
        """Return the alerts at `now` (ns), see `CurrentAlerts.at`."""
        if self._lab is not None and now - self._compared >= CONTRACT_INTERVAL * _SECOND:
            self._compared = now
            try:
                report = await contract_report(self._service, self._lab)
            except ContractError as error:
                # In the middle of an edit: what was found before stays, and the other alerts do not wait for it.
                logger.warning("%s", error)
            else:
                self._contract = [] if report is None else self._lasting.at(alerts_of_report(report), now)
        return [*await node_alerts(self._state, self._service, now, listening_since, raised), *self._contract]
