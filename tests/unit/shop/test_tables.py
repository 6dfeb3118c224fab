# SPDX-License-Identifier: Apache-2.0
"""Columns that the shop writes, and its SQL statements."""

from jobs.shop.orders import Mix, order
from jobs.shop.tables import BIDS, ORDERS, column_arrays, insert, upsert


def test_bid_is_the_order_without_its_item():
    assert BIDS.columns == tuple(column for column in ORDERS.columns if column != "item")


def test_optional_columns_are_written_if_enabled_and_present():
    there = {*ORDERS.columns, "currency", "note"}
    assert ORDERS.columns_to_write(there, ["currency"]) == (*ORDERS.columns, "currency")
    assert ORDERS.columns_to_write(there, []) == ORDERS.columns
    assert ORDERS.columns_to_write(ORDERS.columns, ["currency"]) == ORDERS.columns


def test_missing_columns_are_named():
    assert ORDERS.missing({"order_id", "price", "supplier", "note"}) == ["item", "bid_time"]


def test_statements_of_a_table():
    values = (
        "INSERT INTO public.bids (order_id, bid_time) SELECT order_id, to_timestamp(bid_time / 1000.0) "
        "FROM unnest(%s::text[], %s::bigint[]) AS given (order_id, bid_time) ON CONFLICT (order_id) DO "
    )
    columns = ("order_id", "bid_time")
    assert insert(BIDS, columns) == values + "NOTHING"
    assert upsert(BIDS, columns) == values + "UPDATE SET bid_time = EXCLUDED.bid_time"


def test_parameters_are_one_array_per_column():
    orders = [order(Mix(), number, 1_800_000_000_000) for number in range(3)]
    assert column_arrays(orders, ("item", "currency")) == [[o.item for o in orders], [o.currency for o in orders]]
