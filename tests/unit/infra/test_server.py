# SPDX-License-Identifier: Apache-2.0
"""What is made of a Postgres that does not answer as it should."""

import socket
import threading

import pytest

from infra import credentials
from infra.errors import LabError
from infra.provider import postgres
from infra.provider.kind import Call


@pytest.fixture
def door():
    """A listening socket."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening


def server_at(door, tmp_path):
    path = tmp_path / "credentials.env"
    path.write_text(f"{credentials.POSTGRES_PASSWORD}=secret\n")
    return postgres.Server("127.0.0.1", door.getsockname()[1], "postgres", str(path))


def test_a_server_whose_port_is_open_before_it_listens_is_waited_for(door, tmp_path, monkeypatch):
    """As Docker publishes a port: whoever connects is cut off until the program in the container listens."""
    monkeypatch.setattr(postgres, "PATIENCE_SECONDS", 1)
    visits = []

    def cut_off():
        while True:
            try:
                visitor, _ = door.accept()
            except OSError:  # it was closed
                return
            visits.append(visitor)
            visitor.close()

    doorman = threading.Thread(target=cut_off)
    doorman.start()
    try:
        with pytest.raises(LabError, match=r"could not look: the Postgres at 127\.0\.0\.1:\d+ was still starting"):
            server_at(door, tmp_path).connect("shop", "look", Call())
    finally:
        door.shutdown(socket.SHUT_RDWR)
        doorman.join()
    assert len(visits) > 1
