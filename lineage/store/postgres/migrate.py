# SPDX-License-Identifier: Apache-2.0
"""Migration of a database to the current version by Alembic: one instance at a time, in one transaction."""

import logging
from pathlib import Path

import psycopg
from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine, pool, text

from lineage.store.errors import StoreUnusable
from lineage.store.postgres.address import PostgresAddress
from lineage.store.postgres.connections import connect
from lineage.store.postgres.sql import LOCK_MIGRATIONS, SCHEMA, UNLOCK_MIGRATIONS

_SCRIPTS = Path(__file__).parent / "migrations"

MINIMUM_VERSION = 14
"""First version of Postgres with `idle_session_timeout`."""


def migrate(address: PostgresAddress) -> None:
    """Create the tables, or migrate those of an older version.

    Raises:
        StoreError: the server cannot be reached, or rejects the login.
        StoreUnusable: the tables are of a newer version, the server is too old, or the role may not create them.
    """
    with connect(address, "migration") as lock:
        if lock.info.server_version < MINIMUM_VERSION * 10_000:
            version = lock.info.parameter_status("server_version")
            raise StoreUnusable(f"the store {address} is Postgres {version}; {MINIMUM_VERSION} or later is required")
        lock.execute(LOCK_MIGRATIONS)
        try:
            if lock.execute("SELECT to_regnamespace(%s)", (SCHEMA,)).fetchone() == (None,):
                lock.execute(f"CREATE SCHEMA {SCHEMA}")
            _upgrade(address)
        except psycopg.errors.InsufficientPrivilege as error:
            raise StoreUnusable(
                f"cannot make the tables of the store {address}: {error}; let the role own the database,"
                f" or create schema {SCHEMA} with the role as its owner"
            ) from error
        finally:
            if not lock.closed:
                lock.execute(UNLOCK_MIGRATIONS)


def _upgrade(address: PostgresAddress) -> None:
    # Alembic would log two lines at every start.
    logging.getLogger("alembic.runtime.migration").setLevel(logging.WARNING)
    config = Config()
    config.set_main_option("script_location", str(_SCRIPTS).replace("%", "%%"))
    known = {revision.revision for revision in ScriptDirectory.from_config(config).walk_revisions()}
    engine = create_engine("postgresql+psycopg://", creator=lambda: _manual(address), poolclass=pool.NullPool)
    with engine.begin() as connection:
        connection.execute(text(f"SET LOCAL search_path = {SCHEMA}"))
        context = MigrationContext.configure(connection, opts={"version_table_schema": SCHEMA})
        if found := set(context.get_current_heads()) - known:
            raise StoreUnusable(
                f"the store {address} has schema {', '.join(sorted(found))}, which this service does not know;"
                " use the newer service"
            )
        config.attributes["connection"] = connection
        command.upgrade(config, "head")


def _manual(address: PostgresAddress) -> psycopg.Connection[tuple[object, ...]]:
    connection = connect(address, "migration")
    connection.autocommit = False
    return connection
