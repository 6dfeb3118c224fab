# SPDX-License-Identifier: Apache-2.0
"""Processes of queries about the past, each of which answers one query and ends.

Starting one, with its imports, takes as long as a quick answer. So after a query, the process of the next one is
started ahead, and waits for it.
"""

import asyncio
import json
import logging
import os
import sys
from collections.abc import Sequence
from typing import NamedTuple

from lineage.store.as_of_protocol import WAIT
from lineage.store.event_store import EventStore

logger = logging.getLogger(__name__)

IDLE_SECONDS = 120
"""Seconds without a query after which no process waits any more: it takes some 25 MB."""


class Ended(NamedTuple):
    """Exit code of a process, and what it wrote."""

    code: int
    output: bytes
    errors: bytes


class QueryProcesses:
    """Starts the processes. Use it in one event loop; end them with `close`."""

    def __init__(self, log: EventStore) -> None:
        self._log = log
        self._running: set[asyncio.subprocess.Process] = set()
        self._waiting: asyncio.subprocess.Process | None = None
        self._starting: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None

    async def run(self, arguments: Sequence[str], seconds: float) -> Ended:
        """Run a process on the log with further arguments (see `lineage.past`).

        Raises:
            TimeoutError: it did not end in time, and was killed.
            OSError: it cannot be started.
        """
        process = await self._ready()
        self._running.add(process)
        self._start_next()
        try:
            async with asyncio.timeout(seconds):
                output, errors = await process.communicate(json.dumps(arguments).encode() + b"\n")
        finally:
            self._running.discard(process)
            self._dismiss_later()
            await _end(process)
        assert process.returncode is not None, "it has ended"
        return Ended(process.returncode, output, errors)

    async def close(self) -> None:
        """Kill all processes."""
        if self._timer is not None:
            self._timer.cancel()
        if self._starting is not None:
            await self._starting
        waiting, self._waiting = self._waiting, None
        for process in (*([] if waiting is None else [waiting]), *self._running):
            await _end(process)

    async def _ready(self) -> asyncio.subprocess.Process:
        """Return the process that waits, or a new one."""
        if self._starting is not None:
            await asyncio.shield(self._starting)
        found, self._waiting = self._waiting, None
        return found if found is not None and found.returncode is None else await self._start()

    def _start_next(self) -> None:
        """Let a process wait for the next query."""
        if self._starting is None or self._starting.done():
            self._starting = asyncio.create_task(self._start_waiting())

    async def _start_waiting(self) -> None:
        try:
            self._waiting = self._waiting or await self._start()
        except OSError as error:
            logger.warning("no process can be started for the next query about the past: %s", error)

    def _dismiss_later(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(IDLE_SECONDS, self._dismiss)

    def _dismiss(self) -> None:
        """Let the process that waits end: its input ends."""
        found, self._waiting = self._waiting, None
        if found is not None and found.stdin is not None:
            found.stdin.close()

    async def _start(self) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "lineage.past", WAIT, self._log.location),
            env={**os.environ, **self._log.environment},
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        process.kill()
        await process.wait()
