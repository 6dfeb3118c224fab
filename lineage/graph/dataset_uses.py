# SPDX-License-Identifier: Apache-2.0
"""Datasets that a run or a job names, with what it states of them."""

from collections.abc import Iterable

from lineage.events.event import Order
from lineage.events.ids import DatasetId, JsonObject
from lineage.graph.mergeable import Facets
from lineage.graph.run_history import Direction


class Use(Facets):
    """Use of a dataset in one direction: facets of the dataset as the run states them.

    `last` is the last event that names it. `transfer` are its inputFacets or outputFacets, such as statistics and
    results of quality checks: they describe the transfer, not the dataset. None without any.
    """

    __slots__ = ("last", "transfer")

    def __init__(self, last: Order) -> None:
        super().__init__()
        self.last = last
        self.transfer: Facets | None = None


Uses = dict[DatasetId, Use]
"""Datasets that a run or job names in one direction, with their facets."""

_TRANSFER_FACETS = {Direction.INPUT: "inputFacets", Direction.OUTPUT: "outputFacets"}


def join_uses(uses: Uses, order: Order, direction: Direction, datasets: Iterable[JsonObject]) -> None:
    """Add datasets and their facets."""
    key = _TRANSFER_FACETS[direction]
    for dataset in datasets:
        identity = DatasetId(dataset["namespace"], dataset["name"])
        use = uses.get(identity)
        if use is None:
            use = uses[identity] = Use(order)
        elif use.last < order:
            use.last = order
        use.join(order, dataset.get("facets"))
        if transfer := dataset.get(key):
            if use.transfer is None:
                use.transfer = Facets()
            use.transfer.join(order, transfer)


def merged_use(first: Use, second: Use) -> Use:
    """Return the use of one dataset under two names."""
    use = Use(max(first.last, second.last))
    for part in (first, second):
        use.merge(part)
        if part.transfer is not None:
            if use.transfer is None:
                use.transfer = Facets()
            use.transfer.merge(part.transfer)
    return use
