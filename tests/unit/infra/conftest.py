# SPDX-License-Identifier: Apache-2.0
"""A port at which nobody answers, in the two ways in which that is so."""

import socket
import threading

import pytest


@pytest.fixture
def door():
    """A listening socket."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening


@pytest.fixture
def visits(door):
    """Whoever connects is cut off, and noted here: as Docker does until the program in a container listens."""
    found = []

    def cut_off():
        while True:
            try:
                visitor, _ = door.accept()
            except OSError:  # it was closed
                return
            found.append(visitor)
            visitor.close()

    doorman = threading.Thread(target=cut_off)
    doorman.start()
    yield found
    door.shutdown(socket.SHUT_RDWR)
    doorman.join()
