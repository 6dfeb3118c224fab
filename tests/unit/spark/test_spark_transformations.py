# SPDX-License-Identifier: Apache-2.0
import io
import json
from dataclasses import asdict, replace
from datetime import UTC, date, datetime
from decimal import Decimal

import pytest
from fastavro import parse_schema, schemaless_writer
from pyspark.sql import DataFrame, SparkSession

from jobs.spark.orders_etl import checked_orders
from jobs.spark.transformations import check as checks
from jobs.spark.transformations import decode as decoding
from jobs.spark.transformations import framing
from jobs.spark.transformations.exclude_positions import exclude_positions
from jobs.spark.transformations.split import accepted, rejected
from jobs.spark.transformations.supplier_totals import supplier_totals
from tests.unit.spark.records import LATE_AFTER, NOON, Order, Record, checked, frame, header, of
from tests.unit.spark.schemas import FIRST, LEAN, SCHEMAS, SECOND, UNKNOWN, order_schema

LONG_STRING = b"\x80\x98\xad\xf1\x08abc"
"""Avro prefix that declares a string of 1.2 GB."""


def split(spark: SparkSession, *records: Record) -> tuple[list[str], dict[str | None, str]]:
    """Return identities of the accepted orders, and the reason of each rejected one."""
    made = checked(frame(spark, *records))
    sound = sorted(row.order_id for row in accepted(made).collect())
    return sound, {row.order_id: row.reason for row in rejected(made).collect()}


def test_valid_order_is_typed(spark: SparkSession) -> None:
    (row,) = accepted(checked(frame(spark, Record()))).collect()

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
def test_invalid_or_too_large_price_is_rejected(spark: SparkSession, price: str) -> None:
    assert split(spark, of("a", price=price)) == ([], {"a": checks.BAD_PRICE})


@pytest.mark.parametrize(
    ("price", "expected"),
    [("99999999.99", "99999999.99"), ("-3", "-3.00"), (" 7.5 ", "7.50"), ("1e3", "1000.00"), ("1.005", "1.01")],
)
def test_price_is_rounded_to_two_decimals(spark: SparkSession, price: str, expected: str) -> None:
    (row,) = accepted(checked(frame(spark, of("a", price=price)))).collect()

    assert row.price == Decimal(expected)


@pytest.mark.parametrize("datum", [b"", b"\x09x", LONG_STRING, b"\x02a\x02i"], ids=["empty", "negative", "huge", "cut"])
@pytest.mark.parametrize("schema_id", [FIRST, SECOND])
def test_unreadable_value_is_rejected_with_its_key(spark: SparkSession, datum: bytes, schema_id: int) -> None:
    broken = Record(key=b"k-1", value=header(schema_id) + datum)

    assert split(spark, broken, of("b", offset=1)) == (["b"], {"k-1": checks.UNREADABLE})


def test_value_with_unknown_schema_is_rejected_with_the_reason(spark: SparkSession) -> None:
    values = {
        b"": decoding.NOT_FRAMED,
        b"{}": decoding.NOT_FRAMED,
        b"\x01" + Order().encode()[1:]: decoding.NOT_FRAMED,
        Order().encode()[5:]: decoding.NOT_FRAMED,
        b"\0": decoding.UNKNOWN_SCHEMA,
        header(FIRST)[:4]: decoding.UNKNOWN_SCHEMA,
        header(UNKNOWN) + Order().encode()[5:]: decoding.UNKNOWN_SCHEMA,
        header(2**32 - 1): decoding.UNKNOWN_SCHEMA,
    }
    broken = [Record(key=f"k-{n}".encode(), value=value, offset=n) for n, value in enumerate(values)]

    sound, reasons = split(spark, *broken, of("b", offset=99))

    assert (sound, reasons) == (["b"], {f"k-{n}": reason for n, reason in enumerate(values.values())})


def test_everything_is_rejected_without_schemas(spark: SparkSession) -> None:
    made = checked_orders(frame(spark, of("a"), of("b", offset=1, schema_id=SECOND)), {}, LATE_AFTER)

    assert [row.reason for row in rejected(made).collect()] == [decoding.UNKNOWN_SCHEMA] * 2
    assert accepted(made).count() == 0


def test_each_value_is_read_with_its_writer_schema(spark: SparkSession) -> None:
    records = [of("a"), of("b", offset=1, schema_id=SECOND), of("c", offset=2, schema_id=LEAN, supplier="birch")]

    rows = sorted(accepted(checked(frame(spark, *records))).collect())

    assert [(row.order_id, row.item, row.supplier) for row in rows] == [
        ("a", "anvil", "alder"),
        ("b", "anvil", "alder"),
        ("c", None, "birch"),
    ]
    assert {(row.price, row.bid_time) for row in rows} == {(Decimal("12.50"), datetime(2026, 11, 20, 12, 30))}


