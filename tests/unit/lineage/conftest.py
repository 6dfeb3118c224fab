# SPDX-License-Identifier: Apache-2.0
"""Logs in SQLite and in Postgres. Tests over Postgres are skipped where the lab's Postgres is not installed."""

import pytest
from lineage_stores import Database, PostgresStore, SqliteStore

from infra.toolchain import Artifacts
from tests.unit.shop.postgres_server import PostgresServer


@pytest.fixture(scope="session")
def postgres_server(tmp_path_factory):
    if not Artifacts.open().has("postgres"):
        pytest.skip("component postgres is not installed; run bin/lab setup")
    server = PostgresServer(tmp_path_factory.mktemp("postgres"))
    server.start()
    yield server
    server.stop()


@pytest.fixture
def database(postgres_server):
    """Provide an empty database."""
    return Database(postgres_server)


@pytest.fixture
def postgres_store(tmp_path, database):
    return PostgresStore(tmp_path, database)


@pytest.fixture(params=["sqlite", "postgres"])
def store(request, tmp_path):
    """Provide an empty log of each kind."""
    return SqliteStore(tmp_path) if request.param == "sqlite" else request.getfixturevalue("postgres_store")


@pytest.fixture
def log(store):
    log = store.open()
    yield log
    log.close()
