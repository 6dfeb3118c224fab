# SPDX-License-Identifier: Apache-2.0
"""Delivery of messages to one webhook: one at a time, in order, with retries."""

import asyncio
import logging
import random
import time
from urllib.parse import urlsplit

import httpx

from lineage.alerts.outbox import Message, Outbox, OutboxError
from lineage.alerts.webhook import Webhook, headers
from lineage.checks.http_client import LOOPBACK
from lineage.events.ids import JsonObject
from lineage.threads import run_to_end

logger = logging.getLogger(__name__)

TIMEOUT = 15.0
"""Seconds of one request."""

FIRST_DELAY = 2.0
MAX_DELAY = 15 * 60.0
"""Bounds of the seconds between two attempts: each is twice the last one, with jitter."""

MAX_AGE = 3 * 86_400.0
"""Seconds after which a message is given up. An older alert is of no use, and later ones wait for it."""

_OK = range(200, 300)


class Delivery:
    """Delivery to one webhook. `start` it once, end it with `close`."""

    def __init__(self, webhook: Webhook, outbox: Outbox) -> None:
        self._webhook = webhook
        self._outbox = outbox
        self._news = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._delivered = 0
        self._given_up = 0
        self._last_error: str | None = None
        # Proxies of the environment apply to other machines than this one; redirects could lead anywhere.
        is_near = urlsplit(webhook.url).hostname in LOOPBACK
        self._client = httpx.AsyncClient(timeout=TIMEOUT, follow_redirects=False, trust_env=not is_near)

    def start(self) -> None:
        """Start with the messages that wait."""
        # The client library would log the URL of every request, which is a secret.
        logging.getLogger("httpx").setLevel(logging.WARNING)
        self._task = asyncio.create_task(self._deliver(), name=f"webhook {self._webhook.name}")

    def notify(self) -> None:
        """Signal new messages."""
        self._news.set()

    def status(self) -> JsonObject:
        """Return `{"name", "delivered", "givenUp", "waiting", "lastError"}`; counts are since the start. May block."""
        return {
            "name": self._webhook.name,
            "delivered": self._delivered,
            "givenUp": self._given_up,
            "waiting": self._outbox.waiting(self._webhook.name),
            "lastError": self._last_error,
        }

    async def close(self) -> None:
        """Stop. A message in flight is sent again after the next start."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
        await self._client.aclose()

    async def _deliver(self) -> None:
        while True:
            self._news.clear()
            try:
                message = await run_to_end(self._outbox.next, self._webhook.name)
                if message is None:
                    await self._news.wait()
                    continue
                await asyncio.sleep(max(0.0, min(message.due - time.time(), MAX_DELAY)))
                await self._attempt(message)
            except OutboxError as error:
                logger.error("webhook %s: %s", self._webhook.name, error)
                self._last_error = str(error)
                await asyncio.sleep(FIRST_DELAY)

    async def _attempt(self, message: Message) -> None:
        cause = await self._send(message)
        if cause is None:
            self._delivered += 1
            self._last_error = None
            await run_to_end(self._outbox.remove, message.number)
            return
        self._last_error = cause
        now = time.time()
        if now - message.created > MAX_AGE:
            logger.error("webhook %s: gave up a message after 3 days: %s", self._webhook.name, cause)
            self._given_up += 1
            await run_to_end(self._outbox.remove, message.number)
            return
        if message.attempts == 0:
            logger.warning("webhook %s: %s; it is sent again", self._webhook.name, cause)
        delay = min(MAX_DELAY, FIRST_DELAY * 2.0 ** min(message.attempts, 16)) * random.uniform(0.75, 1.0)
        await run_to_end(self._outbox.postpone, message.number, now + delay)

    async def _send(self, message: Message) -> str | None:
        """Return None if the receiver accepted the message, else why not: a text without the URL."""
        sent = headers(self._webhook, message.id, message.body, time.time())
        try:
            async with (
                asyncio.timeout(TIMEOUT),
                self._client.stream("POST", self._webhook.url, content=message.body, headers=sent) as response,
            ):
                # Its body is of no use, and may be endless.
                return None if response.status_code in _OK else f"it responded with {response.status_code}"
        except TimeoutError:
            return f"it did not respond within {TIMEOUT:g} s"
        except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
            return f"it cannot be reached ({type(error).__name__})"
