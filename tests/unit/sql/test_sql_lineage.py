# SPDX-License-Identifier: Apache-2.0
"""Column lineage of single SQL constructs and statements: subtypes, DIRECT and INDIRECT apart."""

import pytest

from lineagelab_sql import Statement
from lineagelab_sql.errors import UnsupportedSqlError

SCHEMAS = {
    "lake.sales.orders": {"order_id": "varchar", "supplier": "varchar", "price": "decimal(10,2)", "tags": "varchar[]"},
    "lake.sales.suppliers": {"supplier": "varchar", "country": "varchar"},
    "lake.marts.revenue": {"supplier": "varchar", "total": "double"},
}
DEFAULT = ("lake", "sales")


def lineage(text, *columns):
    return Statement.parse(text, DEFAULT).lineage(SCHEMAS, columns)


def edges(dependencies):
    """Return dependencies as text, such as `orders.price AGGREGATION`."""
    return {
        f"{each.table.rpartition('.')[2]}.{each.column} {each.subtype}{' masked' if each.masking else ''}"
        for each in dependencies
    }


@pytest.mark.parametrize(
    ("text", "column", "rows"),
    [
        ("SELECT price FROM orders", {"orders.price IDENTITY"}, set()),
        ("SELECT price * 2 FROM sales.orders", {"orders.price TRANSFORMATION"}, set()),
        ("FROM orders SELECT price", {"orders.price IDENTITY"}, set()),
        ("SELECT sum(price) FROM orders", {"orders.price AGGREGATION"}, set()),
        ("SELECT count(*) FROM orders GROUP BY supplier", set(), {"orders.supplier GROUP_BY"}),
        ("SELECT sum(price) + 1 FROM orders GROUP BY ALL", {"orders.price AGGREGATION"}, set()),
        (
            "SELECT sum(price) FILTER (WHERE supplier = 'x') FROM orders",
            {"orders.price AGGREGATION", "orders.supplier CONDITIONAL"},
            set(),
        ),
        (
            "SELECT CASE supplier WHEN 'x' THEN price ELSE 0 END FROM orders",
            {"orders.price TRANSFORMATION", "orders.supplier CONDITIONAL"},
            set(),
        ),
        ("SELECT arg_max(price, order_id) FROM orders", {"orders.price AGGREGATION", "orders.order_id SORT"}, set()),
        (
            "SELECT string_agg(supplier, ',' ORDER BY price) FROM orders",
            {"orders.supplier AGGREGATION", "orders.price SORT"},
            set(),
        ),
        (
            "SELECT row_number() OVER (PARTITION BY supplier ORDER BY price) FROM orders",
            {"orders.supplier WINDOW", "orders.price WINDOW"},
            set(),
        ),
        (
            "SELECT lag(price) OVER w FROM orders WINDOW w AS (ORDER BY order_id)",
            {"orders.price TRANSFORMATION", "orders.order_id WINDOW"},
            set(),
        ),
        ("SELECT md5(supplier) FROM orders", {"orders.supplier TRANSFORMATION masked"}, set()),
        ("SELECT price FROM orders WHERE supplier = 'x'", {"orders.price IDENTITY"}, {"orders.supplier FILTER"}),
        ("SELECT price FROM orders ORDER BY order_id", {"orders.price IDENTITY"}, set()),
        ("SELECT price FROM orders ORDER BY order_id LIMIT 1", {"orders.price IDENTITY"}, {"orders.order_id SORT"}),
        ("SELECT DISTINCT supplier FROM orders", {"orders.supplier IDENTITY"}, {"orders.supplier GROUP_BY"}),
        (
            "SELECT country FROM orders JOIN suppliers USING (supplier)",
            {"suppliers.country IDENTITY"},
            {"orders.supplier JOIN", "suppliers.supplier JOIN"},
        ),
        (
            "SELECT price FROM orders WHERE supplier IN (SELECT supplier FROM suppliers WHERE country = 'x')",
            {"orders.price IDENTITY"},
            {"orders.supplier FILTER", "suppliers.supplier FILTER", "suppliers.country FILTER"},
        ),
        (
            "SELECT (SELECT max(country) FROM suppliers s WHERE s.supplier = o.supplier) FROM orders o",
            {"suppliers.country AGGREGATION", "suppliers.supplier CONDITIONAL", "orders.supplier CONDITIONAL"},
            set(),
        ),
        ("SELECT unnest(tags) FROM orders", {"orders.tags TRANSFORMATION"}, {"orders.tags FILTER"}),
        (
            "SELECT list_filter(tags, t -> t > supplier) FROM orders",
            {"orders.tags TRANSFORMATION", "orders.supplier CONDITIONAL"},
            set(),
        ),
        ("WITH orders AS (SELECT * FROM orders) SELECT price FROM orders", {"orders.price IDENTITY"}, set()),
        (
            "WITH RECURSIVE r(n) AS (SELECT price FROM orders UNION ALL SELECT n - 1 FROM r WHERE n > 1) "
            "SELECT n FROM r",
            {"orders.price TRANSFORMATION", "orders.price IDENTITY"},
            {"orders.price FILTER"},
        ),
        (
            "SELECT price FROM orders EXCEPT SELECT total FROM marts.revenue",
            {"orders.price IDENTITY"},
            {"orders.price FILTER", "revenue.total FILTER"},
        ),
        ("SELECT g.i FROM range(3) g(i)", set(), set()),
        (
            "WITH b(y) AS (WITH a(x) AS (SELECT price AS p FROM orders ORDER BY p LIMIT 2) "
            "SELECT x AS q FROM a ORDER BY q LIMIT 1) SELECT y FROM b",
            {"orders.price IDENTITY"},
            {"orders.price SORT"},
        ),
    ],
)
def test_subtypes_of_a_query(text, column, rows):
    found = lineage(text, "o")
    assert found.unknown == {}
    assert edges(found.columns["o"]) == column
    assert edges(found.rows) == rows


