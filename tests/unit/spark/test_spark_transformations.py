# SPDX-License-Identifier: Apache-2.0
from datetime import date, datetime
from decimal import Decimal

import pytest
from pyspark.sql import DataFrame, SparkSession

from jobs.spark.orders_etl import checked_orders
from jobs.spark.transformations import check as checks
from jobs.spark.transformations.split import accepted, rejected
from jobs.spark.transformations.supplier_totals import supplier_totals
from tests.unit.spark.records import NOON, Order, Record, frame, of

LONG_STRING = b"\x80\x98\xad\xf1\x08abc"
"""Says that a string of 1.2 GB follows."""


def split(spark: SparkSession, *records: Record) -> tuple[list[str], dict[str | None, str]]:
    """Identities of the sound orders, and the reason of each rejected one."""
    checked = checked_orders(frame(spark, *records))
    sound = sorted(row.order_id for row in accepted(checked).collect())
    return sound, {row.order_id: row.reason for row in rejected(checked).collect()}


def test_a_sound_order_is_typed(spark: SparkSession) -> None:
    (row,) = accepted(checked_orders(frame(spark, Record()))).collect()

    assert row.asDict() == {
        "order_id": "o-1",
        "item": "anvil",
        "price": Decimal("12.50"),
        "supplier": "alder",
        "bid_time": datetime(2026, 11, 20, 12, 30),
    }


@pytest.mark.parametrize(
    "price", ["", "n/a", "12,50", "1.2.3", "NaN", "Infinity", "0x10", "99999999999999.99", "100000000.00", "-1e9"]
)
def test_a_price_that_is_no_decimal_or_does_not_fit_is_rejected(spark: SparkSession, price: str) -> None:
    assert split(spark, of("a", price=price)) == ([], {"a": checks.BAD_PRICE})


@pytest.mark.parametrize(
    ("price", "expected"),
    [("99999999.99", "99999999.99"), ("-3", "-3.00"), (" 7.5 ", "7.50"), ("1e3", "1000.00"), ("1.005", "1.01")],
)
def test_a_price_that_fits_is_kept_to_the_cent(spark: SparkSession, price: str, expected: str) -> None:
    (row,) = accepted(checked_orders(frame(spark, of("a", price=price)))).collect()

    assert row.price == Decimal(expected)


@pytest.mark.parametrize("value", [b"", b"\x09x", LONG_STRING, b"\x02a\x02i"], ids=["empty", "negative", "huge", "cut"])
def test_an_unreadable_value_is_rejected_under_the_key(spark: SparkSession, value: bytes) -> None:
    broken = Record(key=b"k-1", value=value)

    assert split(spark, broken, of("b", offset=1)) == (["b"], {"k-1": checks.UNREADABLE})


def test_a_tombstone_is_rejected_under_the_key(spark: SparkSession) -> None:
    assert split(spark, Record(key=b"k-1", is_tombstone=True)) == ([], {"k-1": checks.UNREADABLE})


def test_an_order_without_id_is_rejected_under_the_key(spark: SparkSession) -> None:
    record = Record(Order(order_id=""), key=b"k-1")

    assert split(spark, record) == ([], {"k-1": checks.NO_ID})


def test_records_without_any_id_are_all_kept(spark: SparkSession) -> None:
    nameless = [Record(key=None, value=b"", offset=offset) for offset in range(3)]

    assert rejected(checked_orders(frame(spark, *nameless))).count() == 3


def test_an_order_id_that_looks_like_a_place_is_an_order_of_its_own(spark: SparkSession) -> None:
    nameless = Record(key=None, value=b"", offset=5)

    assert split(spark, nameless, of("0/5", offset=6)) == (["0/5"], {None: checks.UNREADABLE})


def test_an_empty_supplier_is_rejected(spark: SparkSession) -> None:
    assert split(spark, of("a", supplier="")) == ([], {"a": checks.NO_SUPPLIER})


@pytest.mark.parametrize("bid_time", [0, -1, 300_000_000_000_000], ids=["epoch", "before", "year 11476"])
def test_a_time_out_of_this_century_is_rejected(spark: SparkSession, bid_time: int) -> None:
    assert split(spark, of("a", bid_time=bid_time)) == ([], {"a": checks.BAD_TIME})


def test_a_time_that_no_timestamp_holds_is_unreadable(spark: SparkSession) -> None:
    assert split(spark, of("a", bid_time=2**62)) == ([], {"a": checks.UNREADABLE})


def test_the_first_record_of_an_order_wins_whatever_the_arrival(spark: SparkSession) -> None:
    first, second = of("a", offset=1, item="first"), of("a", offset=2, item="second")

    for records in ((first, second), (second, first)):
        (row,) = accepted(checked_orders(frame(spark, *records))).collect()
        assert row.item == "first"


def test_an_order_goes_to_one_table_only(spark: SparkSession) -> None:
    broken_first = (of("a", offset=0, price="free"), of("a", offset=1))
    broken_second = (of("b", offset=2), of("b", offset=3, price="free"))

    assert split(spark, *broken_first, *broken_second) == (["b"], {"a": checks.BAD_PRICE})


def test_rejected_orders_keep_what_they_came_with(spark: SparkSession) -> None:
    (row,) = rejected(checked_orders(frame(spark, of("a", offset=7, price="free")))).collect()

    assert (row.item, row.price, row.supplier) == ("anvil", "free", "alder")
    assert (row.kafka_partition, row.kafka_offset) == (0, 7)


def test_no_records_give_no_orders(spark: SparkSession) -> None:
    assert split(spark) == ([], {})


def orders(spark: SparkSession, *rows: tuple[str, datetime, str]) -> DataFrame:
    typed = [(supplier, time, Decimal(price)) for supplier, time, price in rows]
    return spark.createDataFrame(typed, "supplier string, bid_time timestamp, price decimal(10,2)")


def test_totals_are_by_supplier_day_and_hour(spark: SparkSession) -> None:
    noon, one, next_day = datetime(2026, 11, 20, 12, 59), datetime(2026, 11, 20, 13), datetime(2026, 11, 21, 12)
    rows = [
        ("alder", noon, "1.10"),
        ("alder", noon, "2.20"),
        ("birch", noon, "5"),
        ("alder", one, "7"),
        ("alder", next_day, "9"),
    ]

    totals = {tuple(row) for row in supplier_totals(orders(spark, *rows)).collect()}

    assert totals == {
        ("alder", date(2026, 11, 20), 12, Decimal("3.30"), 2),
        ("birch", date(2026, 11, 20), 12, Decimal("5.00"), 1),
        ("alder", date(2026, 11, 20), 13, Decimal("7.00"), 1),
        ("alder", date(2026, 11, 21), 12, Decimal("9.00"), 1),
    }


def test_a_total_that_does_not_fit_is_null_and_still_counted(spark: SparkSession) -> None:
    noon = datetime.fromtimestamp(NOON / 1000)
    rows = [("alder", noon, "99999999.99")] * 101

    (row,) = supplier_totals(orders(spark, *rows)).collect()

    assert (row.total_price, row.total_count) == (None, 101)
