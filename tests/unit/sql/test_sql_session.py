# SPDX-License-Identifier: Apache-2.0
"""Sessions on a real DuckDB: which statements are reported, and how they end."""

import io
import os
import re
import signal
import socket
import threading
from dataclasses import replace

import duckdb
import pytest

from lineagelab_sql import output
from lineagelab_sql.errors import UnsupportedSqlError
from lineagelab_sql.lake import Lake, LakeError
from lineagelab_sql.session import Reporting, Session, StatementError

LAKE = Lake("lake", "sales", "http://127.0.0.1:1", "s3://warehouse", "http://127.0.0.1:1", "key", "secret", "r")


class Opened:
    """Session with the events that it sent and the results that it showed."""

    def __init__(self, name="", *, is_writable=True):
        self.connection = duckdb.connect(":memory:")
        self.connection.execute("ATTACH ':memory:' AS lake; CREATE SCHEMA lake.sales; USE lake.sales")
        self.connection.execute("CREATE TABLE orders AS SELECT * FROM (VALUES ('a', 1.5), ('b', 2.5)) v(Item, price)")
        self.events, self.shown = [], []
        reporting = Reporting(self.events.append, "jobs", name)
        self.session = Session(LAKE, self.connection, reporting, is_writable=is_writable)

    def run(self, text):
        self.session.run(text, lambda result: self.shown.append((list(result.columns), list(result.rows))))

    @property
    def reported(self):
        return [(event["job"]["name"], event["eventType"]) for event in self.events]


def test_a_write_is_a_run_with_schemas_columns_and_rows():
    opened = Opened()
    opened.run("CREATE TABLE dear AS SELECT Item, price * 2 AS twice FROM orders WHERE price > 2")
    assert opened.reported == [("sql.create.sales.dear", "START"), ("sql.create.sales.dear", "COMPLETE")]
    start, complete = opened.events
    assert start["run"]["runId"] == complete["run"]["runId"]
    (read,) = complete["inputs"]
    assert (read["namespace"], read["name"]) == ("duckdb://:memory:", "lake.sales.orders")
    assert [field["name"] for field in read["facets"]["schema"]["fields"]] == ["Item", "price"]
    (written,) = complete["outputs"]
    assert written["name"] == "lake.sales.dear"
    assert written["outputFacets"]["outputStatistics"]["rowCount"] == 1
    lineage = written["facets"]["columnLineage"]
    (source,) = lineage["fields"]["Item"]["inputFields"]
    assert (source["field"], source["transformations"][0]["subtype"]) == ("Item", "IDENTITY")
    assert [each["field"] for each in lineage["dataset"]] == ["price"]
    assert complete["job"]["facets"]["sql"]["query"].startswith("CREATE TABLE dear")


def test_queries_are_reported_if_they_have_a_name():
    opened = Opened()
    opened.run("SELECT price FROM orders")
    assert opened.events == []
    opened = Opened("report")
    opened.run("SELECT price FROM orders")
    assert opened.reported == [("report", "START"), ("report", "COMPLETE")]
    assert opened.events[1]["outputs"] == []
    assert opened.shown[0][0] == ["price"]


def test_statements_of_a_named_script_are_jobs_of_their_own():
    opened = Opened("nightly")
    opened.run("CREATE TABLE x AS SELECT * FROM orders; INSERT INTO x SELECT * FROM orders; SELECT count(*) FROM x")
    assert opened.reported[::2] == [
        ("nightly.create.sales.x", "START"),
        ("nightly.insert.sales.x", "START"),
        ("nightly.query", "START"),
    ]
    assert opened.shown == [(["count_star()"], [(4,)])]


def test_writes_of_one_script_to_one_table_are_jobs_of_their_own():
    opened = Opened()
    opened.run("INSERT INTO orders SELECT 'c', 3; INSERT INTO orders SELECT Item, 1 FROM orders")
    assert [name for name, kind in opened.reported if kind == "START"] == [
        "sql.insert.sales.orders",
        "sql.insert.sales.orders_2",
    ]


def test_a_write_that_cannot_be_parsed_is_announced(monkeypatch, caplog):
    def reject(text, default):
        raise UnsupportedSqlError("the statement cannot be parsed")

    opened = Opened()
    monkeypatch.setattr("lineagelab_sql.session.Statement.parse", reject)
    opened.run("INSERT INTO orders SELECT 'c', 3")
    assert "not in the lineage: INSERT INTO orders SELECT 'c', 3: the statement cannot be parsed" in caplog.text
    assert opened.events == []


@pytest.mark.parametrize(("text", "change"), [("DROP TABLE orders", "DROP"), ("TRUNCATE orders", "TRUNCATE")])
def test_a_dropped_or_emptied_table_is_an_output_once_it_is(text, change):
    opened = Opened()
    opened.run(text)
    start, complete = opened.events
    assert start["job"]["name"] == f"sql.{change.lower()}.sales.orders"
    assert start["outputs"] == []
    (output,) = complete["outputs"]
    assert output["facets"]["lifecycleStateChange"]["lifecycleStateChange"] == change
    assert "columnLineage" not in output["facets"]


