# SPDX-License-Identifier: Apache-2.0
"""The graph as it was: made anew from the log's events up to a time, in a process of its own.

The service's own loop goes on meanwhile; the process reads the same file and ends with its answer.
"""

import asyncio
import logging
import sys
from collections import OrderedDict

from lineage.store import EventLog
from lineage.store.graph_as_of import COMPACTED, Compacted

logger = logging.getLogger(__name__)

_KEPT = 8
"""Answers that are kept: a page that goes back and forth asks for the same times."""

_SECONDS = 300
"""Time for one answer: enough for a million events."""

_WAITING = 8
"""Questions that may wait for one another."""


class AsOfQueryFailed(Exception):
    """The answer could not be made this time."""


class TooManyAsOfQueries(Exception):
    """More questions about the past wait than may."""


class AsOfQueries:
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
        self._outdated = True

    async def graph(self, at: int) -> bytes:
        """The graph export (canonical JSON) of all events of event time `at` (ns) and before.

        Raises:
            Compacted: retention has removed what one would have to know.
            PastUnanswered: the process that makes the answer failed, or took too long.
            TooManyQuestions: too many wait already.
        """
        if self._waiting >= _WAITING:
            raise TooManyAsOfQueries
        self._waiting += 1
        try:
            async with self._turn:
                return self._answers[at] if at in self._answers else await self._run_query(at)
        finally:
            self._waiting -= 1

    async def close(self) -> None:
        """End a process that is still at work."""
        if self._process is not None and self._process.returncode is None:
            self._process.kill()
            await self._process.wait()

    async def _run_query(self, at: int) -> bytes:
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
            *(sys.executable, "-m", "lineage.store.graph_as_of", str(self._log.path), str(at)),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            async with asyncio.timeout(_SECONDS):
                out, err = await self._process.communicate()
        except TimeoutError as error:
            raise AsOfQueryFailed(f"not done within {_SECONDS} s") from error
        finally:
            await self.close()
        if self._process.returncode == COMPACTED:
            raise Compacted(int(out))
        if self._process.returncode != 0:
            logger.error("the graph of the past could not be made: %s", err.decode(errors="replace").strip())
            raise AsOfQueryFailed(f"its process ended with {self._process.returncode}")
        return out