@pytest.mark.parametrize(
    ("text", "columns", "rows", "inputs"),
    [
        (
            "INSERT INTO marts.revenue SELECT supplier, sum(price) FROM orders GROUP BY 1",
            {"supplier": {"orders.supplier IDENTITY"}, "total": {"orders.price AGGREGATION"}},
            {"orders.supplier GROUP_BY"},
            {"lake.sales.orders"},
        ),
        (
            "INSERT INTO marts.revenue (total) SELECT price FROM orders",
            {"total": {"orders.price IDENTITY"}},
            set(),
            {"lake.sales.orders"},
        ),
        (
            "WITH o AS (SELECT price FROM orders) INSERT INTO marts.revenue BY NAME SELECT price AS total FROM o",
            {"total": {"orders.price IDENTITY"}},
            set(),
            {"lake.sales.orders"},
        ),
        (
            "INSERT INTO marts.revenue SELECT * FROM marts.revenue WHERE total > 1",
            {"supplier": {"revenue.supplier IDENTITY"}, "total": {"revenue.total IDENTITY"}},
            {"revenue.total FILTER"},
            {"lake.marts.revenue"},
        ),
        (
            "UPDATE marts.revenue SET total = o.price FROM orders o WHERE o.supplier = revenue.supplier",
            {"total": {"orders.price IDENTITY"}},
            {"orders.supplier FILTER"},
            {"lake.sales.orders"},
        ),
        (
            "DELETE FROM marts.revenue USING orders o WHERE o.supplier = revenue.supplier",
            {},
            {"orders.supplier FILTER"},
            {"lake.sales.orders"},
        ),
        (
            "MERGE INTO marts.revenue r USING orders o ON r.supplier = o.supplier "
            "WHEN MATCHED AND o.price > 1 THEN UPDATE SET total = r.total + o.price "
            "WHEN NOT MATCHED THEN INSERT (supplier, total) VALUES (o.supplier, 0)",
            {
                "supplier": {"orders.supplier IDENTITY"},
                "total": {"orders.price TRANSFORMATION"},
            },
            {"orders.supplier JOIN", "orders.price FILTER"},
            {"lake.sales.orders"},
        ),
    ],
)
def test_lineage_of_a_statement_that_writes(text, columns, rows, inputs):
    found = lineage(text, *SCHEMAS["lake.marts.revenue"])
    assert found.unknown == {}
    assert found.target == "lake.marts.revenue"
    assert {name: edges(each) for name, each in found.columns.items()} == columns
    assert edges(found.rows) == rows
    assert found.inputs == inputs


def test_create_table_as_has_the_columns_of_the_engine():
    found = lineage(
        "CREATE TABLE marts.new AS SELECT sum(price), supplier FROM orders GROUP BY ALL", "sum(price)", "supplier"
    )
    assert found.target == "lake.marts.new"
    assert edges(found.columns["sum(price)"]) == {"orders.price AGGREGATION"}


@pytest.mark.parametrize(
    ("text", "change"),
    [("DROP TABLE IF EXISTS marts.revenue", "DROP"), ("TRUNCATE marts.revenue", "TRUNCATE"), ("SELECT 1 AS o", "")],
)
def test_changes_of_the_life_cycle(text, change):
    statement = Statement.parse(text, DEFAULT)
    assert statement.change == change
    assert statement.target == ("lake.marts.revenue" if change else "")
    assert statement.lineage(SCHEMAS, ["o"]).inputs == frozenset()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("PIVOT orders ON supplier USING sum(price)", "pivot"),
        ("SELECT a FROM read_csv('x.csv')", "table function read_csv"),
        ("SELECT COLUMNS('p.*') FROM orders", "columns in an expression"),
        ("SELECT price FROM nowhere", "lake.sales.nowhere is not a table of a known catalog"),
        ("SELECT price FROM orders POSITIONAL JOIN suppliers", "positional join"),
        ("SELECT price, supplier FROM orders", "2 columns were derived, but the engine has 1"),
        ("INSERT INTO marts.revenue DEFAULT VALUES", "INSERT without a query"),
    ],
)
def test_what_is_not_derived_is_unknown_with_a_reason(text, reason):
    found = lineage(text, "o")
    assert found.columns == {}
    assert reason.lower() in found.unknown["o"].lower()


@pytest.mark.parametrize("text", ["SELEC 1", "SELECT 1; SELECT 2", ""])
def test_text_that_is_not_one_statement_is_rejected(text):
    with pytest.raises(UnsupportedSqlError):
        Statement.parse(text, DEFAULT)


@pytest.mark.parametrize(
    "text",
    ["CREATE TEMP TABLE x AS SELECT 1", "CREATE TABLE x (a INT)", "CREATE SCHEMA x", "DROP SCHEMA sales", "SELECT 1"],
)
def test_statements_that_write_no_rows_of_a_table_have_no_target(text):
    assert Statement.parse(text, DEFAULT).target == ""


@pytest.mark.parametrize("terms", [" + ".join(["price"] * 5000), "(" * 3000 + "price" + ")" * 3000])
def test_a_statement_that_is_nested_too_deeply_is_unsupported(terms):
    """SQLGlot recurses over expressions; a generated statement must not end the program that derives its lineage."""
    with pytest.raises(UnsupportedSqlError, match="nested too deeply"):
        Statement.parse(f"SELECT {terms} AS total FROM orders", DEFAULT)
