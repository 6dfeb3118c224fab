# SPDX-License-Identifier: Apache-2.0
"""`labkit:index:Database`: a database of the Postgres server, dropped with what is in it."""

import socket
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

from infra import credentials
from infra.errors import LabError
from infra.provider.kind import Call, Found, Inputs, Kind

PATIENCE_SECONDS = 30
"""How long a server may take to recover from its log after it was killed: it listens before it is done."""

CONNECT_SECONDS = 5

STARTING = "the database system is "
"""How the server begins when it is starting up, not yet accepting connections, or in recovery."""

FOREIGN = "password authentication failed"
"""The server does not know our password: it is another lab's. Its databases are not ours."""


class DatabaseInputs(Inputs):
    """`host` and `port` are the server's, `maintenance` the database to connect to for making another one.

    `credentials` is the file that holds the password of `user`.
    """

    host: str
    port: int
    user: str
    maintenance: str
    database: str
    credentials: str


class DatabaseKind(Kind[DatabaseInputs]):
    """A database that is there already is taken over, with what is in it."""

    name = "Database"
    inputs = DatabaseInputs
    replace_on = frozenset({"host", "port", "database"})

    def create(self, inputs: DatabaseInputs, call: Call) -> dict[str, Any]:
        with self._connect(inputs, call, "create") as connection:
            try:
                connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(inputs.database)))
            except (psycopg.errors.DuplicateDatabase, psycopg.errors.UniqueViolation):
                return {}  # there already, or made by somebody else at this very moment
            except psycopg.Error as error:
                raise _failure(inputs, "create", error) from error
        return {}

    def read(self, inputs: DatabaseInputs, call: Call) -> Found[DatabaseInputs] | None:
        if not _reachable(inputs):
            return None
        try:
            with self._connect(inputs, call, "read") as connection:
                query = "SELECT 1 FROM pg_database WHERE datname = %s"
                found = connection.execute(query, (inputs.database,)).fetchone()
        except ForeignServer:
            return None
        except psycopg.Error as error:
            raise _failure(inputs, "read", error) from error
        return Found(inputs) if found else None

    def update(self, old: DatabaseInputs, new: DatabaseInputs, call: Call) -> dict[str, Any]:
        return {}

    def delete(self, inputs: DatabaseInputs, call: Call) -> None:
        if not _reachable(inputs):
            return  # the server is gone, and with it the database
        try:
            with self._connect(inputs, call, "delete") as connection:
                statement = sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)")
                connection.execute(statement.format(sql.Identifier(inputs.database)))
        except ForeignServer:
            return
        except psycopg.Error as error:
            raise _failure(inputs, "delete", error) from error

    def _connect(self, inputs: DatabaseInputs, call: Call, what: str) -> psycopg.Connection[tuple[Any, ...]]:
        """A connection that commits each statement; waits for a server that is still starting."""
        password = credentials.read(Path(inputs.credentials)).get(credentials.POSTGRES_PASSWORD, "")
        for _ in call.poll(PATIENCE_SECONDS):
            try:
                return psycopg.connect(
                    host=inputs.host,
                    port=inputs.port,
                    user=inputs.user,
                    password=password,
                    dbname=inputs.maintenance,
                    sslmode="disable",
                    connect_timeout=CONNECT_SECONDS,
                    autocommit=True,
                )
            except psycopg.OperationalError as error:
                if FOREIGN in str(error):
                    raise ForeignServer(
                        f"could not {what} database {inputs.database}: the Postgres at {inputs.host}:{inputs.port} "
                        "does not take this lab's password. Another lab or program has the port: end it, or set "
                        "another portOffset"
                    ) from error
                if STARTING not in str(error):
                    raise _failure(inputs, what, error) from error
        raise LabError(
            f"could not {what} database {inputs.database}: the Postgres at {inputs.host}:{inputs.port} was still "
            f"starting after {PATIENCE_SECONDS} s; see: lab logs postgres"
        )


class ForeignServer(LabError):
    """The server that answers is not this lab's."""


def _reachable(inputs: DatabaseInputs) -> bool:
    """Whether the server can be asked at all: something listens, and there is a password to show."""
    if not Path(inputs.credentials).exists():
        return False
    try:
        socket.create_connection((inputs.host, inputs.port), timeout=CONNECT_SECONDS).close()
    except OSError:
        return False
    return True


def _failure(inputs: DatabaseInputs, what: str, error: psycopg.Error) -> LabError:
    text = " ".join(str(error).split())
    return LabError(f"could not {what} database {inputs.database} at {inputs.host}:{inputs.port}: {text}")
