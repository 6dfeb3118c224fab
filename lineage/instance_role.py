# SPDX-License-Identifier: Apache-2.0
"""Role of an instance that shares its log with others: one writes, the others follow the log and stand by.

A reading instance takes the lease when it is free, applies all that was stored before, and then writes. A writing
instance that has lost the lease reads again.
"""

import asyncio
import logging
import time
from collections.abc import Sequence
from typing import Protocol

from lineage.store import StoreError, StoreUnusable
from lineage.store.event_store import EventStore, Lease
from lineage.store.rows import StoredEvent

logger = logging.getLogger(__name__)

_PAGE = 500
"""Events per read of the log."""

POLL_SECONDS = 1.0
"""Interval of reading the log, and of looking for a free lease, without notifications."""

CHECK_SECONDS = 0.25
"""Interval in which a writing instance looks whether it still has the lease, which a thread of the lease verifies."""


class RoleTarget(Protocol):
    """The service."""

    @property
    def position(self) -> int:
        """Return the number of the event of the log up to which all are applied."""

    async def follow(self, events: Sequence[StoredEvent]) -> None:
        """Apply events that another instance has stored."""

    async def catch_up(self) -> None:
        """Rebuild from the log, of which events that were not applied have been compacted."""

    async def start_writing(self) -> None:
        """Start what only the writing instance does: retention, forwarding, reading from and publishing to Kafka."""

    async def stop_writing(self) -> None:
        """Stop what only the writing instance does."""


class InstanceRole:
    """Follows the log or keeps the lease until it is closed. Belongs to the event loop."""

    def __init__(self, target: RoleTarget, log: EventStore, lease: Lease) -> None:
        self._target = target
        self._log = log
        self._lease = lease
        self._writes = log.writes
        self._tried = time.monotonic()
        self._opening = True
        self._stopping = asyncio.Event()
        self._task = asyncio.get_running_loop().create_task(self._run(), name="instance-role")

    async def close(self) -> None:
        """Stop after the step in progress, which takes up to `POLL_SECONDS` unless the server does not respond."""
        self._stopping.set()
        await self._task

    async def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                if self._opening:
                    # The log was opened to build the graph, which is done.
                    await asyncio.to_thread(self._log.resume_compaction)
                    self._opening = False
                await (self._keep_writing() if self._writes else self._read())
            except (StoreError, StoreUnusable) as error:
                logger.warning("%s cannot follow the log, it retries: %s", self._lease.instance, error)
                await self._pause(POLL_SECONDS)
            except Exception:
                # The task must survive any error: without it the instance would neither follow nor take over.
                logger.exception("%s cannot follow the log, it retries", self._lease.instance)
                await self._pause(POLL_SECONDS)

    async def _keep_writing(self) -> None:
        """Wait; stop writing if the lease is lost."""
        if self._log.writes:
            await self._pause(CHECK_SECONDS)
            return
        self._writes = False
        await self._target.stop_writing()

    async def _read(self) -> None:
        await self._apply_new_events()
        now = time.monotonic()
        if now >= self._tried + POLL_SECONDS:
            self._tried = now
            if await asyncio.to_thread(self._log.lease_is_free) and await self._take_over():
                return
        await asyncio.to_thread(self._log.wait, POLL_SECONDS)

    async def _take_over(self) -> bool:
        """Take the lease; return False if another instance was faster."""
        if not await asyncio.to_thread(self._lease.take):
            return False
        try:
            # All that the previous instance has stored: it can store nothing more.
            await self._apply_new_events()
            self._lease.activate()
            await self._target.start_writing()
        except BaseException:
            await asyncio.to_thread(self._lease.give_up)
            await self._target.stop_writing()
            raise
        self._writes = True
        logger.info("%s writes the log", self._lease.instance)
        return True

    async def _apply_new_events(self) -> None:
        while events := await self._read_page():
            await self._target.follow(events)

    async def _read_page(self) -> list[StoredEvent]:
        """Return the next events; catch up first if some may have been compacted before they were read."""
        while True:
            position = self._target.position
            events = await asyncio.to_thread(self._log.after, position, _PAGE)
            # After the read: an event that is compacted later was read.
            if await asyncio.to_thread(self._log.compacted_through) <= position:
                return events
            await self._target.catch_up()

    async def _pause(self, seconds: float) -> None:
        """Wait; return early when the instance is closed."""
        try:
            async with asyncio.timeout(seconds):
                await self._stopping.wait()
        except TimeoutError:
            return
