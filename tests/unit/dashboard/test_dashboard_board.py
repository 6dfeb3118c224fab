# SPDX-License-Identifier: Apache-2.0
"""Tiles of the dashboard on a real DuckDB: their results, failures, and what is reported of them."""

import duckdb
import pytest

from infra.namespaces import DASHBOARD_NAMESPACE, JOB_DASHBOARD
from jobs.dashboard import board as board_module
from jobs.dashboard.board import NOT_BUILT, Board
from jobs.dashboard.tile import Tile, TileError, parse_tile, tiles
from lineagelab_sql.lake import LakeError
from tests.openlineage_schemas import conformance_errors

REVENUE = parse_tile(
    "revenue",
    """
-- title: Revenue
-- chart: bar(supplier, [revenue, orders])
select supplier, cast(sum(price) as double) as revenue, count(*) as orders
from sales.orders where price > 0 group by supplier
""",
)


class DuckDbLake:
    """Lake that is a DuckDB in memory; `error` makes it unreachable."""

    default = ("lake", "sales")

    def __init__(self):
        self.error = ""
        self.database = duckdb.connect(":memory:")
        self.database.execute("ATTACH ':memory:' AS lake; CREATE SCHEMA lake.sales")

    def connect(self, *, writable):
        assert not writable
        if self.error:
            raise LakeError(self.error)
        connection = self.database.cursor()
        connection.execute("USE lake.sales")
        return connection

    def create_orders(self):
        self.database.execute("CREATE TABLE lake.sales.orders (supplier VARCHAR, price DECIMAL(10, 2))")
        self.database.execute("INSERT INTO lake.sales.orders VALUES ('a', 1), ('a', 2), ('b', 5)")


@pytest.fixture
def lake():
    return DuckDbLake()


@pytest.fixture
def events():
    return []


@pytest.fixture
def board(lake, events):
    return Board(lake, [REVENUE], events.append)


def test_a_tile_shows_the_result_of_its_query_and_is_reported_once(lake, board, events):
    lake.create_orders()
    rows = board.refresh(REVENUE).table.sort_by("supplier").to_pylist()
    assert rows == [
        {"supplier": "a", "revenue": 3.0, "orders": 2},
        {"supplier": "b", "revenue": 5.0, "orders": 1},
    ]
    assert board.refresh_all()
    start, complete = events
    assert (start["eventType"], complete["eventType"]) == ("START", "COMPLETE")
    assert start["run"]["runId"] == complete["run"]["runId"]
    assert complete["job"]["name"] == f"{JOB_DASHBOARD}.revenue"
    assert [error for each in events for error in conformance_errors(each)] == []


def test_a_tile_is_a_dataset_with_the_columns_of_its_query(lake, board, events):
    lake.create_orders()
    board.refresh(REVENUE)
    (read,), (written,) = events[1]["inputs"], events[1]["outputs"]
    assert (read["namespace"], read["name"]) == ("duckdb://:memory:", "lake.sales.orders")
    assert (written["namespace"], written["name"]) == (DASHBOARD_NAMESPACE, "revenue")
    assert [each["name"] for each in written["facets"]["schema"]["fields"]] == ["supplier", "revenue", "orders"]
    lineage = written["facets"]["columnLineage"]
    sources = {name: [each["field"] for each in entry["inputFields"]] for name, entry in lineage["fields"].items()}
    assert sources == {"supplier": ["supplier"], "revenue": ["price"], "orders": []}
    assert sorted(each["field"] for each in lineage["dataset"]) == ["price", "supplier"]


def test_a_table_that_does_not_exist_yet_is_no_failure(lake, board, events):
    assert board.refresh(REVENUE).error == NOT_BUILT
    assert not board.refresh_all()
    assert events == []
    lake.create_orders()
    assert board.refresh_all()
    assert len(events) == 2


