# SPDX-License-Identifier: Apache-2.0
"""Long reads in turns: the event loop owns the graph, so what reads much of it must let others have their turn."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from itertools import chain, islice
from typing import TypeVar

from lineage.api.errors import ApiError

_Item = TypeVar("_Item")


MAX_FOUND = 200_000
"""Things that one question about the graph may find: answers are held in memory, and this one takes some 100 MB."""


async def run_cooperatively(work: Iterable[object], size: Callable[[], int] | None = None) -> None:
    """Do work that is cut into pieces, with a turn for others after each piece.

    Raises:
        ApiError: 422 as soon as `size`, which tells how much was found, is beyond what an answer may hold.
    """
    for _ in chain(work, (None,)):
        if size is not None and size() > MAX_FOUND:
            message = f"more than {MAX_FOUND} nodes are within reach; ask for those that are nearer, with depth=5 or so"
            raise ApiError(422, "too_much", message, {"field": "depth", "limit": MAX_FOUND})
        await asyncio.sleep(0)


async def in_slices(items: Iterable[_Item], size: int) -> AsyncIterator[Sequence[_Item]]:
    """Items in lists of `size`, with a turn for others between two; `items` must bear changes of the graph."""
    rest = iter(items)
    while part := list(islice(rest, size)):
        yield part
        if len(part) < size:
            return
        await asyncio.sleep(0)
