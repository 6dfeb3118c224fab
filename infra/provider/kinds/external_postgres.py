# SPDX-License-Identifier: Apache-2.0
"""`labkit:index:ExternalPostgres`: an existing Postgres server whose changes the lab may capture."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg import sql

from infra.errors import LabError
from infra.model import external_settings
from infra.model.external import ExternalPostgres
from infra.provider.external_service import ExternalKind, external_error
from infra.provider.kind import OperationContext
from infra.provider.postgres import Connection, PostgresServer

RELEASE_SECONDS = 30
"""Time limit for the server to notice that a removed connector has released its replication slot."""

_RIGHTS = """
SELECT rolsuper OR rolreplication OR EXISTS (
    SELECT FROM pg_roles AS managed WHERE managed.rolname = 'rds_replication'
    AND pg_has_role(current_user, managed.oid, 'member')
) FROM pg_roles WHERE rolname = current_user
"""
"""Query for the right of the role to read changes: its own, or on Amazon RDS that of a group."""

_FREE_SLOTS = """
SELECT current_setting('max_replication_slots')::int - count(*)
FROM pg_replication_slots WHERE slot_name <> %s
"""
_SLOT = "SELECT database, active FROM pg_replication_slots WHERE slot_name = %s"


class ExternalPostgresKind(ExternalKind[ExternalPostgres]):
    """Existing Postgres servers.

    Deleting one removes replication slot and publication of the lab's connector: an abandoned slot would make the
    server keep its log without limit.
    """

    name = "ExternalPostgres"
    inputs = ExternalPostgres
    replace_on = frozenset({"host", "port", "captured", "slot"})

    def create(self, inputs: ExternalPostgres, call: OperationContext) -> dict[str, Any]:
        self.check(inputs, call)
        with _session(inputs, inputs.maintenance, call) as connection:
            if connection.execute(_SLOT, (inputs.slot,)).fetchone():
                raise _error(
                    inputs,
                    f"it has a replication slot {inputs.slot} already, of another lab or of one that was not removed",
                    f"remove that lab, or: SELECT pg_drop_replication_slot('{inputs.slot}')",
                )
        return {}

    def check(self, inputs: ExternalPostgres, call: OperationContext) -> None:
        with _session(inputs, inputs.maintenance, call) as connection:
            _require_logical_decoding(inputs, connection)
            [rights] = connection.execute(_RIGHTS).fetchone() or (False,)
            if not rights:
                remedy = f'as a superuser: ALTER ROLE "{inputs.user}" REPLICATION'
                raise _error(inputs, f"role {inputs.user} may not read changes", remedy)
            [free] = connection.execute(_FREE_SLOTS, (inputs.slot,)).fetchone() or (0,)
            if free < 1:
                raise _error(inputs, "no replication slot is free", "raise max_replication_slots, restart the server")

    def delete(self, inputs: ExternalPostgres, call: OperationContext) -> None:
        for _ in call.poll(RELEASE_SECONDS):
            with _session(inputs, inputs.maintenance, call) as connection:
                found = connection.execute(_SLOT, (inputs.slot,)).fetchone()
                captured = _exists(connection, inputs.captured)
            if not found or not found[1]:
                break
        else:
            raise _error(inputs, f"replication slot {inputs.slot} is still in use", "stop its client, and try again")
        if found:
            _drop_slot(inputs, str(found[0]), call)
        if captured:
            _drop_publication(inputs, call)


def _require_logical_decoding(inputs: ExternalPostgres, connection: Connection) -> None:
    [level] = connection.execute("SELECT current_setting('wal_level')").fetchone() or ("unknown",)
    if level != "logical":
        raise _error(
            inputs,
            f"wal_level is {level}, so that changes cannot be captured",
            "as a superuser: ALTER SYSTEM SET wal_level = 'logical', then restart the server (Amazon RDS: parameter "
            "rds.logical_replication = 1)",
        )


def _exists(connection: Connection, database: str) -> bool:
    query = "SELECT FROM pg_database WHERE datname = %s"
    return connection.execute(query, (database,)).fetchone() is not None


def _drop_slot(inputs: ExternalPostgres, database: str, call: OperationContext) -> None:
    with _session(inputs, database, call) as connection:
        connection.execute("SELECT pg_drop_replication_slot(%s)", (inputs.slot,))
    call.note(f"replication slot {inputs.slot} of the server at {inputs.host}:{inputs.port} is deleted")


def _drop_publication(inputs: ExternalPostgres, call: OperationContext) -> None:
    with _session(inputs, inputs.captured, call) as connection:
        connection.execute(sql.SQL("DROP PUBLICATION IF EXISTS {}").format(sql.Identifier(inputs.slot)))


@contextmanager
def _session(inputs: ExternalPostgres, database: str, call: OperationContext) -> Iterator[Connection]:
    """Open a connection for the block; its errors become LabErrors."""
    server = PostgresServer(inputs.host, inputs.port, inputs.user, inputs.credentials, external=True)
    action = f"use database {database} of the Postgres"
    try:
        with server.connect(database, action, call) as connection:
            yield connection
    except psycopg.Error as error:
        raise server.failure(action, error) from error


def _error(inputs: ExternalPostgres, cause: str, remedy: str) -> LabError:
    action = f"use the Postgres at {inputs.host}:{inputs.port}"
    return external_error(external_settings.POSTGRES, action, cause, remedy)
