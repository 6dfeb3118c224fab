# SPDX-License-Identifier: Apache-2.0
"""The graph as it was: made anew from the log's events up to a time, in a process of its own.

The service's own loop goes on meanwhile; the process reads the same file and ends with its answer.
"""

import asyncio
import sys
from collections import OrderedDict

from lineage.store import EventLog

_KEPT = 8
"""Answers that are kept: a page that goes back and forth asks for the same times."""

_WAITING = 8
"""Questions that may wait for one another."""


class PastUnknown(Exception):
    """Retention has compacted events behind that time; `since` (ns) is the earliest moment that is known."""

    def __init__(self, since: int) -> None:
        super().__init__(since)
        self.since = since


class TooManyQuestions(Exception):
    """More questions about the past wait than may."""


class Past:
    """Answers questions about the past, one at a time."""

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self._answers: OrderedDict[int, bytes] = OrderedDict()
        self._asking: int | None = None
        self._outdated = False
        self._waiting = 0
        self._turn = asyncio.Lock()
        self._process: asyncio.subprocess.Process | None = None

    def heard(self, time: int) -> None:
        """An event of that time (ns) has arrived: answers that should have held it are forgotten."""
        for at in [at for at in self._answers if at >= time]:
            del self._answers[at]
        if self._asking is not None and self._asking >= time:
            self._outdated = True

    def forget_all(self) -> None:
        """Forget every answer."""
        self._answers.clear()

    async def graph(self, at: int) -> bytes:
        """The graph export (canonical JSON) of all events of event time `at` (ns) and before.

        Raises:
            PastUnknown: retention has removed what one would have to know.
            TooManyQuestions: too many wait already.
        """
        if self._waiting >= _WAITING:
            raise TooManyQuestions
        self._waiting += 1
        try:
            async with self._turn:
                since = await asyncio.to_thread(self._log.snapshots.known_since)
                if since is not None and at < since:
                    raise PastUnknown(since)
                return self._answers[at] if at in self._answers else await self._learn(at)
        finally:
            self._waiting -= 1

    async def close(self) -> None:
        """End a process that is still at work."""
        if self._process is not None and self._process.returncode is None:
            self._process.kill()
            await self._process.wait()

    async def _learn(self, at: int) -> bytes:
        self._asking, self._outdated = at, False
        try:
            answer = await self._ask(at)
        finally:
            self._asking = None
        if not self._outdated:
            self._answers[at] = answer
            while len(self._answers) > _KEPT:
                self._answers.popitem(last=False)
        return answer

    async def _ask(self, at: int) -> bytes:
        self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "lineage.graph_at", str(self._log.path), str(at)),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            out, err = await self._process.communicate()
        except asyncio.CancelledError:
            await self.close()
            raise
        if self._process.returncode != 0:
            raise RuntimeError(f"the graph of the past could not be made: {err.decode(errors='replace').strip()}")
        return out
