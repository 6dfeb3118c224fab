# SPDX-License-Identifier: Apache-2.0
"""Cooperative multitasking: long reads run on the event loop, which owns the graph, and yield to other requests."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from itertools import chain, islice
from typing import TypeVar

from lineage.api.errors import ApiError

_Item = TypeVar("_Item")


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
