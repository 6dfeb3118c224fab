# SPDX-License-Identifier: Apache-2.0
"""TCP relay to the API server, for tests of its outages."""

import socket
import threading
from contextlib import suppress


class Relay:
    """TCP relay to the API server, which the test can switch off and on."""

    def __init__(self, target):
        self._target = target
        self._connections = []
        self.port = free_port()
        self._server = None

    def start(self):
        self._server = socket.create_server(("127.0.0.1", self.port))
        threading.Thread(target=self._accept, args=(self._server,), daemon=True).start()

    def _accept(self, server):
        with suppress(OSError):
            while True:
                client, _ = server.accept()
                upstream = socket.create_connection(self._target)
                self._connections += [client, upstream]
                for source, destination in ((client, upstream), (upstream, client)):
                    threading.Thread(target=self._copy, args=(source, destination), daemon=True).start()

    def _copy(self, source, destination):
        with suppress(OSError):
            while data := source.recv(1 << 16):
                destination.sendall(data)
            destination.shutdown(socket.SHUT_RDWR)

    def stop(self):
        self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()
        for connection in self._connections:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            connection.close()
        self._connections = []


def free_port():
    """Return a port of the loopback interface that no process listens on."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]
