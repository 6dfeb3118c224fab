# SPDX-License-Identifier: Apache-2.0
"""Logs in SQLite and in Postgres for tests that run over both."""

import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import psycopg

from lineage.settings import Settings
from lineage.store import EventLog
from lineage.store.event_store import EventStore
from lineage.store.graph_as_of import FileRows, export_as_of, graph_at, snapshot_of_file
from lineage.store.postgres.address import PASSWORD, PostgresAddress
from lineage.store.postgres.log import PostgresLog
from lineage.store.postgres.rows_as_of import PostgresRows, rows_of
from lineage.store.rows import known_since
from tests.unit.shop.postgres_server import PostgresServer

_numbers = count(1)


class SqliteStore:
    """Log in a file; `fresh` makes it another one."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self.fresh()

    def fresh(self) -> None:
        self._directory = self._root / f"store-{next(_numbers)}"

    def open(self) -> EventStore:
        return EventLog(self._directory)

    def execute(self, query: str, values: tuple = ()) -> list[tuple]:
        """Run a statement beside the log; `?` are the places of values."""
        with closing(sqlite3.connect(self._directory / "lineage.db", isolation_level=None)) as connection:
            return connection.execute(query, values).fetchall()

    def known_since(self) -> int | None:
        with closing(sqlite3.connect(self._directory / "lineage.db")) as connection:
            return known_since(connection)

    def graph_at(self, at: int, reader) -> bytes:
        return graph_at(self._directory / "lineage.db", at, reader)

    @contextmanager
    def rows(self) -> Iterator[FileRows]:
        """Open one consistent snapshot of the log."""
        with closing(snapshot_of_file(self._directory / "lineage.db")) as connection:
            yield FileRows(connection)

    def settings(self, **changes) -> Settings:
        return Settings(host="127.0.0.1", port=0, data=self._directory, rules=None, **changes)


@dataclass
class Database:
    """Database of a server; `fresh` makes it another one."""

    server: PostgresServer

    def __post_init__(self) -> None:
        self.fresh()

    def fresh(self) -> None:
        self.name = f"lineage_{next(_numbers)}"
        self.server.query(f"CREATE DATABASE {self.name} STRATEGY file_copy", "postgres")

    @property
    def url(self) -> str:
        return f"postgresql://postgres@{self.server.address}/{self.name}"

    @property
    def address(self) -> PostgresAddress:
        return PostgresAddress(self.url, self.server.password)

    @property
    def environment(self) -> dict[str, str]:
        return {PASSWORD: self.server.password}

    def execute(self, query: str, values: tuple = ()) -> list[tuple]:
        """Run a statement beside the log; `?` are the places of values."""
        with psycopg.connect(self.url, password=self.server.password, autocommit=True) as connection:
            connection.execute("SET search_path = lineage")
            cursor = connection.execute(query.replace("?", "%s"), values)
            return cursor.fetchall() if cursor.description else []


class PostgresStore:
    """Log in a database; `fresh` makes it another one."""

    def __init__(self, root: Path, database: Database) -> None:
        self._root = root
        self.database = database
        self.execute = database.execute

    def fresh(self) -> None:
        self.database.fresh()

    def open(self, instance: str = "one") -> PostgresLog:
        return PostgresLog(self.database.address, self._root / instance, instance)

    def known_since(self) -> int | None:
        with rows_of(self.database.address) as log:
            return log.known_since()

    def rows(self) -> AbstractContextManager[PostgresRows]:
        """Open one consistent snapshot of the log."""
        return rows_of(self.database.address)

    def graph_at(self, at: int, reader) -> bytes:
        with rows_of(self.database.address) as log:
            return export_as_of(log, at, reader)

    def settings(self, instance: str = "one", **changes) -> Settings:
        return Settings(
            host="127.0.0.1", port=0, data=self._root / instance, rules=None, store=self.database.url, **changes
        )
