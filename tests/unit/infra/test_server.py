# SPDX-License-Identifier: Apache-2.0
"""What is made of a Postgres that does not answer as it should."""

import pytest

from infra import credentials
from infra.errors import LabError
from infra.provider import postgres
from infra.provider.kind import Call


def server_at(door, tmp_path):
    path = tmp_path / "credentials.env"
    path.write_text(f"{credentials.POSTGRES_PASSWORD}=secret\n")
    return postgres.Server("127.0.0.1", door.getsockname()[1], "postgres", str(path))


def test_a_server_whose_port_is_open_before_it_listens_is_waited_for(door, visits, tmp_path, monkeypatch):
    monkeypatch.setattr(postgres, "STARTUP_TIMEOUT_SECONDS", 1)
    with pytest.raises(LabError, match=r"could not look: the Postgres at 127\.0\.0\.1:\d+ was still starting"):
        server_at(door, tmp_path).connect("shop", "look", Call())
    assert len(visits) > 1
