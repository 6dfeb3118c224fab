# SPDX-License-Identifier: Apache-2.0
"""Tables of the shop, and the SQL statements that write them. No I/O."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from infra.namespaces import TOPIC_BIDS, TOPIC_ORDERS
from jobs.shop.orders import Order

SCHEMA = "public"
KEY = "order_id"
OPTIONAL = ("currency",)
"""Columns that are written only if a table has them."""

_SELECTED = {"bid_time": "to_timestamp(bid_time / 1000.0)"}
_TYPES = {"bid_time": "bigint"}
"""Parameter types of columns: times are epoch milliseconds. All others are text."""


@dataclass(frozen=True)
class Table:
    """Table of the shop. It may have further columns that are nullable or have a default."""

    name: str
    columns: tuple[str, ...]

    @property
    def full_name(self) -> str:
        """Name with schema: `public.orders`."""
        return f"{SCHEMA}.{self.name}"

    def missing(self, existing: Collection[str]) -> list[str]:
        """Return the required columns that are not in `existing`."""
        return [column for column in self.columns if column not in existing]

    def columns_to_write(self, existing: Collection[str], optional: Collection[str]) -> tuple[str, ...]:
        """Return the columns to write: the required ones, and the `optional` ones in `existing`."""
        return (*self.columns, *(column for column in OPTIONAL if column in optional and column in existing))


# A table and its topic have the same name.
ORDERS = Table(TOPIC_ORDERS, ("order_id", "item", "price", "supplier", "bid_time"))
BIDS = Table(TOPIC_BIDS, ("order_id", "price", "supplier", "bid_time"))
TABLES = (ORDERS, BIDS)

Values = list[str] | list[int]


def insert(table: Table, columns: Sequence[str]) -> str:
    """Return the statement that inserts rows from one array per column; existing rows are unchanged."""
    return f"{_insert(table, columns)} ON CONFLICT ({KEY}) DO NOTHING"


def upsert(table: Table, columns: Sequence[str]) -> str:
    """Return the statement that updates rows of the same key, for which CDC emits a second event."""
    changes = ", ".join(f"{column} = EXCLUDED.{column}" for column in columns if column != KEY)
    return f"{_insert(table, columns)} ON CONFLICT ({KEY}) DO UPDATE SET {changes}"


def column_arrays(orders: Sequence[Order], columns: Sequence[str]) -> list[Values]:
    """Return the parameters of both statements."""
    return [[getattr(order, column) for order in orders] for column in columns]


def _insert(table: Table, columns: Sequence[str]) -> str:
    selected = ", ".join(_SELECTED.get(column, column) for column in columns)
    parameters = ", ".join(f"%s::{_TYPES.get(column, 'text')}[]" for column in columns)
    return (
        f"INSERT INTO {table.full_name} ({', '.join(columns)}) "
        f"SELECT {selected} FROM unnest({parameters}) AS given ({', '.join(columns)})"
    )
