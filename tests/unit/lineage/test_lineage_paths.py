# SPDX-License-Identifier: Apache-2.0
"""Spellings of one location: alternate schemes, slashes, partitions."""

import pytest

from lineage.events import DatasetId
from lineage.rules import Names, Rules, SymlinkRule


def named(namespace, name, rules=None):
    return Names(rules or Rules()).dataset(namespace, name)


@pytest.mark.parametrize(
    ("spelling", "expected"),
    [
        (("s3a://bucket", "sales/orders"), ("s3://bucket", "sales/orders")),
        (("s3n://bucket", "sales/orders"), ("s3://bucket", "sales/orders")),
        (("S3A://bucket/", "/sales/orders/"), ("s3://bucket", "sales/orders")),
        (("s3://bucket", "//sales/orders"), ("s3://bucket", "sales/orders")),
        (("gs://bucket", "/sales"), ("gs://bucket", "sales")),
        (("s3://bucket", "sales/orders/day=2026-01-01/hour=3"), ("s3://bucket", "sales/orders")),
        (("s3://bucket", "sales/orders/day=2026-01-01/hour=3/"), ("s3://bucket", "sales/orders")),
        (("hdfs://nn:8020", "/sales/orders/day=1"), ("hdfs://nn:8020", "/sales/orders")),
        (("hdfs://nn:8020", "sales/orders/"), ("hdfs://nn:8020", "/sales/orders")),
        (("file", "/tmp/orders/day=1/"), ("file", "/tmp/orders")),
        (("file:///", "//tmp/orders"), ("file", "/tmp/orders")),
        (("s3a://bucket", "/"), ("s3://bucket", "/")),
    ],
)
def test_spellings_of_a_location_are_one_name(spelling, expected):
    assert named(*spelling) == expected
    assert named(*expected) == expected


@pytest.mark.parametrize(
    "name",
    [
        ("s3://bucket", "day=2026-01-01"),
        ("s3://bucket", "sales/day=1/orders"),
        ("s3://bucket", "sales/a=b=c"),
        ("s3://bucket", "sales/=3"),
        ("s3://bucket", "sales//orders"),
        ("s3://bucket", "lake.sales.orders"),
        ("hdfs://nn:8020", "sales.orders"),
        ("file", "data/orders.csv"),
        ("postgres://db:5432", "shop.public./orders/day=1"),
        ("kafka://kafka:9092", "/orders/"),
        ("s3a-like", "/orders/"),
        ("mysql://db:3306/", "orders"),
    ],
)
def test_other_names_are_unchanged(name):
    assert named(*name) == name


def test_configured_aliases_win_over_spellings():
    day, orders = DatasetId("s3://bucket", "orders/day=1"), DatasetId("s3://bucket", "special")
    rules = Rules(symlinks=(SymlinkRule(orders, (day,)),))
    assert named(*day, rules) == orders
    assert named("s3a://bucket", "orders/day=1", rules) == orders
    assert named("s3://bucket", "orders/day=2", rules) == ("s3://bucket", "orders")


def test_alias_that_is_a_spelling_of_its_dataset_is_no_cycle():
    orders = DatasetId("s3://bucket", "orders")
    rules = Rules(symlinks=(SymlinkRule(orders, (DatasetId("s3a://bucket", "/orders/"),)),))
    assert named("s3a://bucket", "/orders/", rules) == orders