@pytest.mark.parametrize(
    ("field", "value", "price"),
    [
        ({"name": "price", "type": "int"}, 12, Decimal("12.00")),
        ({"name": "price", "type": ["null", "double"]}, 0.5, Decimal("0.50")),
        ({"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 3}},
         Decimal("1.005"), Decimal("1.01")),
    ],
    ids=["int", "double", "decimal"],
)  # fmt: skip
def test_column_with_changed_type_is_cast(
    spark: SparkSession, field: dict[str, object], value: object, price: Decimal
) -> None:
    schema = order_schema(field, without="price")
    encoded = io.BytesIO()
    schemaless_writer(encoded, parse_schema(json.loads(schema)), {**asdict(Order()), "price": value})
    record = Record(value=header(9) + encoded.getvalue())

    rows = accepted(
        checked_orders(frame(spark, record, of("b", offset=1)), {**SCHEMAS, 9: schema}, LATE_AFTER)
    ).collect()

    assert {row.order_id: row.price for row in rows} == {"o-1": price, "b": Decimal("12.50")}


def test_time_as_text_is_parsed(spark: SparkSession) -> None:
    schema = order_schema({"name": "bid_time", "type": "string"}, without="bid_time")
    encoded = io.BytesIO()
    schemaless_writer(
        encoded, parse_schema(json.loads(schema)), {**asdict(Order()), "bid_time": "2026-11-20T13:30:00.123+01:00"}
    )

    (row,) = accepted(
        checked_orders(frame(spark, Record(value=header(9) + encoded.getvalue())), {9: schema}, LATE_AFTER)
    ).collect()

    assert row.bid_time == datetime(2026, 11, 20, 12, 30, 0, 123000)


@pytest.mark.parametrize(
    ("column", "reason"),
    [
        ("order_id", checks.UNREADABLE),
        ("price", checks.BAD_PRICE),
        ("supplier", checks.NO_SUPPLIER),
        ("bid_time", checks.BAD_TIME),
    ],
)
def test_column_missing_in_the_schema_is_a_reason(spark: SparkSession, column: str, reason: str) -> None:
    schema = order_schema(without=column)
    encoded = io.BytesIO()
    schemaless_writer(encoded, parse_schema(json.loads(schema)), asdict(Order()))
    record = Record(value=header(9) + encoded.getvalue())

    (row,) = rejected(checked_orders(frame(spark, record), {9: schema}, LATE_AFTER)).collect()

    assert (row.order_id, row.reason) == ("o-1", reason)


@pytest.mark.parametrize(
    ("column", "reason"),
    [("price", checks.BAD_PRICE), ("supplier", checks.NO_SUPPLIER), ("bid_time", checks.BAD_TIME)],
)
def test_null_column_is_a_reason(spark: SparkSession, column: str, reason: str) -> None:
    assert split(spark, of("a", **{column: None})) == ([], {"a": reason})


def test_tombstone_is_not_an_order(spark: SparkSession) -> None:
    tombstone = Record(key=b"a", is_tombstone=True)

    assert split(spark, tombstone, of("a", offset=1), Record(key=b"k-1", is_tombstone=True, offset=2)) == (["a"], {})


def test_headers_are_counted(spark: SparkSession) -> None:
    values = [header(FIRST) + b"x", header(FIRST), header(UNKNOWN), b"\0\0", b"", b"{}", b"\x01"]
    records = [Record(value=value, offset=n) for n, value in enumerate(values)]

    rows = framing.headers(frame(spark, *records, Record(is_tombstone=True))).collect()

    assert {(None if row["header"] is None else bytes(row["header"]), row["count"]) for row in rows} == {
        (header(FIRST), 2),
        (header(UNKNOWN), 1),
        (b"", 4),
        (None, 1),
    }
    assert [row["count"] for row in rows] == sorted((row["count"] for row in rows), reverse=True)


@pytest.mark.parametrize(
    ("seen", "schema_id"),
    [(header(FIRST), FIRST), (header(0), 0), (header(2**31 - 1), 2**31 - 1), (header(2**31), None), (b"", None),
     (b"\0\0\0\0", None), (b"\x01\0\0\0\x01", None)],
)  # fmt: skip
def test_schema_id_of_a_header(seen: bytes, schema_id: int | None) -> None:
    assert framing.schema_id(seen) == schema_id


def test_order_without_id_is_rejected_with_its_key(spark: SparkSession) -> None:
    record = Record(Order(order_id=""), key=b"k-1")

    assert split(spark, record) == ([], {"k-1": checks.NO_ID})


def test_records_without_any_id_are_all_kept(spark: SparkSession) -> None:
    nameless = [Record(key=None, value=b"", offset=offset) for offset in range(3)]

    assert rejected(checked(frame(spark, *nameless))).count() == 3


def test_order_id_equal_to_a_position_is_distinct(spark: SparkSession) -> None:
    nameless = Record(key=None, value=header(FIRST), offset=5)

    assert split(spark, nameless, of("0/5", offset=6)) == (["0/5"], {None: checks.UNREADABLE})


def test_empty_supplier_is_rejected(spark: SparkSession) -> None:
    assert split(spark, of("a", supplier="")) == ([], {"a": checks.NO_SUPPLIER})


@pytest.mark.parametrize("bid_time", [0, -1, 300_000_000_000_000], ids=["epoch", "before", "year 11476"])
def test_time_outside_this_century_is_rejected(spark: SparkSession, bid_time: int) -> None:
    assert split(spark, of("a", bid_time=bid_time)) == ([], {"a": checks.BAD_TIME})


def test_time_outside_the_timestamp_range_is_unreadable(spark: SparkSession) -> None:
    assert split(spark, of("a", bid_time=2**62)) == ([], {"a": checks.UNREADABLE})


@pytest.mark.parametrize(("delay", "is_late"), [(3600, False), (3601, True)])
def test_lateness_is_relative_to_the_record_timestamp(spark: SparkSession, delay: int, is_late: bool) -> None:
    record = replace(of("a"), timestamp=datetime.fromtimestamp(NOON / 1000 + delay, UTC))

    late = ([], {"a": "bid_time is more than 3600 s before the record"})
    assert split(spark, record) == (late if is_late else (["a"], {}))


def test_record_older_than_its_order_is_not_late(spark: SparkSession) -> None:
    assert split(spark, of("a", bid_time=NOON + 10**9)) == (["a"], {})


def test_given_positions_are_excluded(spark: SparkSession) -> None:
    rows = frame(spark, *(of(str(n), offset=n) for n in range(4)), replace(of("other"), partition=1, offset=2))

    def kept(*places: tuple[int, int]) -> list[tuple[int, int]]:
        return sorted((row.partition, row.offset) for row in exclude_positions(rows, places).collect())

    assert kept((0, 0), (0, 2), (7, 1)) == [(0, 1), (0, 3), (1, 2)]
    assert kept() == [(0, 0), (0, 1), (0, 2), (0, 3), (1, 2)]


def test_ten_thousand_positions_are_excluded_at_large_offsets(spark: SparkSession) -> None:
    offsets = (1, 2**40 - 1, 2**40, 2**40 + 5_001, 2**40 + 9_999, 2**40 + 10_000, 2**62)
    rows = frame(spark, *(of(str(offset), offset=offset) for offset in offsets))

    left = exclude_positions(rows, [(0, 2**40 + number) for number in range(10_000) if number != 5_001])

    assert [row.offset - 2**40 for row in left.collect() if row.offset not in (1, 2**62)] == [-1, 5_001, 10_000]
    assert left.count() == 5


def test_first_record_of_an_order_wins_in_any_arrival_order(spark: SparkSession) -> None:
    first, second = of("a", offset=1, item="first"), of("a", offset=2, item="second")

    for records in ((first, second), (second, first)):
        (row,) = accepted(checked(frame(spark, *records))).collect()
        assert row.item == "first"


def test_order_is_in_one_table_only(spark: SparkSession) -> None:
    broken_first = (of("a", offset=0, price="free"), of("a", offset=1))
    broken_second = (of("b", offset=2), of("b", offset=3, price="free"))

    assert split(spark, *broken_first, *broken_second) == (["b"], {"a": checks.BAD_PRICE})


def test_rejected_orders_keep_their_original_values(spark: SparkSession) -> None:
    (row,) = rejected(checked(frame(spark, of("a", offset=7, price="free")))).collect()

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


def test_overflowing_total_is_null_and_still_counted(spark: SparkSession) -> None:
    noon = datetime.fromtimestamp(NOON / 1000)
    rows = [("alder", noon, "99999999.99")] * 101

    (row,) = supplier_totals(orders(spark, *rows)).collect()

    assert (row.total_price, row.total_count) == (None, 101)
