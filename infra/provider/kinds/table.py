# SPDX-License-Identifier: Apache-2.0
"""`labkit:index:Table`: a table of a Postgres database; columns are added, never dropped or retyped."""

from typing import Any

import psycopg
from psycopg import sql

from infra.errors import LabError
from infra.model import external_settings
from infra.model.resources import Column, Table
from infra.provider.data_kind import DataKind, same_outputs
from infra.provider.external_service import LoginRefused
from infra.provider.kind import OperationContext, ReadResult
from infra.provider.postgres import Connection, PostgresServer

SCHEMA = "public"

_IDENTITIES = {"d": "default", "f": "full", "n": "nothing", "i": "index"}
"""Replica identities by `pg_class.relreplident`."""

_COLUMNS = """
SELECT attname, format_type(atttypid, atttypmod), attnotnull
FROM pg_attribute WHERE attrelid = %s AND attnum > 0 AND NOT attisdropped ORDER BY attnum
"""
_PRIMARY_KEY = """
SELECT attname FROM pg_index, unnest(indkey) WITH ORDINALITY AS part (number, place)
JOIN pg_attribute ON attnum = part.number
WHERE indrelid = %(table)s AND indisprimary AND attrelid = %(table)s ORDER BY place
"""


class TableKind(DataKind[Table]):
    """Postgres tables; `create` adopts an existing table. Columns added by others are not drift."""

    name = "Table"
    inputs = Table
    replace_on = frozenset({"host", "port", "database", "name"})
    addresses = frozenset({"host", "port"})
    setting = external_settings.POSTGRES

    def describe(self, inputs: Table) -> str:
        return f"table {SCHEMA}.{inputs.name} of database {inputs.database} at {_server(inputs)}"

    def create(self, inputs: Table, call: OperationContext) -> dict[str, Any]:
        action = _action(inputs, "create")
        with _connect(inputs, action, call) as connection:
            try:
                with connection.transaction():
                    existed = _table_oid(connection, inputs) is not None
                    if not existed:
                        connection.execute(_create_statement(inputs))
                    _reconcile(connection, inputs, dropped=[])
            except psycopg.Error as error:
                raise _server(inputs).failure(action, error) from error
        return self.created(inputs, existed, call)

    def read(self, inputs: Table, call: OperationContext) -> ReadResult[Table] | None:
        if not _server(inputs).reachable():
            return self.unreadable(inputs, call)
        action = _action(inputs, "read")
        try:
            with _connect(inputs, action, call) as connection, connection.transaction():
                found = _read_table(connection, inputs)
        except DatabaseNotFound:
            return None
        except LoginRefused as error:
            return self.refused(inputs, call, str(error))
        except psycopg.Error as error:
            raise _server(inputs).failure(action, error) from error
        return ReadResult(found, same_outputs(inputs, call)) if found else None

    def update(self, old: Table, new: Table, call: OperationContext) -> dict[str, Any]:
        wanted = {column.name for column in new.columns}
        action = _action(new, "change")
        with _connect(new, action, call) as connection:
            try:
                with connection.transaction():
                    dropped = [column.name for column in old.columns if column.name not in wanted]
                    _reconcile(connection, new, dropped)
            except psycopg.Error as error:
                raise _server(new).failure(action, error) from error
        return same_outputs(new, call)

    def remove(self, inputs: Table, call: OperationContext) -> None:
        if not _server(inputs).reachable():
            raise self.unreachable(inputs, "drop")
        action = _action(inputs, "drop")
        try:
            with _connect(inputs, action, call) as connection:
                connection.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(_table_identifier(inputs)))
        except DatabaseNotFound:
            return
        except LoginRefused:
            if inputs.external:
                raise
        except psycopg.Error as error:
            raise _server(inputs).failure(action, error) from error


class DatabaseNotFound(LabError):
    """The table's database does not exist."""


def _connect(inputs: Table, action: str, call: OperationContext) -> Connection:
    try:
        return _server(inputs).connect(inputs.database, action, call)
    except LoginRefused:
        raise
    except LabError as error:
        if f'database "{inputs.database}" does not exist' in str(error):
            raise DatabaseNotFound(str(error)) from error
        raise


def _server(inputs: Table) -> PostgresServer:
    return PostgresServer(
        inputs.host, inputs.port, inputs.user, inputs.credentials, inputs.external is True, inputs.authority
    )


def _action(inputs: Table, verb: str) -> str:
    return f"{verb} table {SCHEMA}.{inputs.name} in database {inputs.database}"


def _table_identifier(inputs: Table) -> sql.Identifier:
    return sql.Identifier(SCHEMA, inputs.name)


def _column_definition(column: Column) -> sql.Composed:
    # A type has parameters and spaces and cannot be quoted; it comes from the program, not from a client.
    parts = [sql.Identifier(column.name), sql.SQL(column.type)]
    return sql.SQL(" ").join([*parts, *([sql.SQL("NOT NULL")] if column.required else [])])


def _create_statement(inputs: Table) -> sql.Composed:
    parts = [_column_definition(column) for column in inputs.columns]
    if inputs.primary_key:
        parts.append(_primary_key(inputs))
    return sql.SQL("CREATE TABLE IF NOT EXISTS {} ({})").format(_table_identifier(inputs), sql.SQL(", ").join(parts))


