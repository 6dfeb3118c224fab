# SPDX-License-Identifier: Apache-2.0
"""Records by name, of which those that nothing has used lately are not in memory: they are read when they are used."""

from collections.abc import Callable, Iterable, Iterator, MutableMapping
from itertools import islice
from typing import Generic, TypeVar
from weakref import WeakMethod

_Name = TypeVar("_Name")
_Record = TypeVar("_Record")


READS_PER_PART = 25
"""Records that are read for one part of all: some 10 ms."""


class RecordsByName(MutableMapping[_Name, _Record], Generic[_Name, _Record]):
    """Records by name. `read`, a method of their owner, sets the record of a name that is not in memory.

    Iterating over the records reads those that are not in memory. Not thread-safe.
    """

    def __init__(self, read: Callable[[_Name], None]) -> None:
        # No cycle: an owner that is not in use any more is freed at once.
        self._read = WeakMethod(read)
        self._records: dict[_Name, _Record | None] = {}
        self._releasable: dict[_Name, None] = {}

    def __getitem__(self, name: _Name) -> _Record:
        record = self._records[name]
        if record is not None:
            return record
        read = self._read()
        assert read is not None, "the owner is in use"
        read(name)
        record = self._records[name]
        assert record is not None, "`read` sets the record"
        return record

    def __setitem__(self, name: _Name, record: _Record) -> None:
        self._records[name] = record
        self._releasable[name] = None

    def __delitem__(self, name: _Name) -> None:
        del self._records[name]
        self._releasable.pop(name, None)

    def __contains__(self, name: object) -> bool:
        return name in self._records

    def __iter__(self) -> Iterator[_Name]:
        return iter(self._records)

    def __len__(self) -> int:
        return len(self._records)

    @property
    def size_in_memory(self) -> int:
        """Return the number of records in memory."""
        return len(self._releasable)

    def in_memory(self, name: _Name) -> _Record | None:
        """Return the record of a name if it is in memory."""
        return self._records.get(name)

    def all_in_memory(self) -> list[_Record]:
        """Return all records in memory."""
        return [record for record in self._records.values() if record is not None]

    def parts(self, names: Iterable[_Name], size: int) -> Iterator[list[tuple[_Name, _Record]]]:
        """Yield names with their records in lists of up to `size`, or with `READS_PER_PART` that are not in memory.

        Names without a record are skipped.
        """
        part: list[tuple[_Name, _Record]] = []
        reads = 0
        for name in names:
            if name in self._records:
                reads += self._records[name] is None
                part.append((name, self[name]))
            if len(part) >= size or reads >= READS_PER_PART:
                yield part
                part, reads = [], 0
        if part:
            yield part

    def add_stored(self, names: Iterable[_Name]) -> None:
        """Add names whose records are read when they are used."""
        self._records.update(dict.fromkeys(names))

    def oldest_in_memory(self, number: int) -> list[_Name]:
        """Return the names whose records came to memory first, at most `number`; they count as the last ones then."""
        found = list(islice(self._releasable, number))
        for name in found:
            del self._releasable[name]
            self._releasable[name] = None
        return found

    def release(self, name: _Name) -> None:
        """Remove the record of a name from memory; what is stored must equal it."""
        self._records[name] = None
        del self._releasable[name]