def test_a_failed_statement_ends_the_script_and_its_run():
    opened = Opened()
    with pytest.raises(StatementError, match="Could not convert"):
        opened.run("INSERT INTO orders SELECT 'c', 'no number'; DROP TABLE orders")
    assert [kind for _, kind in opened.reported] == ["START", "FAIL"]
    assert "Could not convert" in opened.events[1]["run"]["facets"]["errorMessage"]["message"]
    assert opened.connection.execute("SELECT count(*) FROM orders").fetchone() == (2,)


def test_an_interrupted_statement_is_an_aborted_run():
    opened = Opened("report")

    def interrupt(_result):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        opened.session.run("SELECT price FROM orders", interrupt)
    assert [kind for _, kind in opened.reported] == ["START", "ABORT"]


def test_an_interrupt_during_a_long_query_is_an_aborted_run():
    opened = Opened("report")
    threading.Timer(1, os.kill, (os.getpid(), signal.SIGINT)).start()  # the query would take hours
    with pytest.raises(KeyboardInterrupt):
        opened.run("SELECT count(*) FROM range(1000000000000) r(i) WHERE i % 7 = 3")
    assert [kind for _, kind in opened.reported] == ["START", "ABORT"]


@pytest.mark.parametrize("text", ["INSERT INTO nowhere SELECT 1", "SELECT nothing FROM orders"])
def test_statements_that_the_engine_rejects_at_once_are_no_writes(text):
    opened = Opened()
    with pytest.raises(StatementError):
        opened.run(text)
    assert opened.events == []


def test_writes_of_a_session_that_only_reads_are_not_reported():
    opened = Opened(is_writable=False)
    opened.run("INSERT INTO orders SELECT 'c', 3")  # this database accepts it, an attached catalog does not
    assert opened.events == []


@pytest.mark.parametrize(("text", "reason"), [("SELEC 1", "syntax error"), ("", "no SQL statement"), (";", "no SQL")])
def test_text_without_statements_is_an_error(text, reason):
    with pytest.raises(StatementError, match=reason):
        Opened().run(text)


def test_unknown_columns_are_named_with_the_reason():
    opened = Opened()
    opened.run("CREATE TABLE wide AS SELECT * FROM (PIVOT orders ON Item IN ('a', 'b') USING sum(price))")
    facet = opened.events[1]["outputs"][0]["facets"]["columnLineage"]
    assert facet["unknownFields"]
    assert all(": " in each for each in facet["unknownBecause"])


def test_a_pivot_that_is_several_statements_is_refused_where_it_would_be_reported():
    with pytest.raises(StatementError, match="list them"):
        Opened().run("CREATE TABLE wide AS PIVOT orders ON Item USING sum(price)")
    opened = Opened(is_writable=False)
    opened.run("PIVOT orders ON Item USING sum(price)")
    assert opened.shown[0][0] == ["a", "b"]


def test_a_catalog_that_does_not_respond_is_named():
    with pytest.raises(LakeError, match=r"cannot attach the Iceberg catalog http://127\.0\.0\.1:1"):
        LAKE.connect(writable=False)


def test_a_frozen_catalog_is_named(monkeypatch):
    monkeypatch.setattr("lineagelab_sql.lake.CATALOG_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as frozen:
        address = f"http://127.0.0.1:{frozen.getsockname()[1]}"
        with pytest.raises(LakeError, match=rf"cannot attach the Iceberg catalog {re.escape(address)}: timed out"):
            replace(LAKE, catalog=address).connect(writable=False)


def test_missing_addresses_are_named():
    with pytest.raises(LakeError, match=r"LAB_ICEBERG_CATALOG is not set.*lab\.env"):
        Lake.from_environment({})


VALUES = "SELECT 1 AS n, NULL AS nothing, 1.5::DECIMAL(4,2) AS price, DATE '2026-01-02' AS day, {'k': [1]} AS nested"


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("csv", 'n,nothing,price,day,nested\n1,,1.50,2026-01-02,"{""k"": [1]}"\n'),
        ("json", '[{"n": 1, "nothing": null, "price": 1.5, "day": "2026-01-02", "nested": {"k": [1]}}]\n'),
    ],
)
def test_results_as_text(form, text):
    stream = io.StringIO()
    Opened().session.run(VALUES, lambda result: output.write(result, form, 10, stream))
    assert stream.getvalue() == text


def test_a_long_table_says_that_it_is_cut():
    stream = io.StringIO()
    Opened().session.run("SELECT * FROM range(5) r(n)", lambda result: output.write(result, "table", 2, stream))
    assert "the first 2 rows" in stream.getvalue()


def test_values_are_shown_as_they_are():
    """Not as codes of pictures, nor as markup."""
    stream = io.StringIO()
    query = "SELECT ':smile: [red]x[/red]' AS \":key:\""
    Opened().session.run(query, lambda result: output.write(result, "table", 2, stream))
    header, row, *_ = stream.getvalue().splitlines()
    assert (header.strip(), row.strip()) == (":key:", ":smile: [red]x[/red]")


def test_an_empty_result_is_an_empty_array():
    stream = io.StringIO()
    Opened().session.run("SELECT 1 AS n WHERE false", lambda result: output.write(result, "json", 2, stream))
    assert stream.getvalue() == "[]\n"
