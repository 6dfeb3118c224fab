# SPDX-License-Identifier: Apache-2.0
"""Cooperative multitasking: long reads run on the event loop, which owns the graph, and yield to other requests."""

import asyncio
import heapq
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any, TypeVar

from lineage.api.errors import ApiError
from lineage.graph import Graph

_Item = TypeVar("_Item")


_SORTED_PER_SLICE = 2_000
"""Items sorted between two yields to the event loop: some milliseconds."""

_JOBS_PER_SLICE = 25
"""Jobs whose lineage is derived between two yields to the event loop: about 10 ms."""

_MIN_SLICES = 400
"""Slices of a refresh before the rest is done at once: as many as a batch of 10,000 new jobs needs."""

MAX_FOUND = 200_000
"""Nodes that one request may find: the response is held in memory and takes some 100 MB at this limit."""


async def run_cooperatively(work: Iterable[object], size: Callable[[], int] | None = None) -> None:
    """Run the steps of `work`, yielding to the event loop after each.

    Raises:
        ApiError: 422 as soon as `size()`, the number of nodes found, exceeds `MAX_FOUND`.
    """
    for _ in chain(work, (None,)):
        if size is not None and size() > MAX_FOUND:
            message = f"more than {MAX_FOUND} nodes are within reach; reduce the depth, for example depth=5"
            raise ApiError(422, "too_much", message, {"field": "depth", "limit": MAX_FOUND})
        await asyncio.sleep(0)


async def in_slices(items: Iterable[_Item], size: int) -> AsyncIterator[Sequence[_Item]]:
    """Yield lists of `size` items, with a yield to the event loop between two; the graph may change in between."""
    rest = iter(items)
    while part := list(islice(rest, size)):
        yield part
        if len(part) < size:
            return
        await asyncio.sleep(0)


async def sorted_in_slices(items: Iterable[_Item], key: Callable[[_Item], Any]) -> Iterator[_Item]:
    """Return an iterator over the sorted items, which `in_slices` reads; `items` must not change meanwhile."""
    parts = [sorted(part, key=key) async for part in in_slices(items, _SORTED_PER_SLICE)]
    return heapq.merge(*parts, key=key)


async def refreshed(graph: Graph) -> None:
    """Refresh a graph of which many jobs may have changed. On return it is up to date.

    While events arrive continuously, the jobs that changed last are refreshed at once.
    """
    for _ in range(len(graph.job_lineages) // _JOBS_PER_SLICE + _MIN_SLICES):
        if not graph.refresh_some(_JOBS_PER_SLICE):
            return
        await asyncio.sleep(0)
    graph.refresh()
