# SPDX-License-Identifier: Apache-2.0
"""Direction of the data between jobs and datasets, as run events report it."""

from collections import defaultdict
from collections.abc import Iterable

from lineage.checks.cause.facts import RunFacts
from lineage.events import DatasetId, JobId

FlowNode = DatasetId | JobId


class Flow:
    """Which jobs and datasets are upstream of which; cycles are allowed."""

    def __init__(self, facts: Iterable[RunFacts]) -> None:
        self._parents: dict[tuple[type, FlowNode], set[tuple[type, FlowNode]]] = defaultdict(set)
        for fact in facts:
            job = (JobId, fact.job)
            for found in fact.datasets:
                dataset = (DatasetId, found.dataset)
                below, above = (dataset, job) if found.is_output else (job, dataset)
                self._parents[below].add(above)
        self._ancestors: dict[tuple[type, FlowNode], frozenset[tuple[type, FlowNode]]] = {}

    def is_upstream(self, one: FlowNode, other: FlowNode) -> bool:
        """Return True if data flow from `one` to `other`; False if they are the same."""
        return one != other and (type(one), one) in self._ancestors_of((type(other), other))

    def _ancestors_of(self, node: tuple[type, FlowNode]) -> frozenset[tuple[type, FlowNode]]:
        if node not in self._ancestors:
            found, pending = set(), [node]
            while pending:
                for parent in self._parents.get(pending.pop(), ()):
                    if parent not in found:
                        found.add(parent)
                        pending.append(parent)
            self._ancestors[node] = frozenset(found)
        return self._ancestors[node]
