# SPDX-License-Identifier: Apache-2.0
"""Connections to a Postgres server that is starting."""

import pytest

from infra import credentials
from infra.errors import LabError
from infra.provider import postgres
from infra.provider.kind import OperationContext


def server_at(listening_socket, tmp_path):
    path = tmp_path / "credentials.env"
    path.write_text(f"{credentials.POSTGRES_PASSWORD}=secret\n")
    return postgres.PostgresServer("127.0.0.1", listening_socket.getsockname()[1], "postgres", str(path))


def test_connect_waits_for_a_server_that_closes_connections(
    listening_socket, closed_connections, tmp_path, monkeypatch
):
    monkeypatch.setattr(postgres, "STARTUP_TIMEOUT_SECONDS", 1)
    with pytest.raises(LabError, match=r"could not look: the Postgres at 127\.0\.0\.1:\d+ was still starting"):
        server_at(listening_socket, tmp_path).connect("shop", "look", OperationContext())
    assert len(closed_connections) > 1
