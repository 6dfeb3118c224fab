# SPDX-License-Identifier: Apache-2.0
"""Interface of a catalog whose tables have properties."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from lineagelab_catalog.changes import Changes


class TableError(Exception):
    """One table cannot be read or changed; the message says why. Other tables are not affected."""


class CatalogError(Exception):
    """The catalog cannot be used; the message says what was attempted, and what to do."""


@dataclass(frozen=True)
class Table:
    """A table as a catalog has it.

    Attributes:
        label: name in messages, such as `sales.orders`.
        names: names by which lineage events may refer to it.
        location: URL of its data; empty for a view without one.
        properties: of the table.
        comment: empty without one.
    """

    label: str
    names: Sequence[str]
    location: str
    properties: Mapping[str, str]
    comment: str


ChangesOf = Callable[[Table], Changes]
"""Computes the change of a table from its current state."""


ATTEMPTS = 5
"""Attempts of one change: a writer may change the table after it was read."""


def changed_with_retries(change: Callable[[], Changes], is_conflict: Callable[[Exception], bool]) -> Changes:
    """Return what `change` returns, called again while it raises a conflict; raise the error of the last attempt."""
    for _ in range(ATTEMPTS - 1):
        try:
            return change()
        except Exception as error:
            if not is_conflict(error):
                raise
    return change()


class TableCatalog(Protocol):
    """Tables of one catalog."""

    def labels(self) -> Iterator[str]:
        """Yield the labels of all tables. Raises CatalogError."""

    def update(self, label: str, changes_of: ChangesOf) -> Changes:
        """Read a table, compute its change, and write that in one step; return the change.

        A table that somebody else changes in between is read again. Nothing is written for an empty change.

        Raises:
            TableError: the table cannot be read or changed.
        """
