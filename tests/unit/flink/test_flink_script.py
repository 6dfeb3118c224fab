# SPDX-License-Identifier: Apache-2.0
"""Tests of splitting and validating SQL files."""

import pytest

from lineagelab_flink.errors import ScriptError
from lineagelab_flink.script import script, statements

VALUES = {"KAFKA_BOOTSTRAP": "127.0.0.1:9092"}


def texts(text):
    return [statement.text for statement in statements("a.sql", text, VALUES)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT 1; SELECT 2", ["SELECT 1", "SELECT 2"]),
        ("SELECT ';' ; SELECT 'it''s; 2'", ["SELECT ';'", "SELECT 'it''s; 2'"]),
        ("SELECT `a;b`;", ["SELECT `a;b`"]),
        ("-- one; two\nSELECT 1;\n-- the end;\n", ["SELECT 1"]),
        ("SELECT /* ; */ 1", ["SELECT         1"]),
        ("SELECT '--' ; SELECT '/*'", ["SELECT '--'", "SELECT '/*'"]),
        ("SELECT * FROM t /*+ OPTIONS('a'='b') */;", ["SELECT * FROM t /*+ OPTIONS('a'='b') */"]),
        (";;\n ; ", []),
        ("WITH ('x' = '${KAFKA_BOOTSTRAP}')", ["WITH ('x' = '127.0.0.1:9092')"]),
        ("SELECT 1 -- ${NOBODY}", ["SELECT 1"]),
    ],
)
def test_statements(text, expected):
    assert texts(text) == expected


@pytest.mark.parametrize(
    "begin", ["EXECUTE STATEMENT SET BEGIN", "begin statement set;", "EXECUTE  STATEMENT\nSET BEGIN"]
)
def test_a_statement_set_is_one_statement(begin):
    (found,) = statements("a.sql", f"{begin} INSERT INTO a SELECT 'END'; INSERT INTO b SELECT 1; END;", {})
    assert found.text.startswith("EXECUTE STATEMENT SET BEGIN")
    assert found.text.endswith("; END")
    assert found.text.count("INSERT") == 2
    assert found.writes


def test_line_numbers():
    found = statements("a.sql", "-- header\n\nSELECT 1;\n\n/* two\nlines */ SELECT\n2;", {})
    assert [statement.line for statement in found] == [3, 6]


@pytest.mark.parametrize(
    "text",
    [
        "INSERT INTO a SELECT 1",
        "insert overwrite a select 1",
        "CREATE TABLE a WITH ('x'='y') AS SELECT 1 AS b",
        "EXECUTE INSERT INTO a SELECT 1",
    ],
)
def test_statements_that_make_a_job(text):
    assert statements("a.sql", text, {})[0].writes


@pytest.mark.parametrize(
    "text",
    [
        "CREATE TABLE a (b INT) WITH ('c' = 'AS SELECT')",
        "CREATE TEMPORARY VIEW v AS SELECT 1 AS b",
        "CREATE TABLE a (b INT, c AS (b + 1)) WITH ('d'='e')",
        "SET 'a' = 'INSERT'",
    ],
)
def test_statements_that_make_no_job(text):
    assert not statements("a.sql", text, {})[0].writes


def test_a_script_concatenates_files_and_ends_with_a_write():
    found = script([("catalog.sql", "CREATE CATALOG c;"), ("a.sql", "USE CATALOG c;\nINSERT INTO t SELECT 1;")], VALUES)
    assert [statement.place for statement in found.prepare] == ["catalog.sql, line 1", "a.sql, line 1"]
    assert found.job.place == "a.sql, line 2"
    assert found.text == "CREATE CATALOG c;\nUSE CATALOG c;\nINSERT INTO t SELECT 1;\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("CREATE TABLE t (a INT);", "a.sql: no statement writes"),
        ("INSERT INTO a SELECT 1;\nINSERT INTO b SELECT 1;", "line 2: a file is one job, and a.sql, line 1"),
        ("INSERT INTO a SELECT 1;\nUSE CATALOG c;", "line 2: no statement may follow"),
        ("SELECT 1;\nSELECT 'x", "line 2: ' is not closed"),
        ("SELECT 1;\n/* x", r"line 2: /\* is not closed"),
        ("EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT 1;", "line 1: the statement set has no END"),
        ("SET 'pipeline.name' = 'x'; INSERT INTO a SELECT 1;", "line 1: remove pipeline.name"),
        ("SELECT 1;\nSELECT '${KAFKA_BOOTSTRAPS}'", r"line 2: unknown .*did you mean \$\{KAFKA_BOOTSTRAP\}"),
        ("SELECT '${password}'", "line 1: unknown placeholder"),
        ("SELECT '${S3_ENDPOINT}'", "line 1: .* has no value: environment variable S3_ENDPOINT is not set"),
    ],
)  # fmt: skip
def test_rejected_scripts(text, message):
    with pytest.raises(ScriptError, match=message):
        script([("a.sql", text)], VALUES)
