# SPDX-License-Identifier: Apache-2.0
"""Queries of the graph at a past time, which is built from the log in a subprocess.

The event loop is not blocked; the subprocess reads the same file and exits with its result.
"""

import asyncio
import logging
import os
import sys
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path

from lineage.store.event_store import EventStore
from lineage.store.graph_as_of import COMPACTED, Compacted

logger = logging.getLogger(__name__)

_MAX_CACHED_RESULTS = 8
"""Number of cached results: a page that moves back and forth requests the same times."""

_QUERY_TIMEOUT = 300
"""Timeout of one query: enough for a million events."""

_MAX_QUEUED_QUERIES = 8
"""Maximum number of queued queries."""


class AsOfQueryFailed(Exception):
    """A query failed; a retry may succeed."""


class TooManyAsOfQueries(Exception):
    """The queue of as-of queries is full."""


class AsOfQueries:
    """Runs as-of queries one at a time and caches their results.

    `state_file` returns the path of the state file in use, if there is one.
    """

    def __init__(self, log: EventStore, rules: Path | None, state_file: Callable[[], Path | None]) -> None:
        self._log = log
        self._rules = rules
        self._state_file = state_file
        self._results: OrderedDict[int, bytes] = OrderedDict()
        self._running: int | None = None
        self._outdated = False
        self._waiting = 0
        self._lock = asyncio.Lock()
        self._process: asyncio.subprocess.Process | None = None

    def invalidate(self, time: int) -> None:
        """Discard results that a new event with this time (ns) makes outdated."""
        for at in [at for at in self._results if at >= time]:
            del self._results[at]
        if self._running is not None and self._running >= time:
            self._outdated = True

    def clear(self) -> None:
        """Discard all results."""
        self._results.clear()
        self._outdated = True

    async def graph(self, at: int) -> bytes:
        """Return the graph export (canonical JSON) of all events of event time `at` (ns) and before.

        Raises:
            Compacted: retention has compacted events after that time.
            AsOfQueryFailed: the subprocess failed or timed out.
            TooManyAsOfQueries: the queue is full.
        """
        if self._waiting >= _MAX_QUEUED_QUERIES:
            raise TooManyAsOfQueries
        self._waiting += 1
        try:
            async with self._lock:
                return self._results[at] if at in self._results else await self._run_query(at)
        finally:
            self._waiting -= 1

    async def close(self) -> None:
        """Kill a running subprocess."""
        if self._process is not None and self._process.returncode is None:
            self._process.kill()
            await self._process.wait()

    async def _run_query(self, at: int) -> bytes:
        self._running, self._outdated = at, False
        try:
            answer = await self._run_subprocess(at)
        finally:
            self._running = None
        if not self._outdated:
            self._results[at] = answer
            while len(self._results) > _MAX_CACHED_RESULTS:
                self._results.popitem(last=False)
        return answer

    async def _run_subprocess(self, at: int) -> bytes:
        state = self._state_file()
        self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "lineage.store.graph_as_of", self._log.location, str(at)),
            *(["--rules", str(self._rules)] if self._rules else []),
            *(["--state", str(state), "--log-identity", self._log.identity] if state else []),
            env={**os.environ, **self._log.environment},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            async with asyncio.timeout(_QUERY_TIMEOUT):
                out, err = await self._process.communicate()
        except TimeoutError as error:
            raise AsOfQueryFailed(f"timed out after {_QUERY_TIMEOUT} s") from error
        finally:
            await self.close()
        if self._process.returncode == COMPACTED:
            raise Compacted(int(out))
        if self._process.returncode != 0:
            logger.error("as-of query failed: %s", err.decode(errors="replace").strip())
            raise AsOfQueryFailed(f"its subprocess exited with code {self._process.returncode}")
        return out
