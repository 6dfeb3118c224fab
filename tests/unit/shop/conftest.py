# SPDX-License-Identifier: Apache-2.0
"""One Postgres per module, with empty shop tables for each test."""

import pytest

from infra.toolchain import Artifacts
from tests.unit.shop.postgres_server import TABLES, PostgresServer


@pytest.fixture(scope="module")
def running_server(tmp_path_factory):
    if not Artifacts.open().has("postgres"):
        pytest.skip("component postgres is not installed; run bin/lab setup")
    server = PostgresServer(tmp_path_factory.mktemp("postgres"))
    server.start()
    yield server
    server.stop()


@pytest.fixture
def server(running_server):
    """Provide the server with empty shop tables."""
    running_server.make_shop(**TABLES)
    return running_server
