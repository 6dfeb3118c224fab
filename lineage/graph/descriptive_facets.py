# SPDX-License-Identifier: Apache-2.0
"""Facets of a job or dataset that several producers describe: kept per producer, merged when read."""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from lineage.events.event import Order
from lineage.events.ids import JsonObject
from lineage.events.strict_json import canonical_json
from lineage.graph.mergeable import Facets, Register
from lineage.graph.packed_json import StoredJson, packed_facet, plain_facet

MERGED_FACETS: Mapping[str, tuple[str, tuple[str, ...]] | None] = {
    "tags": ("tags", ("field", "key", "value")),
    "ownership": ("owners", ("name", "type")),
    "symlinks": ("identifiers", ("namespace", "name", "type")),
    "documentation": None,
}
"""Facets kept per producer: their list, and the keys that identify a row of it.

The merged facet has the rows of all producers, each as the latest of them states it. None: a facet without a list, of
which the latest one is current.
"""

MAX_PRODUCERS = 32
"""Producers kept per facet, those with the latest statements: bounds the record against generated producer names."""

_VERSION_SEGMENT = re.compile(r"/v?\d+(?:\.\d+)+[^/]*")


@lru_cache(maxsize=1024)
def producer_name(uri: str) -> str:
    """Return a producer's URI without its version, so that an upgraded tool replaces its own facets."""
    return _VERSION_SEGMENT.sub("", uri)


class DescriptiveFacets(Facets):
    """Facets of one job or dataset; those of `MERGED_FACETS` have one register per producer.

    A tombstone deletes the facet of its own producer.
    """

    __slots__ = ("_by_producer", "_merged")

    def __init__(self) -> None:
        super().__init__()
        self._by_producer: dict[str, dict[str, Register]] = {}
        self._merged: dict[str, Register | None] = {}

    @classmethod
    def of_producers(
        cls, registers: dict[str, Register], described: Iterable[tuple[str, Register]]
    ) -> "DescriptiveFacets":
        """Create facets from registers; `described` are names and registers of merged facets."""
        facets = cls()
        facets._registers = registers
        for name, register in described:
            facets._join_described(register.order, name, register.value)
        return facets

    def join(self, order: Order, facets: JsonObject | None) -> None:
        """Merge facets: per facet, and per producer of a merged one, the later in total order wins."""
        for name, value in (facets or {}).items():
            if name in MERGED_FACETS:
                self._join_described(order, name, value)
            else:
                known = self._registers.get(name)
                if known is None or known.yields_to(order, value):
                    self._registers[name] = Register(order, packed_facet(name, value))

    def merge(self, other: Facets) -> None:
        """Merge the facets of another name of the same dataset."""
        super().merge(other)
        for name, register in other.described() if isinstance(other, DescriptiveFacets) else ():
            self._join_described(register.order, name, register.value)

    def names(self) -> list[str]:
        """Return the names of all current facets."""
        return [*super().names(), *(name for name in self._by_producer if self.register(name) is not None)]

    def shared(self, name: str, value: StoredJson) -> StoredJson:
        """Return one facet as `share` does."""
        found = super().shared(name, value)
        return self._shared_described(name, found) if self._by_producer else found

    def register(self, name: str) -> Register | None:
        """Return the register of one facet, merged if several producers state it; None if unknown or deleted."""
        if name not in self._by_producer:
            return super().register(name)
        if name not in self._merged:
            self._merged[name] = merge_registers(name, self.producer_registers(name))
        return self._merged[name]

    def values(self) -> dict[str, JsonObject]:
        """Return all current facets."""
        found = {name: self.register(name) for name in (*self._registers, *self._by_producer)}
        return {name: register.value for name, register in found.items() if register is not None}

    def producer_registers(self, name: str) -> list[Register]:
        """Return the registers of a merged facet, one for each producer, tombstones included."""
        return list(self._by_producer.get(name, {}).values())

    def described(self) -> list[tuple[str, Register]]:
        """Return names and registers of all merged facets."""
        return [(name, register) for name, found in self._by_producer.items() for register in found.values()]

    def _shared_described(self, name: str, value: StoredJson) -> StoredJson:
        registers = self._by_producer.get(name)
        if registers is None:
            return value
        producer = facet_producer(plain_facet(value))
        known = registers.get(producer)
        return value if known is None else self._shared_value(f"{name} {producer}", value, known)

    def _join_described(self, order: Order, name: str, value: JsonObject) -> None:
        producer, registers = facet_producer(value), self._by_producer.setdefault(name, {})
        known = registers.get(producer)
        if known is not None and not known.yields_to(order, value):
            return
        registers[producer] = Register(order, value)
        self._merged.pop(name, None)
        if len(registers) > MAX_PRODUCERS:
            del registers[min(registers, key=lambda known: (registers[known].order, known))]


def merge_registers(name: str, registers: Iterable[Register]) -> Register | None:
    """Merge the statements of several producers, tombstones excepted; None if none is left."""
    current = [found for found in registers if found.value.get("_deleted") is not True]
    current.sort(key=lambda register: (register.order, facet_producer(register.value)))
    return _merge_current(name, current) if current else None


def merge_roles(name: str, readers: Iterable[Register], writers: Iterable[Register]) -> Register | None:
    """Merge the statements of readers and writers of a dataset; a writer's takes precedence."""
    ranked = [merge_registers(name, readers), merge_registers(name, writers)]
    current = [found for found in ranked if found is not None]
    return _merge_current(name, current) if current else None


def _merge_current(name: str, current: list[Register]) -> Register:
    """Merge statements in ascending precedence."""
    last, keys = current[-1], MERGED_FACETS[name]
    if len(current) == 1 or keys is None:
        return last
    rows: dict[bytes, object] = {}
    for register in current:
        stated = register.value.get(keys[0])
        for row in stated if isinstance(stated, list) else ():
            identity = [row.get(key) for key in keys[1]] if isinstance(row, dict) else row
            rows[canonical_json(identity)] = row
    merged = {**last.value, keys[0]: [row for _, row in sorted(rows.items())]}
    return Register(max(register.order for register in current), merged)


def facet_producer(value: Mapping[str, Any]) -> str:
    """Return the producer of a facet without its version; empty without one: any emitter can send any content."""
    producer = value.get("_producer")
    return producer_name(producer) if isinstance(producer, str) else ""
