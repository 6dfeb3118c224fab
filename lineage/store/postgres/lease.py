# SPDX-License-Identifier: Apache-2.0
"""Lease of the writing instance: an advisory lock of its session, and a fencing number that each write verifies.

The server releases the lock with the session: when the instance ends, cannot be reached, or stops for longer than
`SILENCE_SECONDS` of `lineage.store.postgres.connections`. The number also fences a session that lost the lock, as
behind a pooler, or by an administrator.
"""

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Event as Signal
from threading import Lock, Thread

import psycopg

from lineage.store.errors import NotWriter, StoreError
from lineage.store.postgres import connections, sql
from lineage.store.postgres.address import PostgresAddress
from lineage.store.postgres.connections import Connection, connect, expire_when_silent, store_error

logger = logging.getLogger(__name__)


HEARTBEATS = 5
"""Heartbeats within the time after which the server ends a silent session."""


class WriterLease:
    """Lease of one instance, and the connection that it writes with. Thread-safe.

    `instance` is the name that other instances show, `holder` that of the writing one, as far as it is known, `epoch`
    the fencing number. An instance that has taken the lease `writes` once it is activated, so that it can first read
    what others have stored.
    """

    def __init__(self, address: PostgresAddress, instance: str) -> None:
        self.instance = instance
        self.holder = ""
        self._address = address
        self._connection: Connection | None = None
        self.epoch = 0
        self._active = False
        self._lock = Lock()
        self._given_up = Signal()

    @property
    def writes(self) -> bool:
        """Return whether this instance is the writing one, as far as it knows."""
        connection = self._connection
        return self._active and connection is not None and not connection.closed

    def take(self) -> bool:
        """Take the lease if it is free; return whether this instance has it.

        Raises:
            StoreError: the server cannot be reached.
        """
        with self._lock:
            if self._connection is not None:
                return True
            connection = connect(self._address, "writer")
            try:
                taken = connection.execute(sql.TRY_LEASE).fetchone() == (True,)
                if taken:
                    expire_when_silent(connection)
                    row = connection.execute(sql.TAKE_OVER, (self.instance, time.time_ns())).fetchone()
                    assert row is not None
                    self.epoch, self._connection, self.holder = int(str(row[0])), connection, self.instance
                    logger.info("%s has lease number %d of the store", self.instance, self.epoch)
            except psycopg.Error as error:
                connection.close()
                raise store_error(self._address, "take the lease of", error) from error
            if taken:
                self._start_heartbeat(connection)
            else:
                connection.close()
            return bool(taken)

    def activate(self) -> None:
        """Allow writing with the lease."""
        self._active = True

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Run a transaction that is committed to disk at the end of the block, or rolled back if it fails.

        It verifies the lease; without it nothing can be written.

        Raises:
            NotWriter: another instance writes.
            StoreFull: no space left.
            StoreError: writing failed otherwise; where the connection broke, the transaction may have been committed.
        """
        if not self._active:
            raise self.not_writer()
        with self._transaction() as connection:
            yield connection

    @contextmanager
    def _transaction(self) -> Iterator[Connection]:
        with self._lock:
            connection = self._connection
            if connection is None:
                raise self.not_writer()
            try:
                with connection.transaction():
                    if connection.execute(sql.CHECK_LEASE, (self.epoch,)).fetchone() is None:
                        raise NotWriter(f"the lease of the store {self._address} was taken over; send this again")
                    yield connection
            except psycopg.Error as error:
                if connection.closed:
                    self._lose()
                raise store_error(self._address, "write to", error) from error
            except NotWriter:
                self._lose()
                raise

    def not_writer(self) -> NotWriter:
        """Return the error about a write to an instance that only reads."""
        holder = self.holder if self.holder not in ("", self.instance) else "not known yet"
        return NotWriter(f"this instance, {self.instance}, only reads; the writing instance is {holder}")

    def give_up(self) -> None:
        """Give the lease up, so that another instance can take it."""
        with self._lock:
            self._lose()

    def _start_heartbeat(self, connection: Connection) -> None:
        """Verify the lease regularly in a thread, whatever the event loop does, as long as it is on this connection."""
        self._given_up = stopped = Signal()
        interval = connections.SILENCE_SECONDS / HEARTBEATS

        def beat() -> None:
            while not stopped.wait(interval) and self._connection is connection:
                try:
                    with self._transaction():
                        continue
                except StoreError as error:
                    logger.warning("%s has lost the lease of the store: %s", self.instance, error)

        Thread(target=beat, name="lease-heartbeat", daemon=True).start()

    def _lose(self) -> None:
        connection, self._connection, self._active = self._connection, None, False
        self._given_up.set()
        if connection is not None:
            with suppress(psycopg.Error):
                connection.close()
