# SPDX-License-Identifier: Apache-2.0
"""The shop's connection to its database. Every error is one of two: wait and try again, or somebody must help."""

import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import psycopg
from psycopg import errors

from jobs.shop import tables
from jobs.shop.orders import Batch
from jobs.shop.tables import ORDERS, TABLES, Table

CONNECT_SECONDS = 5
SILENCE_MS = 10_000
"""How long sent data may stay unacknowledged before the server is taken for gone."""

_REFUSED = ("password authentication failed", "no password supplied", "no pg_hba.conf entry", "does not exist")
"""What libpq says where trying again would not help. It gives no code for what happens while it connects."""

_COLUMNS = """
SELECT wanted.name, attribute.attname
FROM unnest(%s::text[]) AS wanted (name)
JOIN pg_attribute AS attribute ON attribute.attrelid = to_regclass(wanted.name)
WHERE attribute.attnum > 0 AND NOT attribute.attisdropped
"""


class ShopError(Exception):
    """The shop cannot go on. The message says what was attempted, on what, and what to do next."""


class AwayError(Exception):
    """The server is not there, not ready, or went away: it is worth waiting."""


@dataclass(frozen=True)
class Server:
    """Where the database is. The password is libpq's matter: `PGPASSWORD`, or a password file."""

    host: str
    port: int
    user: str
    database: str

    def __str__(self) -> str:
        return f"database {self.database} at {self.host}:{self.port}"


class Session:
    """One connection. No other shop with this seed has one as long as it lasts.

    So a commit whose answer was lost is either through or undone by the time that the next session looks.
    """

    def __init__(self, connection: psycopg.Connection, server: Server) -> None:
        self._connection = connection
        self._server = server
        self._statements: list[tuple[Table, tuple[str, ...]]] = []

    @classmethod
    @contextmanager
    def open(cls, server: Server) -> Iterator["Session"]:
        """Connects; closes at the end.

        Raises:
            AwayError: the server does not answer.
            ShopError: it refuses this user, or has no such database.
        """
        with _translated(server, "connecting to"):
            connection = psycopg.connect(
                host=server.host,
                port=server.port,
                user=server.user,
                dbname=server.database,
                application_name="shop",
                connect_timeout=CONNECT_SECONDS,
                tcp_user_timeout=SILENCE_MS,
                options="-c timezone=UTC",
                autocommit=True,
            )
        try:
            yield cls(connection, server)
        finally:
            connection.close()

    def claim(self, seed: int) -> bool:
        """Whether this session is now the one that writes the orders of a seed."""
        with _translated(self._server, "claiming the orders in"):
            key = zlib.crc32(f"shop/{seed}".encode())
            row = self._connection.execute("SELECT pg_try_advisory_lock(%s)", (key,)).fetchone()
            return bool(row and row[0])

    def written(self, order_ids: Sequence[str]) -> Collection[str]:
        """Which of these orders are in the table."""
        with _translated(self._server, f"reading table {ORDERS.full_name} in"):
            query = f"SELECT order_id FROM {ORDERS.full_name} WHERE order_id = ANY(%s)"
            return {row[0] for row in self._connection.execute(query, (list(order_ids),))}

    def look_at_tables(self, optional: Collection[str]) -> None:
        """Finds out which columns to write: those that every table must have, and the `optional` ones that it has.

        Raises:
            ShopError: a table or a column is not there.
        """
        with _translated(self._server, "reading the columns of the tables in"):
            rows = self._connection.execute(_COLUMNS, ([table.full_name for table in TABLES],)).fetchall()
        there: dict[str, set[str]] = {table.full_name: set() for table in TABLES}
        for table, column in rows:
            there[table].add(column)
        self._statements = [(table, _columns(table, there, optional, self._server)) for table in TABLES]

    def write(self, batch: Batch) -> None:
        """Writes a batch in one transaction, in one round trip.

        Raises:
            ChangedError: a table is not what `look_at_tables` saw.
        """
        with (
            _translated(self._server, "writing orders to"),
            self._connection.pipeline(),
            self._connection.transaction(),
        ):
            for statement, orders in ((tables.insert, batch.first), (tables.write_again, batch.again)):
                for table, columns in self._statements if orders else ():
                    self._connection.execute(statement(table, columns), tables.arrays(orders, columns))


class ChangedError(Exception):
    """A table or a column that was there is gone."""


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
    return table.written(found, optional)


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
        raise AwayError(f"{doing} {server} failed: {_text(error)}") from error
    except psycopg.Error as error:
        raise ShopError(
            f"{doing} {server} failed: {_text(error)}. Were the tables changed by hand? "
            "A column of your own must be nullable or have a default"
        ) from error


def _text(error: psycopg.Error) -> str:
    return " ".join(str(error).split()).rstrip(".")
