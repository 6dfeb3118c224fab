# SPDX-License-Identifier: Apache-2.0
"""Watch: looks for alerts in intervals, and notifies the webhooks of what was raised and resolved."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence, Set

from lineage.alerts.alert import Alert
from lineage.alerts.delivery import Delivery
from lineage.alerts.outbox import Outbox, OutboxError
from lineage.events.ids import JsonObject
from lineage.threads import run_to_end

logger = logging.getLogger(__name__)

INTERVAL = 5.0
"""Seconds between two looks."""

MAX_GAP = 20.0
"""Seconds between two looks after which the machine was suspended, or too busy to receive events."""

_SECOND = 10**9

AlertsAt = Callable[[int, int, Set[str]], Awaitable[Sequence[Alert]]]
"""Alerts at a time (ns); the service has been listening since another one (ns), and those with these ids are raised."""


class Watch:
    """Watch over a service with webhooks. `start` it once, end it with `close`.

    `alerts` returns the alerts, `is_active` whether this instance is the one that sends them.
    """

    def __init__(self, outbox: Outbox, alerts: AlertsAt, is_active: Callable[[], bool]) -> None:
        """Closes `outbox` at the end."""
        self._outbox = outbox
        self._deliveries = [Delivery(webhook, outbox) for webhook in outbox.webhooks]
        self._alerts = alerts
        self._is_active = is_active
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to watch, and to deliver."""
        self._task = asyncio.create_task(self._watch(), name="alerts")
        for delivery in self._deliveries:
            delivery.start()

    async def status(self) -> list[JsonObject]:
        """Return the state of each webhook, see `Delivery.status`.

        Raises:
            OutboxError: the messages cannot be read.
        """
        return await asyncio.to_thread(lambda: [delivery.status() for delivery in self._deliveries])

    async def close(self) -> None:
        """Stop watching and delivering; messages stay in the file."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
        for delivery in self._deliveries:
            await delivery.close()
        await run_to_end(self._outbox.close)

    async def _watch(self) -> None:
        last = listening = time.time_ns()
        while True:
            await asyncio.sleep(INTERVAL)
            now = time.time_ns()
            if not 0 <= now - last <= MAX_GAP * _SECOND:
                listening = now
            last = now
            if not self._is_active():
                continue
            try:
                raised = await run_to_end(self._outbox.raised)
                found = await self._alerts(now, listening, raised)
                if await run_to_end(self._outbox.update, [alert.to_json() for alert in found], now):
                    for delivery in self._deliveries:
                        delivery.notify()
            except OutboxError as error:
                logger.error("%s", error)
            except Exception:
                # A defect that one job triggers must not end the alerts of all others.
                logger.exception("alerts cannot be determined")
