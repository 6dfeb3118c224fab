# SPDX-License-Identifier: Apache-2.0
"""Waits for events that another instance stores: by LISTEN, and by polling while that is impossible."""

import logging
from threading import Event as Signal

import psycopg

from lineage.store.errors import StoreError
from lineage.store.postgres.address import PostgresAddress
from lineage.store.postgres.connections import Connection, connect
from lineage.store.postgres.sql import CHANNEL

logger = logging.getLogger(__name__)


class Listener:
    """Connection that listens; opened at the first wait, and again after it broke. For one thread at a time."""

    def __init__(self, address: PostgresAddress) -> None:
        self._address = address
        self._connection: Connection | None = None
        self._closing = Signal()

    def wait(self, seconds: float) -> None:
        """Return after the next notification, after `seconds`, or soon after `close`.

        The first call returns at once: events that are stored before it would not be noticed.
        """
        try:
            if self._connection is None:
                self._connection = connect(self._address, "listener")
                self._connection.execute(f"LISTEN {CHANNEL}")
                return
            for _ in self._connection.notifies(timeout=seconds, stop_after=1):
                pass
        except (psycopg.Error, StoreError) as error:
            logger.warning("cannot listen for events, polling instead: %s", " ".join(str(error).split()))
            self._drop()
            self._closing.wait(seconds)

    def close(self) -> None:
        """Close the connection; call it when no thread waits any more."""
        self._closing.set()
        self._drop()

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()
