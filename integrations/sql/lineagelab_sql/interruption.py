# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C during a statement. DuckDB polls for signals rarely, and on a busy machine not at all."""

import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import duckdb


@contextmanager
def interrupted_by_sigint(connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Interrupt what runs on a connection as soon as the process gets SIGINT. For the main thread.

    Raises:
        KeyboardInterrupt: at the end, if the signal came.
    """
    received = threading.Event()
    reading, writing = socket.socketpair()
    writing.setblocking(False)
    # The signal's own exception could be raised anywhere below; this one is raised once everything is restored.
    handler = signal.signal(signal.SIGINT, lambda *_: received.set())
    descriptor = signal.set_wakeup_fd(writing.fileno(), warn_on_full_buffer=False)
    watcher = threading.Thread(target=_watch, args=(reading, connection), name="SIGINT", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(descriptor)
        writing.close()  # ends the watcher
        watcher.join()
        reading.close()
        signal.signal(signal.SIGINT, handler)
        if received.is_set():
            raise KeyboardInterrupt


def _watch(reading: socket.socket, connection: duckdb.DuckDBPyConnection) -> None:
    """Wait for the numbers of received signals."""
    while received := reading.recv(1):
        if received[0] == signal.SIGINT:
            connection.interrupt()
