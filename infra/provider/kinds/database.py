# SPDX-License-Identifier: Apache-2.0
"""`labkit:index:Database`: a database of the Postgres server, dropped with its tables."""

from typing import Any

import psycopg
from psycopg import sql

from infra.model.resources import Database
from infra.provider.kind import Kind, OperationContext, ReadResult
from infra.provider.postgres import Connection, ForeignServer, PostgresServer


class DatabaseKind(Kind[Database]):
    """Postgres databases; `create` adopts an existing database with its contents."""

    name = "Database"
    inputs = Database
    replace_on = frozenset({"host", "port", "name"})

    def create(self, inputs: Database, call: OperationContext) -> dict[str, Any]:
        with self._connect(inputs, call, "create") as connection:
            try:
                connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(inputs.name)))
            except (psycopg.errors.DuplicateDatabase, psycopg.errors.UniqueViolation):
                return {}  # exists, or is being created concurrently
            except psycopg.Error as error:
                raise _server(inputs).failure(_action(inputs, "create"), error) from error
        return {}

    def read(self, inputs: Database, call: OperationContext) -> ReadResult[Database] | None:
        if not _server(inputs).reachable():
            return None
        try:
            with self._connect(inputs, call, "read") as connection:
                query = "SELECT 1 FROM pg_database WHERE datname = %s"
                found = connection.execute(query, (inputs.name,)).fetchone()
        except ForeignServer:
            return None
        except psycopg.Error as error:
            raise _server(inputs).failure(_action(inputs, "read"), error) from error
        return ReadResult(inputs) if found else None

    def update(self, old: Database, new: Database, call: OperationContext) -> dict[str, Any]:
        return {}

    def delete(self, inputs: Database, call: OperationContext) -> None:
        if not _server(inputs).reachable():
            return  # the server is down; its data is deleted with it
        try:
            with self._connect(inputs, call, "delete") as connection:
                statement = sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)")
                connection.execute(statement.format(sql.Identifier(inputs.name)))
        except ForeignServer:
            return
        except psycopg.Error as error:
            raise _server(inputs).failure(_action(inputs, "delete"), error) from error

    def _connect(self, inputs: Database, call: OperationContext, verb: str) -> Connection:
        return _server(inputs).connect(inputs.maintenance, _action(inputs, verb), call)


def _server(inputs: Database) -> PostgresServer:
    return PostgresServer(inputs.host, inputs.port, inputs.user, inputs.credentials)


def _action(inputs: Database, verb: str) -> str:
    return f"{verb} database {inputs.name}"
