# SPDX-License-Identifier: Apache-2.0
"""Database access of the shop. Errors are either retried (`UnavailableError`) or require intervention (`ShopError`)."""

import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import psycopg
from psycopg import errors

from jobs.shop import tables
from jobs.shop.orders import Batch
from jobs.shop.tables import ORDERS, TABLES, Table

CONNECT_TIMEOUT = 5
TCP_TIMEOUT_MS = 10_000
"""Milliseconds that sent data may stay unacknowledged before the connection is closed (TCP user timeout)."""

_REFUSED = ("password authentication failed", "no password supplied", "no pg_hba.conf entry", "does not exist")
"""Messages of libpq for which a retry is useless; libpq has no error codes while connecting."""

_COLUMNS = """
SELECT wanted.name, attribute.attname
FROM unnest(%s::text[]) AS wanted (name)
JOIN pg_attribute AS attribute ON attribute.attrelid = to_regclass(wanted.name)
WHERE attribute.attnum > 0 AND NOT attribute.attisdropped
"""


class ShopError(Exception):
    """Error that requires intervention. The message has the operation, its target and a remedy."""


class UnavailableError(Exception):
    """The server is unavailable; the operation can be retried."""


@dataclass(frozen=True)
class Server:
    """Address of the database. libpq reads the password from `PGPASSWORD` or a password file."""

    host: str
    port: int
    user: str
    database: str

    def __str__(self) -> str:
        return f"database {self.database} at {self.host}:{self.port}"


class Session:
    """Connection with an exclusive advisory lock on a seed.

    The lock ends with the server's session, so a commit whose response was lost is decided before the next session
    reads.
    """

    def __init__(self, connection: psycopg.Connection, server: Server) -> None:
        self._connection = connection
        self._server = server
        self._statements: list[tuple[Table, tuple[str, ...]]] = []

    @classmethod
    @contextmanager
    def open(cls, server: Server) -> Iterator["Session"]:
        """Open a connection and close it on exit.

        Raises:
            UnavailableError: the server does not respond.
            ShopError: the server rejects the user, or the database does not exist.
        """
        with _translated(server, "connecting to"):
            connection = psycopg.connect(
                host=server.host,
                port=server.port,
                user=server.user,
                dbname=server.database,
                application_name="shop",
                connect_timeout=CONNECT_TIMEOUT,
                tcp_user_timeout=TCP_TIMEOUT_MS,
                options="-c timezone=UTC",
                autocommit=True,
            )
        try:
            yield cls(connection, server)
        finally:
            connection.close()

    def claim(self, seed: int) -> bool:
        """Try to acquire the lock of a seed; return True on success."""
        with _translated(self._server, "claiming the orders in"):
            key = zlib.crc32(f"shop/{seed}".encode())
            row = self._connection.execute("SELECT pg_try_advisory_lock(%s)", (key,)).fetchone()
            return bool(row and row[0])

    def existing_ids(self, order_ids: Sequence[str]) -> Collection[str]:
        """Return the orders of these that are in the table."""
        with _translated(self._server, f"reading table {ORDERS.full_name} in"):
            query = f"SELECT order_id FROM {ORDERS.full_name} WHERE order_id = ANY(%s)"
            return {row[0] for row in self._connection.execute(query, (list(order_ids),))}

    def load_columns(self, optional: Collection[str]) -> None:
        """Determine the columns to write: all required ones, and the `optional` ones that a table has.

        Raises:
            ShopError: a table or a required column does not exist.
        """
        with _translated(self._server, "reading the columns of the tables in"):
            rows = self._connection.execute(_COLUMNS, ([table.full_name for table in TABLES],)).fetchall()
        there: dict[str, set[str]] = {table.full_name: set() for table in TABLES}
        for table, column in rows:
            there[table].add(column)
        self._statements = [(table, _columns(table, there, optional, self._server)) for table in TABLES]

    def write(self, batch: Batch) -> None:
        """Write a batch in one transaction and one round trip.

        Raises:
            ChangedError: a table has changed since `load_columns`.
        """
        with (
            _translated(self._server, "writing orders to"),
            self._connection.pipeline(),
            self._connection.transaction(),
        ):
            for statement, orders in ((tables.insert, batch.first), (tables.upsert, batch.again)):
                for table, columns in self._statements if orders else ():
                    self._connection.execute(statement(table, columns), tables.column_arrays(orders, columns))


class ChangedError(Exception):
    """A table or column was dropped while the shop runs."""


def _columns(
    table: Table, there: Mapping[str, Collection[str]], optional: Collection[str], server: Server
) -> tuple[str, ...]:
    found = there[table.full_name]
    if not found:
        raise ShopError(f"there is no table {table.full_name} in {server}: `pulumi up` (or bin/lab up) creates it")
    if missing := table.missing(found):
        raise ShopError(
            f"table {table.full_name} in {server} has no column {', '.join(missing)}: "
            "`pulumi up --refresh` (or bin/lab up) adds it"
        )
    return table.columns_to_write(found, optional)


@contextmanager
def _translated(server: Server, doing: str) -> Iterator[None]:
    try:
        yield
    except (errors.UndefinedTable, errors.UndefinedColumn) as error:
        raise ChangedError(f"{doing} {server} failed: {_text(error)}") from error
    except (psycopg.OperationalError, psycopg.InterfaceError) as error:
        if error.sqlstate is None and any(words in str(error) for words in _REFUSED):
            raise ShopError(
                f"{doing} {server} as {server.user} was refused: {_text(error)}. Is PGPASSWORD this server's "
                "password, and has `pulumi up` (or bin/lab up) made the database?"
            ) from error
        raise UnavailableError(f"{doing} {server} failed: {_text(error)}") from error
    except psycopg.Error as error:
        raise ShopError(
            f"{doing} {server} failed: {_text(error)}. Were the tables changed by hand? "
            "Added columns must be nullable or have a default"
        ) from error


def _text(error: psycopg.Error) -> str:
    return " ".join(str(error).split()).rstrip(".")
