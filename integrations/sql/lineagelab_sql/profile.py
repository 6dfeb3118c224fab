# SPDX-License-Identifier: Apache-2.0
"""Profile of a table: rows, nulls, distinct values, and the most frequent value of each column.

One pass over the table finds candidates for the most frequent values, a second one counts them exactly. Both read one
snapshot.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import duckdb

from lineagelab_common.table_profile import ColumnProfile, TableProfile
from lineagelab_sql.lake import quoted
from lineagelab_sql.session import StatementError

MAX_DISTINCT = 100_000
"""Distinct values that are counted, by an estimate that is up to a third off; of more, only that there are more."""

_NESTED = ("STRUCT", "MAP", "UNION")
_NUMBERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "FLOAT", "DOUBLE", "DECIMAL")


def columns_of(connection: duckdb.DuckDBPyConnection, name: str) -> dict[str, str]:
    """Return the types of the columns of a table, named as in SQL with catalog and schema.

    Raises:
        StatementError: there is no such table, or it cannot be read.
    """
    with _failing_as(name):
        return {str(row[0]): str(row[1]) for row in connection.execute(f"DESCRIBE {_identifier(name)}").fetchall()}


def profile_table(connection: duckdb.DuckDBPyConnection, name: str) -> TableProfile:
    """Return the profile of a table, named as in SQL with catalog and schema.

    Raises:
        StatementError: there is no such table, or it cannot be read.
    """
    with _failing_as(name):
        connection.execute("BEGIN TRANSACTION")
        try:
            return _profile(connection, name, columns_of(connection, name))
        finally:
            connection.execute("ROLLBACK")


@contextmanager
def _failing_as(name: str) -> Iterator[None]:
    try:
        yield
    except duckdb.Error as error:
        raise StatementError(f"cannot profile {name}: {error}") from error


def _identifier(name: str) -> str:
    return ".".join(map(quoted, name.split(".")))


def _profile(connection: duckdb.DuckDBPyConnection, name: str, columns: Mapping[str, str]) -> TableProfile:
    table = _identifier(name)
    flat = [column for column, kind in columns.items() if not _is_nested(kind)]
    parts = ["count(*)", *(f"count({quoted(column)})" for column in columns)]
    parts += [f"approx_count_distinct({quoted(column)})" for column in flat]
    parts += [f"approx_top_k({quoted(column)}, 1)" for column in flat]
    first = _row(connection, f"SELECT {', '.join(parts)} FROM {table}", {})
    rows, counts = first[0], dict(zip(columns, first[1:], strict=False))
    rest = first[1 + len(columns) :]
    estimates = dict(zip(flat, rest, strict=False))
    tops = {column: found[0] for column, found in zip(flat, rest[len(flat) :], strict=True) if found}

    exact = [column for column in flat if estimates[column] <= MAX_DISTINCT]
    numbers = [column for column, kind in columns.items() if kind.startswith(_NUMBERS) and not _is_nested(kind)]
    parts = [f"count(*) FILTER ({quoted(column)} = $top{at})" for at, column in enumerate(tops)]
    parts += [f"count(DISTINCT {quoted(column)})" for column in exact]
    parts += [f"{each}({quoted(column)})::DOUBLE" for column in numbers for each in ("min", "max")]
    values = {f"top{at}": value for at, value in enumerate(tops.values())}
    second = _row(connection, f"SELECT {', '.join(parts)} FROM {table}", values) if parts else ()
    top_rows = dict(zip(tops, second, strict=False))
    distinct = dict(zip(exact, second[len(tops) :], strict=False))
    bounds = second[len(tops) + len(exact) :]
    return TableProfile(
        name,
        rows,
        [
            ColumnProfile(
                column,
                kind,
                rows - counts[column],
                distinct.get(column),
                None if column not in tops else str(tops[column]),
                top_rows.get(column, 0),
                *(bounds[2 * numbers.index(column) :][:2] if column in numbers else ()),
            )
            for column, kind in columns.items()
        ],
    )


def _is_nested(kind: str) -> bool:
    return kind.startswith(_NESTED) or kind.endswith("]")


def _row(connection: duckdb.DuckDBPyConnection, query: str, values: Mapping[str, object]) -> tuple[Any, ...]:
    found: tuple[Any, ...] | None = connection.execute(query, values).fetchone()
    assert found is not None  # an aggregate without groups has one row
    return found
