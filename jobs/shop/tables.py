# SPDX-License-Identifier: Apache-2.0
"""The tables that the shop writes, and the statements that write them. No I/O."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from infra.namespaces import TOPIC_BIDS, TOPIC_ORDERS
from jobs.shop.orders import Order

SCHEMA = "public"
KEY = "order_id"
OPTIONAL = ("currency",)
"""Written where a table has a column of the name: by a new version of the model, or by hand."""

_SELECTED = {"bid_time": "to_timestamp(bid_time / 1000.0)"}
_TYPES = {"bid_time": "bigint"}
"""How columns travel: a time in milliseconds since the epoch. All others are text."""


@dataclass(frozen=True)
class Table:
    """A table of the shop. A table may have more columns than these, as long as they need no value."""

    name: str
    columns: tuple[str, ...]

    @property
    def full_name(self) -> str:
        """With its schema: `public.orders`."""
        return f"{SCHEMA}.{self.name}"

    def missing(self, there: Collection[str]) -> list[str]:
        """The columns that it lacks, of those that are `there`."""
        return [column for column in self.columns if column not in there]

    def written(self, there: Collection[str], optional: Collection[str]) -> tuple[str, ...]:
        """The columns to write: its own, and the `optional` ones that are `there`."""
        return (*self.columns, *(column for column in OPTIONAL if column in optional and column in there))


# A table, its topic and its events are called the same.
ORDERS = Table(TOPIC_ORDERS, ("order_id", "item", "price", "supplier", "bid_time"))
BIDS = Table(TOPIC_BIDS, ("order_id", "price", "supplier", "bid_time"))
TABLES = (ORDERS, BIDS)

Values = list[str] | list[int]


def insert(table: Table, columns: Sequence[str]) -> str:
    """Inserts rows, given as one array for each column. A row that is there already stays as it is."""
    return f"{_insert(table, columns)} ON CONFLICT ({KEY}) DO NOTHING"


def write_again(table: Table, columns: Sequence[str]) -> str:
    """Writes rows over those of the same key: an update, of which capture makes a second event of that key."""
    changes = ", ".join(f"{column} = EXCLUDED.{column}" for column in columns if column != KEY)
    return f"{_insert(table, columns)} ON CONFLICT ({KEY}) DO UPDATE SET {changes}"


def arrays(orders: Sequence[Order], columns: Sequence[str]) -> list[Values]:
    """The parameters of both statements."""
    return [[getattr(order, column) for order in orders] for column in columns]


def _insert(table: Table, columns: Sequence[str]) -> str:
    selected = ", ".join(_SELECTED.get(column, column) for column in columns)
    parameters = ", ".join(f"%s::{_TYPES.get(column, 'text')}[]" for column in columns)
    return (
        f"INSERT INTO {table.full_name} ({', '.join(columns)}) "
        f"SELECT {selected} FROM unnest({parameters}) AS given ({', '.join(columns)})"
    )