def test_a_connection_that_misses_a_table_is_replaced(lake, board, monkeypatch):
    """DuckDB lists the schemas of an Iceberg catalog once per connection."""
    monkeypatch.setattr(board_module, "CONNECTION_SECONDS", 0.0)
    connected, connect = [], lake.connect

    def counted(*, writable):
        connected.append(connect(writable=writable))
        return connected[-1]

    monkeypatch.setattr(lake, "connect", counted)
    board.refresh(REVENUE)
    lake.create_orders()
    assert board.refresh(REVENUE).table is not None
    assert len(connected) == 2


def test_a_table_that_is_gone_is_a_failure_reported_once(lake, board, events):
    lake.create_orders()
    board.refresh(REVENUE)
    lake.database.execute("DROP TABLE lake.sales.orders")
    for _ in range(2):
        assert "orders does not exist" in board.refresh(REVENUE).error
    assert [each["eventType"] for each in events] == ["START", "COMPLETE", "START", "FAIL"]
    assert "orders does not exist" in events[3]["run"]["facets"]["errorMessage"]["message"]
    lake.create_orders()
    assert board.refresh(REVENUE).table is not None
    assert events[-1]["eventType"] == "COMPLETE"


def test_an_unreachable_lake_is_shown_and_tried_again(lake, board, events):
    lake.create_orders()
    lake.error = "cannot attach the Iceberg catalog"
    assert board.refresh(REVENUE).error == lake.error
    lake.error = ""
    assert board.refresh(REVENUE).table is not None
    assert [each["eventType"] for each in events] == ["START", "COMPLETE"]


def test_refreshes_are_reported_again_after_a_time(lake, board, events, monkeypatch):
    lake.create_orders()
    monkeypatch.setattr(board_module, "REPORT_SECONDS", 0.0)
    board.refresh(REVENUE)
    board.refresh(REVENUE)
    assert len({each["run"]["runId"] for each in events}) == 2


def test_a_tile_whose_columns_are_not_derived_says_why(lake, events):
    lake.create_orders()
    pivot = Tile("pivot", "Pivot", "table", (), "PIVOT sales.orders ON supplier IN ('a', 'b') USING sum(price)")
    assert Board(lake, [pivot], events.append).refresh(pivot).table is not None
    facet = events[1]["outputs"][0]["facets"]["columnLineage"]
    assert facet["unknownFields"] == ["a", "b"]
    assert facet["unknownBecause"]


def test_every_tile_of_the_lab_is_valid():
    found = tiles()
    assert {"revenue_by_hour", "freshness"} <= {each.name for each in found}
    assert all(each.columns or each.chart == "table" for each in found)


def test_columns_that_a_query_lacks_are_named():
    assert REVENUE.missing(["supplier", "orders"]) == ["revenue"]
    assert REVENUE.missing(["supplier", "orders", "revenue"]) == []


def test_charts_take_single_columns_and_groups():
    assert REVENUE.columns == (("supplier",), ("revenue", "orders"))
    assert (REVENUE.title, REVENUE.chart) == ("Revenue", "bar")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("select 1", "tiles/x.sql has no line `-- chart: ...` at its beginning"),
        ("-- title: a\n-- chart: pie(x)\nselect 1", "unknown chart 'pie(x)'; known: bar, line, table, metric"),
        ("-- title: a\n-- chart: table\n-- colour: red\nselect 1", "unknown header 'colour'; known: title, chart"),
        ("-- title: a\n-- chart: table\n", "tiles/x.sql has no query"),
        ("-- title: a\n-- chart: bar(x)\nselect 1", "tiles/x.sql: arguments of bar: 2 or 3, not 1"),
        ("-- title: a\n-- chart: metric(x, y)\nselect 1", "tiles/x.sql: arguments of metric: 1, not 2"),
    ],
)
def test_an_invalid_tile_file_is_named(text, message):
    with pytest.raises(TileError) as raised:
        parse_tile("x", text)
    assert message in str(raised.value)