def _primary_key(inputs: Table) -> sql.Composed:
    return sql.SQL("PRIMARY KEY ({})").format(sql.SQL(", ").join(map(sql.Identifier, inputs.primary_key)))


def _read_table(connection: Connection, inputs: Table) -> Table | None:
    """Return the actual table, limited to declared columns, with equivalent types spelled as declared."""
    there = _columns(connection, inputs)
    if there is None:
        return None
    canonical = _canonical_types(connection, inputs)
    table = _table_oid(connection, inputs)
    columns = []
    for wanted in inputs.columns:
        if found := there.get(wanted.name):
            same = found.type == canonical[wanted.name]
            required = wanted.required if wanted.name in inputs.primary_key else found.required
            columns.append(Column(name=wanted.name, type=wanted.type if same else found.type, required=required))
    key = tuple(str(name) for (name,) in connection.execute(_PRIMARY_KEY, {"table": table}))
    identity = connection.execute("SELECT relreplident FROM pg_class WHERE oid = %s", (table,)).fetchone()
    changes = {
        "columns": tuple(columns),
        "primary_key": key,
        "replica_identity": _IDENTITIES[identity[0]] if identity else inputs.replica_identity,
    }
    return inputs.model_copy(update=changes)


def _table_oid(connection: Connection, inputs: Table) -> int | None:
    query = "SELECT to_regclass(%s)::oid"
    row = connection.execute(query, (_table_identifier(inputs).as_string(connection),)).fetchone()
    return int(row[0]) if row and row[0] is not None else None


def _columns(connection: Connection, inputs: Table) -> dict[str, Column] | None:
    """Return all columns by name with the server's type names; None if the table does not exist."""
    table = _table_oid(connection, inputs)
    if table is None:
        return None
    rows = connection.execute(_COLUMNS, (table,)).fetchall()
    return {name: Column(name=name, type=kind, required=required) for name, kind, required in rows}


def _canonical_types(connection: Connection, inputs: Table) -> dict[str, str]:
    """Return the server's names of the declared types: `timestamp(3) without time zone` for `timestamp(3)`."""
    probe = sql.Identifier("labkit_probe")
    parts = sql.SQL(", ").join(_column_definition(column) for column in inputs.columns)
    connection.execute(sql.SQL("CREATE TEMPORARY TABLE {} ({})").format(probe, parts))
    rows = connection.execute(_COLUMNS.replace("%s", "'pg_temp.labkit_probe'::regclass")).fetchall()
    connection.execute(sql.SQL("DROP TABLE {}").format(sql.SQL("pg_temp.labkit_probe")))
    return {name: kind for name, kind, _ in rows}


def _reconcile(connection: Connection, inputs: Table, dropped: list[str]) -> None:
    """Add missing columns and constraints.

    Raises:
        LabError: the change would drop or retype a column.
    """
    there = _columns(connection, inputs) or {}
    _reject_data_loss(inputs, there, _canonical_types(connection, inputs), dropped)
    before = _read_table(connection, inputs)
    if before and before.primary_key and before.primary_key != inputs.primary_key:
        raise _rejection(
            inputs,
            f"its primary key is ({', '.join(before.primary_key)}), not ({', '.join(inputs.primary_key)}), and "
            "consumers of its changes rely on it: drop the constraint by hand, then run `pulumi up`",
        )
    for column in inputs.columns:
        found = there.get(column.name)
        if found is None:
            _alter(connection, inputs, sql.SQL("ADD COLUMN {}").format(_column_definition(column)))
        elif found.required != (column.required or column.name in inputs.primary_key):
            change = "SET NOT NULL" if not found.required else "DROP NOT NULL"
            _alter(connection, inputs, sql.SQL("ALTER COLUMN {} " + change).format(sql.Identifier(column.name)))
    if before and not before.primary_key and inputs.primary_key:
        _alter(connection, inputs, sql.SQL("ADD {}").format(_primary_key(inputs)))
    if before and before.replica_identity != inputs.replica_identity:
        _alter(connection, inputs, sql.SQL(f"REPLICA IDENTITY {inputs.replica_identity.upper()}"))


def _reject_data_loss(inputs: Table, there: dict[str, Column], canonical: dict[str, str], dropped: list[str]) -> None:
    by_hand = f"ALTER TABLE {SCHEMA}.{inputs.name}"
    for name in dropped:
        if name in there:
            raise _rejection(
                inputs,
                f"column {name} is no longer declared, and dropping it would lose its data. To drop it: "
                f"{by_hand} DROP COLUMN {name}; then pulumi up. To keep it, declare it again",
            )
    for column in inputs.columns:
        found = there.get(column.name)
        if found and found.type != canonical[column.name]:
            raise _rejection(
                inputs,
                f"column {column.name} is {found.type}, declared as {column.type}; the change may lose data and "
                f"break consumers of its changes. To retype it: {by_hand} ALTER COLUMN {column.name} TYPE "
                f"{column.type}; then pulumi up --refresh. Safer: add a column with another name",
            )


def _rejection(inputs: Table, cause: str) -> LabError:
    return LabError(f"could not {_action(inputs, 'change')} at {_server(inputs)}: {cause}")


def _alter(connection: Connection, inputs: Table, change: sql.Composable) -> None:
    connection.execute(sql.SQL("ALTER TABLE {} {}").format(_table_identifier(inputs), change))
