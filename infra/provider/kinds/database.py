# SPDX-License-Identifier: Apache-2.0
"""`labkit:index:Database`: a database of the Postgres server, dropped with what is in it."""

from typing import Any

import psycopg
from psycopg import sql

from infra.model.resources import Database
from infra.provider.kind import Call, Found, Kind
from infra.provider.postgres import Connection, ForeignServer, Server


class DatabaseKind(Kind[Database]):
    """A database that is there already is taken over, with what is in it."""

    name = "Database"
    inputs = Database
    replace_on = frozenset({"host", "port", "name"})

    def create(self, inputs: Database, call: Call) -> dict[str, Any]:
        with self._connect(inputs, call, "create") as connection:
            try:
                connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(inputs.name)))
            except (psycopg.errors.DuplicateDatabase, psycopg.errors.UniqueViolation):
                return {}  # there already, or made by somebody else at this very moment
            except psycopg.Error as error:
                raise _server(inputs).failure(_doing(inputs, "create"), error) from error
        return {}

    def read(self, inputs: Database, call: Call) -> Found[Database] | None:
        if not _server(inputs).reachable():
            return None
        try:
            with self._connect(inputs, call, "read") as connection:
                query = "SELECT 1 FROM pg_database WHERE datname = %s"
                found = connection.execute(query, (inputs.name,)).fetchone()
        except ForeignServer:
            return None
        except psycopg.Error as error:
            raise _server(inputs).failure(_doing(inputs, "read"), error) from error
        return Found(inputs) if found else None

    def update(self, old: Database, new: Database, call: Call) -> dict[str, Any]:
        return {}

    def delete(self, inputs: Database, call: Call) -> None:
        if not _server(inputs).reachable():
            return  # the server is gone, and with it the database
        try:
            with self._connect(inputs, call, "delete") as connection:
                statement = sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)")
                connection.execute(statement.format(sql.Identifier(inputs.name)))
        except ForeignServer:
            return
        except psycopg.Error as error:
            raise _server(inputs).failure(_doing(inputs, "delete"), error) from error

    def _connect(self, inputs: Database, call: Call, what: str) -> Connection:
        return _server(inputs).connect(inputs.maintenance, _doing(inputs, what), call)


def _server(inputs: Database) -> Server:
    return Server(inputs.host, inputs.port, inputs.user, inputs.credentials)


def _doing(inputs: Database, what: str) -> str:
    return f"{what} database {inputs.name}"
