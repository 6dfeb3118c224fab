# SPDX-License-Identifier: Apache-2.0
"""Queries of the graph at a past time, or of a part of it, which a process builds from the log.

The event loop is not blocked; the process reads the same file and exits with its result.
"""

import asyncio
import json
import logging
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from weakref import WeakValueDictionary

from lineage.store import as_of_protocol
from lineage.store.event_store import EventStore
from lineage.store.graph_as_of import Compacted
from lineage.store.packed_answer import PackedAnswer
from lineage.store.query_processes import QueryProcesses

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


@dataclass(eq=False)
class _Query:
    """Query in progress, as of a time (ns); `outdated` once an event has arrived that its result may lack."""

    at: int
    outdated: bool = False


class AsOfQueries:
    """Runs up to `parallel` as-of queries at a time in `processes`, and caches their results.

    `state_file` returns the path of the state file in use, if there is one.
    """

    def __init__(
        self,
        log: EventStore,
        rules: Path | None,
        state_file: Callable[[], Path | None],
        processes: QueryProcesses,
        parallel: int = 1,
    ) -> None:
        self._log = log
        self._rules = rules
        self._state_file = state_file
        self._results: OrderedDict[_Key, PackedAnswer] = OrderedDict()
        self._running: set[_Query] = set()
        self._waiting = 0
        self._slots = asyncio.Semaphore(parallel)
        self._locks: WeakValueDictionary[_Key, asyncio.Lock] = WeakValueDictionary()
        self._processes = processes

    def invalidate(self, time: int) -> None:
        """Discard results that a new event with this time (ns) makes outdated."""
        for key in [key for key in self._results if key[0] >= time]:
            del self._results[key]
        for query in self._running:
            query.outdated = query.outdated or query.at >= time

    def clear(self) -> None:
        """Discard all results."""
        self._results.clear()
        for query in self._running:
            query.outdated = True

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
            AsOfQueryFailed: the process failed or timed out.
            TooManyAsOfQueries: the queue is full.
        """
        if self._waiting >= _MAX_QUEUED_QUERIES:
            raise TooManyAsOfQueries
        self._waiting += 1
        # Of two equal queries, one waits for the result of the other.
        lock = self._locks.setdefault(key, asyncio.Lock())
        try:
            async with lock, self._slots:
                return self._results[key] if key in self._results else await self._run_query(key)
        finally:
            self._waiting -= 1

    async def _run_query(self, key: _Key) -> PackedAnswer:
        query = _Query(key[0])
        self._running.add(query)
        try:
            answer = PackedAnswer(await self._run_process(*key))
        finally:
            self._running.discard(query)
        if not query.outdated and len(answer.body) <= MAX_CACHED_BYTES:
            self._results[key] = answer
            while len(self._results) > _MAX_CACHED_RESULTS or self._cached_bytes() > MAX_CACHED_BYTES:
                self._results.popitem(last=False)
        return answer

    def _cached_bytes(self) -> int:
        return sum(len(answer.body) for answer in self._results.values())

    async def _run_process(self, at: int, question: str | None) -> bytes:
        """Return the text that the process writes, as it packs it."""
        state = self._state_file()
        arguments = [
            str(at),
            *(["--question", question] if question else []),
            *(["--rules", str(self._rules)] if self._rules else []),
            *(["--state", str(state), "--log-identity", self._log.identity] if state else []),
        ]
        try:
            ended = await self._processes.run(arguments, _QUERY_TIMEOUT)
        except TimeoutError as error:
            raise AsOfQueryFailed(f"timed out after {_QUERY_TIMEOUT} s") from error
        except OSError as error:
            raise AsOfQueryFailed(f"its process cannot be started: {error}") from error
        match ended.code:
            case 0:
                return ended.output
            case as_of_protocol.COMPACTED:
                raise Compacted(int(ended.output))
            case as_of_protocol.UNKNOWN_NODE:
                raise NoNode
            case as_of_protocol.NO_DATASET:
                raise NoDataset
        logger.error("as-of query failed: %s", ended.errors.decode(errors="replace").strip())
        raise AsOfQueryFailed(f"its process exited with code {ended.code}")
