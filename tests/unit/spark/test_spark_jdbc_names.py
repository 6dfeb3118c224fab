# SPDX-License-Identifier: Apache-2.0
"""OpenLineage names of tables behind JDBC URLs."""

import pytest

from lineagelab_spark.jdbc_names import table_name


@pytest.mark.parametrize(
    ("url", "table", "expected"),
    [
        ("jdbc:postgresql://db/shop", "orders", ("postgres://db:5432", "shop.public.orders")),
        ("jdbc:postgresql://db:6000/shop?ssl=true", "sales.orders", ("postgres://db:6000", "shop.sales.orders")),
        ("jdbc:postgresql://u:p@db:6000/shop", '"Sales"."Orders"', ("postgres://db:6000", "shop.Sales.Orders")),
        ("jdbc:postgresql://a:1,b:2/shop", "orders", ("postgres://a:1", "shop.public.orders")),
        ("jdbc:mysql://db/shop", "orders", ("mysql://db:3306", "shop.orders")),
        ("jdbc:mysql://db/shop", "other.orders", ("mysql://db:3306", "other.orders")),
        ("jdbc:sqlserver://db:1433;databaseName=shop;user=u", "orders", ("mssql://db:1433", "shop.dbo.orders")),
    ],
)
def test_name_of_table(url, table, expected):
    assert table_name(url, table) == expected


@pytest.mark.parametrize(
    ("url", "table"),
    [
        ("jdbc:postgresql://db/shop", "(SELECT 1) t"),
        ("jdbc:postgresql://db/shop", "  (SELECT 1) SPARK_GEN_SUBQ_0"),
        ("jdbc:unknown://db/shop", "orders"),
        ("jdbc:postgresql:shop", "orders"),
        ("jdbc:postgresql://db/shop", ""),
        ("", ""),
    ],
)
def test_queries_and_unknown_databases_have_no_name(url, table):
    assert table_name(url, table) is None
