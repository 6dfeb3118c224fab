# SPDX-License-Identifier: Apache-2.0
"""`labkit:index:Database`: a database of the Postgres server, dropped with its tables."""

from typing import Any

import psycopg
from psycopg import sql

from infra.model import external_settings
from infra.model.resources import Database
from infra.provider.data_kind import DataKind, same_outputs
from infra.provider.external_service import LoginRefused
from infra.provider.kind import OperationContext, ReadResult
from infra.provider.postgres import Connection, PostgresServer


class DatabaseKind(DataKind[Database]):
    """Postgres databases; `create` adopts an existing database with its contents."""

    name = "Database"
    inputs = Database
    replace_on = frozenset({"host", "port", "name"})
    addresses = frozenset({"host", "port"})
    setting = external_settings.POSTGRES

    def describe(self, inputs: Database) -> str:
        return f"database {inputs.name} at {_server(inputs)}"

    def create(self, inputs: Database, call: OperationContext) -> dict[str, Any]:
        existed = self.exists_already(inputs, call) or not self._create_database(inputs, call)
        return self.created(inputs, existed, call)

    def read(self, inputs: Database, call: OperationContext) -> ReadResult[Database] | None:
        if not _server(inputs).reachable():
            return self.unreadable(inputs, call)
        try:
            with self._connect(inputs, call, "read") as connection:
                query = "SELECT 1 FROM pg_database WHERE datname = %s"
                found = connection.execute(query, (inputs.name,)).fetchone()
        except LoginRefused as error:
            return self.refused(inputs, call, str(error))
        except psycopg.Error as error:
            raise _server(inputs).failure(_action(inputs, "read"), error) from error
        return ReadResult(inputs, same_outputs(inputs, call)) if found else None

    def update(self, old: Database, new: Database, call: OperationContext) -> dict[str, Any]:
        return same_outputs(new, call)

    def remove(self, inputs: Database, call: OperationContext) -> None:
        if not _server(inputs).reachable():
            raise self.unreachable(inputs, "delete")
        try:
            with self._connect(inputs, call, "delete") as connection:
                statement = sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)")
                connection.execute(statement.format(sql.Identifier(inputs.name)))
        except LoginRefused:
            if inputs.external:
                raise
        except psycopg.Error as error:
            raise _server(inputs).failure(_action(inputs, "delete"), error) from error

    def _create_database(self, inputs: Database, call: OperationContext) -> bool:
        """Create the database; return False if it exists, or is being created concurrently."""
        with self._connect(inputs, call, "create") as connection:
            try:
                connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(inputs.name)))
            except (psycopg.errors.DuplicateDatabase, psycopg.errors.UniqueViolation):
                return False
            except psycopg.Error as error:
                raise _server(inputs).failure(_action(inputs, "create"), error) from error
        return True

    def _connect(self, inputs: Database, call: OperationContext, verb: str) -> Connection:
        return _server(inputs).connect(inputs.maintenance, _action(inputs, verb), call)


def _server(inputs: Database) -> PostgresServer:
    return PostgresServer(
        inputs.host, inputs.port, inputs.user, inputs.credentials, inputs.external is True, inputs.authority
    )


def _action(inputs: Database, verb: str) -> str:
    return f"{verb} database {inputs.name}"
