# SPDX-License-Identifier: Apache-2.0
"""Queries of the graph at a past time, or of a part of it, which a subprocess builds from the log.

The event loop is not blocked; the subprocess reads the same file and exits with its result.
"""

import asyncio
import json
import logging
import os
import sys
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path

from lineage.store.as_of_exit_codes import COMPACTED, NO_DATASET, UNKNOWN_NODE
from lineage.store.event_store import EventStore
from lineage.store.graph_as_of import Compacted
from lineage.store.packed_answer import PackedAnswer

logger = logging.getLogger(__name__)

_MAX_CACHED_RESULTS = 8
"""Number of cached results: a page that moves back and forth requests the same times."""

MAX_CACHED_BYTES = 16 * 2**20
"""Bytes of cached results, compressed; a larger one is not cached."""

_Key = tuple[int, str | None]
"""Time (ns) and question, if it is about one node."""

_QUERY_TIMEOUT = 300
"""Timeout of one query: enough for a million events."""

_MAX_QUEUED_QUERIES = 8
"""Maximum number of queued queries."""


class AsOfQueryFailed(Exception):
    """A query failed; a retry may succeed."""


class NoNode(Exception):
    """No event until the time of the query names its node."""


class NoDataset(Exception):
    """The node of the query is a job, which has neither impact nor origin."""


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
        self._results: OrderedDict[_Key, PackedAnswer] = OrderedDict()
        self._running: int | None = None
        self._outdated = False
        self._waiting = 0
        self._lock = asyncio.Lock()
        self._process: asyncio.subprocess.Process | None = None

    def invalidate(self, time: int) -> None:
        """Discard results that a new event with this time (ns) makes outdated."""
        for key in [key for key in self._results if key[0] >= time]:
            del self._results[key]
        if self._running is not None and self._running >= time:
            self._outdated = True

    def clear(self) -> None:
        """Discard all results."""
        self._results.clear()
        self._outdated = True

    async def graph(self, at: int) -> PackedAnswer:
        """Return the graph export (canonical JSON) of all events of event time `at` (ns) and before; see `_answer`."""
        return await self._answer((at, None))

    async def about_node(self, at: int, answer: str, node: str, depth: int | None) -> PackedAnswer:
        """Return an answer (canonical JSON) about a node (see `lineage.past`) as of time `at` (ns); see `_answer`.

        Raises:
            NoNode, NoDataset: there is none.
        """
        return await self._answer((at, json.dumps([answer, node, depth])))

    async def _answer(self, key: _Key) -> PackedAnswer:
        """Return a result, from the cache if it is there.

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
                return self._results[key] if key in self._results else await self._run_query(key)
        finally:
            self._waiting -= 1

    async def close(self) -> None:
        """Kill a running subprocess."""
        if self._process is not None and self._process.returncode is None:
            self._process.kill()
            await self._process.wait()

    async def _run_query(self, key: _Key) -> PackedAnswer:
        self._running, self._outdated = key[0], False
        try:
            answer = PackedAnswer(await self._run_subprocess(*key))
        finally:
            self._running = None
        if not self._outdated and len(answer.body) <= MAX_CACHED_BYTES:
            self._results[key] = answer
            while len(self._results) > _MAX_CACHED_RESULTS or self._cached_bytes() > MAX_CACHED_BYTES:
                self._results.popitem(last=False)
        return answer

    def _cached_bytes(self) -> int:
        return sum(len(answer.body) for answer in self._results.values())

    async def _run_subprocess(self, at: int, question: str | None) -> bytes:
        """Return the text that the subprocess writes, as it packs it."""
        state = self._state_file()
        self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "lineage.past", self._log.location, str(at)),
            *(["--question", question] if question else []),
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
        if self._process.returncode == UNKNOWN_NODE:
            raise NoNode
        if self._process.returncode == NO_DATASET:
            raise NoDataset
        if self._process.returncode != 0:
            logger.error("as-of query failed: %s", err.decode(errors="replace").strip())
            raise AsOfQueryFailed(f"its subprocess exited with code {self._process.returncode}")
        return out
