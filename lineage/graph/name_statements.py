# SPDX-License-Identifier: Apache-2.0
"""Statements of a dataset's events about names: its aliases, its table's location, changes of its life cycle.

All values are mergeable (see `lineage.graph.mergeable`), so that they do not depend on the order of arrival.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from lineage.events.event import Order
from lineage.events.ids import DatasetId, JsonObject, RunId

MAX_ALIASES = 32
"""Aliases of one symlinks facet; a facet with more makes none, since no dataset has that many names."""

_MAX_CLAIMS = 4 * MAX_ALIASES
"""Aliases that are kept of one dataset, the last claimed ones."""

_MAX_CHANGES = 16
"""Changes of a dataset that are kept, the last ones."""


class Change(StrEnum):
    """Changes of the life cycle that concern names; after any other one the dataset exists."""

    DROP = "DROP"
    RENAME = "RENAME"


class LifecycleChange(NamedTuple):
    """Last DROP, or last RENAME, of a dataset by one run (None: by a dataset event); `previous` is the name before."""

    order: Order
    run: RunId | None
    change: Change
    previous: DatasetId | None


class Write(NamedTuple):
    """Write of a dataset by a run. None: a dataset event, or a write that states a change such as CREATE."""

    order: Order
    run: RunId | None


Writes = tuple[Write, ...]
"""The last writes of a dataset by two different runs, latest first; `written_after` needs no more."""


def join_write(writes: Writes, write: Write) -> Writes:
    """Add a write; idempotent."""
    if not writes:
        return (write,)
    if writes[0].run == write.run and writes[0].order < write.order:
        return (write, *writes[1:])
    for known in writes:
        if known.run == write.run:
            if known.order >= write.order:
                return writes
            break
    others = [known for known in writes if known.run != write.run]
    return tuple(sorted([write, *others], key=lambda known: known.order, reverse=True)[:2])


def written_after(writes: Writes, change: LifecycleChange) -> bool:
    """Return whether another run wrote the dataset after a change, or this one stated that it exists again."""
    return any(write.order > change.order and (write.run is None or write.run != change.run) for write in writes)


@dataclass(slots=True)
class NameStatements:
    """`aliases` are the names that the dataset claimed, with the last claim; `withdrawn` its last empty statement.

    `location` is where the table lies unless its catalog states another place.
    """

    aliases: dict[DatasetId, Order] = field(default_factory=dict)
    withdrawn: Order | None = None
    changes: dict[tuple[RunId | None, Change], LifecycleChange] = field(default_factory=dict)
    location: DatasetId | None = None

    def join_symlinks(self, order: Order, facet: JsonObject) -> None:
        """Merge a symlinks facet. A tombstone or an empty list withdraws all earlier aliases."""
        identifiers = () if facet.get("_deleted") is True else facet.get("identifiers") or ()
        if not identifiers:
            self.withdrawn = max(self.withdrawn or order, order)
        elif len(identifiers) <= MAX_ALIASES:
            self.join_aliases((DatasetId(found["namespace"], found["name"]), order) for found in identifiers)

    def join_aliases(self, claims: Iterable[tuple[DatasetId, Order]]) -> None:
        """Merge claims of aliases."""
        for alias, order in claims:
            self.aliases[alias] = max(self.aliases.get(alias, order), order)
        while len(self.aliases) > _MAX_CLAIMS:
            del self.aliases[min(self.aliases, key=lambda alias: (self.aliases[alias], alias))]

    def join_change(self, change: LifecycleChange) -> None:
        """Merge a change of the life cycle."""
        key = change.run, change.change
        known = self.changes.get(key)
        if known is None or known.order < change.order:
            self.changes[key] = change
        while len(self.changes) > _MAX_CHANGES:
            del self.changes[min(self.changes, key=lambda known: self.changes[known].order)]

    def merge(self, other: "NameStatements") -> None:
        """Merge what the events of another name of the dataset state."""
        self.join_aliases(other.aliases.items())
        if other.withdrawn is not None:
            self.withdrawn = max(self.withdrawn or other.withdrawn, other.withdrawn)
        for change in other.changes.values():
            self.join_change(change)

    def current_aliases(self) -> dict[DatasetId, Order]:
        """Return the claims that are not withdrawn."""
        return {
            alias: order for alias, order in self.aliases.items() if not (self.withdrawn and order <= self.withdrawn)
        }


def lifecycle_change(order: Order, run: RunId | None, facet: JsonObject) -> LifecycleChange | None:
    """Return the DROP or RENAME that a lifecycleStateChange facet states, or None."""
    if facet.get("_deleted") is True:
        return None
    previous = facet.get("previousIdentifier") or {}
    match str(facet.get("lifecycleStateChange")).upper():
        case Change.DROP:
            return LifecycleChange(order, run, Change.DROP, None)
        case Change.RENAME if previous:
            return LifecycleChange(order, run, Change.RENAME, DatasetId(previous["namespace"], previous["name"]))
        case _:
            return None
