# SPDX-License-Identifier: Apache-2.0
"""Fixtures: a port that closes every connection."""

import socket
import threading

import pytest


@pytest.fixture
def listening_socket():
    """Listening socket on loopback."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


@pytest.fixture
def closed_connections(listening_socket):
    """Accept and close every connection, as Docker does until the container listens; return the accepted ones."""
    accepted = []

    def close_connections():
        while True:
            try:
                connection, _ = listening_socket.accept()
            except OSError:  # the socket is closed
                return
            accepted.append(connection)
            connection.close()

    thread = threading.Thread(target=close_connections)
    thread.start()
    yield accepted
    listening_socket.shutdown(socket.SHUT_RDWR)
    thread.join()
