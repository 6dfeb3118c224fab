# SPDX-License-Identifier: Apache-2.0
"""Mergeable values: last-writer-wins registers, facets, spans. Merging is order-independent."""

from dataclasses import dataclass
from marshal import dumps
from typing import NamedTuple

from lineage.events.event import Order
from lineage.events.ids import JsonObject
from lineage.events.strict_json import canonical_json
from lineage.graph.packed_json import PackedJson, StoredJson, digest_of, is_tombstone, packed_facet, plain_facet


class Register(NamedTuple):
    """Last-writer-wins register: a value, which may be packed, and the order of its event."""

    order: Order
    stored: StoredJson

    @property
    def value(self) -> JsonObject:
        """Return the value, which must not be changed."""
        return plain_facet(self.stored)

    @property
    def is_deleted(self) -> bool:
        """Return whether the value is a tombstone."""
        return is_tombstone(self.stored)

    def yields_to(self, order: Order, value: StoredJson) -> bool:
        """Return whether the value of another event replaces this one.

        One event may name a dataset under two names with different facets; of these the greater canonical JSON wins.
        """
        if self.order != order or self.stored is value:
            return self.order < order
        return canonical_json(self.value) < canonical_json(plain_facet(value))


class Facets:
    """Facets of one job, run or dataset, each in its own register: an event changes only those that it carries."""

    __slots__ = ("_registers", "_spelled")

    def __init__(self) -> None:
        self._registers: dict[str, Register] = {}
        self._spelled: dict[str, tuple[JsonObject, bytes]] = {}

    def join(self, order: Order, facets: JsonObject | None) -> None:
        """Merge facets: the later one in total order wins."""
        for name, value in (facets or {}).items():
            known = self._registers.get(name)
            if known is None or known.yields_to(order, value):
                self._registers[name] = Register(order, packed_facet(name, value))

    def merge(self, other: "Facets") -> None:
        """Merge the facets of another name of the same dataset."""
        for name, register in other._registers.items():
            self.join(register.order, {name: register.stored})

    def share(self, facets: JsonObject) -> JsonObject:
        """Return `facets` with large values packed, and every value that equals the current one replaced by it.

        Runs repeat the same facets; sharing them saves memory.
        """
        return {name: self.shared(name, value) for name, value in facets.items()}

    def shared(self, name: str, value: StoredJson) -> StoredJson:
        """Return one facet as `share` does."""
        known = self._registers.get(name)
        return packed_facet(name, value) if known is None else self._shared_value(name, value, known)

    def _shared_value(self, key: str, value: StoredJson, known: Register) -> StoredJson:
        """Return `known` for a value that equals it; `key` is unique to the register."""
        stored = known.stored
        if stored is value:
            return value
        if isinstance(stored, PackedJson):
            return stored if stored.digest == digest_of(value) else packed_facet(key, value)
        if stored != value:
            return packed_facet(key, value)
        # `==` treats True and 1 as equal; marshal (version 2 has no references) distinguishes types, fast.
        spelled = self._spelled.get(key)
        if spelled is None or spelled[0] is not stored:
            spelled = self._spelled[key] = stored, dumps(stored, 2)
        return stored if spelled[1] == dumps(value, 2) else value

    @classmethod
    def of(cls, registers: dict[str, Register]) -> "Facets":
        """Create facets from registers."""
        facets = cls()
        facets.restore(registers)
        return facets

    def restore(self, registers: dict[str, Register]) -> None:
        """Replace all registers."""
        self._registers = registers

    def registers(self) -> dict[str, Register]:
        """Return every register, tombstones included, except those that `DescriptiveFacets` keeps per producer."""
        return self._registers

    def register(self, name: str) -> Register | None:
        """Return the register of one facet; None if it is unknown or deleted."""
        register = self._registers.get(name)
        return None if register is None or register.is_deleted else register

    def names(self) -> list[str]:
        """Return the names of all current facets."""
        return [name for name, register in self._registers.items() if not register.is_deleted]

    def get(self, name: str) -> JsonObject | None:
        """Return the current value of one facet, or None."""
        register = self.register(name)
        return register.value if register else None

    def values(self) -> dict[str, JsonObject]:
        """Return all current facets."""
        return {name: register.value for name in self._registers if (register := self.register(name))}


def effective_facet(facets: JsonObject, name: str) -> JsonObject | None:
    """Return a facet, or None if it is absent or a tombstone."""
    facet: StoredJson | None = facets.get(name)
    found = None if facet is None else plain_facet(facet)
    return None if found is None or found.get("_deleted") is True else found


def latest(name: str, *owners: Facets | None) -> JsonObject | None:
    """Return the last facet, in total order, of several owners."""
    found = [register for owner in owners if owner is not None and (register := owner.register(name))]
    return max(found, key=lambda register: register.order).value if found else None


@dataclass(slots=True)
class Span:
    """First and last event of a record, in total order."""

    first: Order
    last: Order

    def join(self, order: Order) -> None:
        """Extend the span by one event."""
        if order < self.first:
            self.first = order
        if order > self.last:
            self.last = order

    def merge(self, other: "Span") -> None:
        """Extend the span by another one."""
        self.join(other.first)
        self.join(other.last)
