# SPDX-License-Identifier: Apache-2.0
"""Times before which events are compacted, also of the jobs of single namespaces."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

END_OF_TIME = 2**63 - 1


class Horizon(NamedTuple):
    """Events of an earlier time that arrived earlier are compacted; both in nanoseconds, exclusive."""

    time: int
    arrived: int = END_OF_TIME


@dataclass(frozen=True)
class Horizons:
    """Horizon of all events; None keeps them.

    Those of jobs of `namespaces`, and of datasets of them without a job, have horizons of their own.
    """

    others: Horizon | None
    namespaces: Mapping[str, Horizon | None] = field(default_factory=lambda: MappingProxyType({}))

    def of(self, namespace: str) -> Horizon | None:
        """Return the horizon of the jobs of a namespace."""
        return self.namespaces.get(namespace, self.others)

    @property
    def earliest(self) -> Horizon | None:
        """Return the earliest horizon, that of events whose namespace is not known; None if any keeps all."""
        found = [self.others, *self.namespaces.values()]
        kept = [horizon for horizon in found if horizon is not None]
        if len(kept) < len(found):
            return None
        return Horizon(min(horizon.time for horizon in kept), min(horizon.arrived for horizon in kept))

    @classmethod
    def of_ages(cls, now: int, others: float | None, namespaces: Mapping[str, float | None]) -> "Horizons":
        """Return the horizons at `now` (ns) for ages in seconds; None keeps all."""
        return cls(_horizon(now, others), {name: _horizon(now, age) for name, age in namespaces.items()})


def _horizon(now: int, age: float | None) -> Horizon | None:
    if age is None:
        return None
    before = now - int(age * 1e9)
    return Horizon(before, before)
