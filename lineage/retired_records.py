# SPDX-License-Identifier: Apache-2.0
"""Freeing of many objects in slices.

Python frees all that a collection holds at once, which would block the event loop for as long as the collection is
large.
"""

import asyncio
import weakref
from typing import Any

from lineage.store.projection import Projection

_OBJECTS_PER_SLICE = 1_000
"""Objects freed between two yields to the event loop: rows of an export, or records; some milliseconds."""

_POLL = 1.0
"""Seconds between two checks of whether a request still reads retired records."""


async def free_in_slices(items: list[Any], size: int = _OBJECTS_PER_SLICE) -> None:
    """Empty a list that nothing else uses."""
    while items:
        del items[-size:]
        await asyncio.sleep(0)


class RetiredRecords:
    """Records and state file of a projection that a rebuild has replaced.

    The records outlive the collections that hold them.
    """

    def __init__(self, projection: Projection) -> None:
        """Take the records; the caller drops the projection."""
        lineage, graph = projection.lineage, projection.graph
        self._state = projection.state
        self._reader = weakref.ref(lineage)
        self._records: list[object] = [
            *lineage.jobs.all_in_memory(),
            *lineage.datasets.all_in_memory(),
            *lineage.nodes.by_name.all_in_memory(),
            *graph.job_lineages.values(),
            *graph.consumers.values(),
            *graph.producers.values(),
        ]

    async def free(self) -> None:
        """Free the records once no request reads them any more."""
        while self._reader() is not None:
            await asyncio.sleep(_POLL)
        await free_in_slices(self._records, _OBJECTS_PER_SLICE // 10)
        if self._state is not None:
            # SQLite moves its write-ahead log into the file, although that is deleted.
            await asyncio.to_thread(self._state.close)
