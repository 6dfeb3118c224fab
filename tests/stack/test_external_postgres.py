# SPDX-License-Identifier: Apache-2.0
"""Checks of an existing Postgres, and databases and tables in it, on a real server."""

import psycopg
import pytest

from infra import credentials
from infra.errors import LabError
from infra.model import Database, ExternalPostgres, Table
from infra.provider.external_service import REFUSED
from infra.provider.kind import OperationContext
from infra.provider.kinds.database import DatabaseKind
from infra.provider.kinds.external_postgres import ExternalPostgresKind
from infra.provider.kinds.table import TableKind
from infra.toolchain import Artifacts
from tests.unit.shop.postgres_server import PostgresServer

pytestmark = [
    pytest.mark.stack,
    pytest.mark.skipif(not Artifacts.open().has("postgres"), reason="no Postgres is pinned for this platform"),
]

KIND = ExternalPostgresKind()
ROLE, SLOT = "lab", "orders_source"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    running = PostgresServer(tmp_path_factory.mktemp("postgres"))
    running.start()
    yield running
    running.stop()


@pytest.fixture
def role(server, tmp_path):
    """Return a function that creates the role with some rights and returns the file with its password."""
    made = []

    def make(rights="CREATEDB REPLICATION"):
        server.query(f"CREATE ROLE {ROLE} LOGIN {rights} PASSWORD 'p'", "postgres")
        made.append(ROLE)
        path = tmp_path / "credentials.env"
        credentials.write(path, credentials.render({credentials.POSTGRES_PASSWORD: "p"}))
        return str(path)

    yield make
    for name in ("shop", "theirs"):
        server.query(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)", "postgres")
    for name in made:
        server.query(f"DROP ROLE {name}", "postgres")


@pytest.fixture
def place(server):
    return {"host": "127.0.0.1", "port": server.port, "user": ROLE}


@pytest.fixture
def inputs(place, role):
    """Return a function that returns the inputs of the check."""

    def make(path=None):
        own = {"maintenance": "postgres", "captured": "shop", "slot": SLOT}
        return ExternalPostgres(name="postgres", credentials=path or role(), **place, **own)

    return make


def test_a_server_with_logical_decoding_and_a_role_with_replication_are_accepted(inputs):
    accepted = inputs()
    assert KIND.create(accepted, OperationContext()) == {}
    assert KIND.read(accepted, OperationContext()).inputs == accepted


def test_a_role_without_replication_is_named_with_the_statement(inputs, role):
    with pytest.raises(LabError, match=r'role lab may not read changes. .*: ALTER ROLE "lab" REPLICATION'):
        KIND.create(inputs(role("CREATEDB")), OperationContext())


def test_a_wrong_password_is_an_error_and_drift_on_refresh(inputs, role, tmp_path):
    role()
    wrong = tmp_path / "wrong.env"
    credentials.write(wrong, credentials.render({credentials.POSTGRES_PASSWORD: "wrong"}))
    refused = inputs(str(wrong))
    with pytest.raises(
        LabError, match=r"externalPostgres\): it rejects the password of role lab.*set LINEAGE_LAB_POST"
    ):
        KIND.create(refused, OperationContext())
    assert KIND.read(refused, OperationContext()).inputs.fingerprint == REFUSED


def test_a_slot_of_another_lab_is_refused_with_the_statement_that_removes_it(inputs, server):
    server.query(f"SELECT pg_create_logical_replication_slot('{SLOT}', 'pgoutput')", "postgres")
    try:
        with pytest.raises(LabError, match=rf"pg_drop_replication_slot\('{SLOT}'\)"):
            KIND.create(inputs(), OperationContext())
    finally:
        server.query(f"SELECT pg_drop_replication_slot('{SLOT}')", "postgres")


def test_slot_and_publication_are_removed_in_a_database_that_stays(inputs, server):
    known = inputs()
    server.query(f"CREATE DATABASE shop OWNER {ROLE}", "postgres")
    server.query(f"SELECT pg_create_logical_replication_slot('{SLOT}', 'pgoutput')")
    login = {"host": known.host, "port": known.port, "user": ROLE, "password": "p", "dbname": "shop"}
    with psycopg.connect(**login, autocommit=True) as connection:
        connection.execute("CREATE TABLE orders (id int)")
        connection.execute(f"CREATE PUBLICATION {SLOT} FOR TABLE orders")
    notes = []
    KIND.delete(known, OperationContext(note=notes.append))
    assert server.query("SELECT * FROM pg_replication_slots") == []
    assert server.query("SELECT * FROM pg_publication") == []
    assert len(notes) == 1
    KIND.delete(known, OperationContext())


def test_databases_and_tables_that_exist_are_adopted_without_the_right_to_create_them(role, place, server):
    path = role("REPLICATION")
    server.query(f"CREATE DATABASE shop OWNER {ROLE}", "postgres")
    server.query(f"CREATE DATABASE theirs OWNER {ROLE}", "postgres")
    database = Database(name="shop", credentials=path, maintenance="postgres", external=True, **place)
    assert DatabaseKind().create(database, OperationContext()) == {"adopted": True}
    with pytest.raises(LabError, match=r"permission denied to create database. To continue: give role lab that right"):
        DatabaseKind().create(database.model_copy(update={"name": "missing"}), OperationContext())
    table = Table(
        name="orders",
        credentials=path,
        database="shop",
        columns=({"name": "id", "type": "text"},),
        external=True,
        **place,
    )
    assert TableKind().create(table, OperationContext()) == {"adopted": False}
    assert TableKind().create(table, OperationContext()) == {"adopted": True}
    TableKind().delete(table, OperationContext(outputs={"adopted": True}))
    assert TableKind().read(table, OperationContext()).outputs == {"adopted": True}
    TableKind().delete(table, OperationContext(outputs={"adopted": False}))
    assert TableKind().read(table, OperationContext()) is None


def test_a_server_without_logical_decoding_is_refused_with_the_setting(inputs, server):
    """Last, because it restarts the server."""
    server.query("ALTER SYSTEM SET wal_level = 'replica'", "postgres")
    server.stop()
    server.start()
    with pytest.raises(LabError, match=r"wal_level is replica.*ALTER SYSTEM SET wal_level = 'logical', then restart"):
        KIND.create(inputs(), OperationContext())
