# SPDX-License-Identifier: Apache-2.0
"""Copy of a log file into an empty database, in one transaction: numbers, hashes and times of events stay the same."""

import sqlite3
from collections.abc import Iterator
from typing import Any

import psycopg
from psycopg import sql as quoted

from lineage.store.errors import StoreError, StoreUnusable
from lineage.store.postgres import sql
from lineage.store.postgres.address import PostgresAddress
from lineage.store.postgres.connections import Connection, connect, store_error
from lineage.store.postgres.migrate import migrate

_TABLES = {
    "namespaces": "number, name",
    "events": "seq, hash, kind, event_time, received_at, run, namespace",
    "bodies": "seq, body",
    "segments": "first, last, body",
    "compacted": "hash",
    "snapshots": "kind, key, body",
    "retention": "one, known_since, through",
    "dead_letters": "id, kind, hash, error, parked_at, body",
    "positions": "name, seq",
    "offsets": "topic, partition, next",
}
"""Tables with their columns, which have the same names in both stores."""

_NUMBERED = {"namespaces": "number", "events": "seq", "dead_letters": "id"}
"""Columns whose values the database generates: it continues after those of the file."""

_ROWS = 1_000


def move_log(file: sqlite3.Connection, address: PostgresAddress) -> dict[str, int]:
    """Copy the log of a file of the current schema into a database; return the number of rows of each table.

    Nothing is stored if it fails.

    Raises:
        StoreError: the server cannot be reached, or the copy failed.
        StoreUnusable: the database has events already, or an instance of the service uses it.
    """
    migrate(address)
    connection = connect(address, "move")
    try:
        if connection.execute(sql.TRY_LEASE).fetchone() != (True,):
            raise StoreUnusable(
                f"cannot move a log to the store {address}: an instance writes to it; stop all instances"
            )
        if connection.execute("SELECT EXISTS (SELECT FROM events) OR EXISTS (SELECT FROM snapshots)").fetchone() == (
            True,
        ):
            raise StoreUnusable(f"cannot move a log to the store {address}: it has events; choose an empty database")
        with connection.transaction():
            copied = {table: _copy_table(file, connection, table, columns) for table, columns in _TABLES.items()}
            _check_counts(file, connection, copied)
            _continue_numbers(file, connection)
        return copied
    except psycopg.Error as error:
        raise store_error(address, "move a log to", error) from error
    finally:
        connection.close()


def _copy_table(file: sqlite3.Connection, connection: Connection, table: str, columns: str) -> int:
    names = quoted.SQL(", ").join(map(quoted.Identifier, columns.split(", ")))
    statement = quoted.SQL("COPY {} ({}) FROM STDIN").format(quoted.Identifier(table), names)
    count = 0
    with connection.cursor().copy(statement) as copy:
        for row in _rows(file, f"SELECT {columns} FROM {table}"):
            copy.write_row(row)
            count += 1
    return count


def _rows(file: sqlite3.Connection, query: str) -> Iterator[tuple[Any, ...]]:
    cursor = file.execute(query)
    while rows := cursor.fetchmany(_ROWS):
        yield from rows


def _check_counts(file: sqlite3.Connection, connection: Connection, copied: dict[str, int]) -> None:
    for table, number in copied.items():
        count = f"SELECT count(*) FROM {table}"
        stored, read = connection.execute(count).fetchone(), file.execute(count).fetchone()
        if stored != (number,) or read != (number,):
            raise StoreError(f"the copy of table {table} is not complete: {read} in the file, {stored} in the database")


def _continue_numbers(file: sqlite3.Connection, connection: Connection) -> None:
    last = dict(file.execute("SELECT name, seq FROM sqlite_sequence"))
    for table, column in _NUMBERED.items():
        used = max(last.get(table, 0), file.execute(f"SELECT coalesce(max({column}), 0) FROM {table}").fetchone()[0])
        if used:
            connection.execute(
                "SELECT setval(pg_get_serial_sequence(%s, %s), %s)", (f"{sql.SCHEMA}.{table}", column, used)
            )
