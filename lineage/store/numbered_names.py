# SPDX-License-Identifier: Apache-2.0
"""Numbers of jobs or datasets in the state file, which stand for their names in other tables."""

import sqlite3
from collections.abc import Callable
from functools import lru_cache
from typing import Generic, TypeVar

from lineage.events.ids import DatasetId, JobId

_CACHED = 8192
"""Names in memory."""

UNKNOWN = -1
"""Number of a name that is not in the table."""

_Name = TypeVar("_Name", bound=DatasetId | JobId)


class NumberedNames(Generic[_Name]):
    """Table of names, each with its number and the number of its archived rows in another table.

    `name` returns the name with a number. Requests only read the table: a row that they inserted might prevent a
    checkpoint, which another thread makes meanwhile.
    """

    def __init__(self, connection: sqlite3.Connection, table: str, name_of: Callable[[str, str], _Name]) -> None:
        self._connection = connection
        self._table = table
        self._name_of = name_of
        self._stored_number: Callable[[_Name], int] = lru_cache(_CACHED)(self._read_number)
        self.name: Callable[[int], _Name] = lru_cache(_CACHED)(self._read_name)

    def number(self, name: _Name) -> int:
        """Return the number of a name; `UNKNOWN` if it has none."""
        try:
            return self._stored_number(name)
        except LookupError:
            return UNKNOWN

    def add(self, name: _Name) -> int:
        """Return the number of a name, the next one for a new name."""
        if (number := self.number(name)) != UNKNOWN:
            return number
        insert = f"INSERT INTO {self._table} (namespace, name) VALUES (?, ?) RETURNING number"
        return int(self._connection.execute(insert, name).fetchone()[0])

    def archived(self, name: _Name) -> int:
        """Return the number of archived rows of a name."""
        query = f"SELECT archived FROM {self._table} WHERE number = ?"
        row = self._connection.execute(query, (self.number(name),)).fetchone()
        return int(row[0]) if row else 0

    def count(self, number: int, change: int) -> None:
        """Add to the number of archived rows of the name with a number."""
        query = f"UPDATE {self._table} SET archived = archived + ? WHERE number = ?"
        self._connection.execute(query, (change, number))

    def _read_number(self, name: _Name) -> int:
        query = f"SELECT number FROM {self._table} WHERE namespace = ? AND name = ?"
        row = self._connection.execute(query, name).fetchone()
        if row is None:
            raise LookupError(f"{self._table} has no {name}")  # an exception is not cached
        return int(row[0])

    def _read_name(self, number: int) -> _Name:
        query = f"SELECT namespace, name FROM {self._table} WHERE number = ?"
        return self._name_of(*self._connection.execute(query, (number,)).fetchone())
