# SPDX-License-Identifier: Apache-2.0
"""Connection of the state file that is always in a transaction, between two checkpoints."""

import logging
import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from lineage.store.errors import StoreError

logger = logging.getLogger(__name__)


class StateConnection(sqlite3.Connection):
    """Connection whose changes are committed by `checkpoint` only.

    SQLite rolls back a whole transaction where the disk is full, or fails. What follows must not be committed then,
    since it builds on what was lost: `has_lost_changes`, and the file stays as of its last checkpoint.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path, isolation_level=None, check_same_thread=False)
        self.has_lost_changes = False
        self._began = False
        # Requests read with this connection at any time, and no WAL can be moved into the file during a read.
        self._mover = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=0)

    def begin(self) -> None:
        """Begin the first transaction."""
        super().execute("BEGIN")
        self._began = True

    def checkpoint(self) -> None:
        """Commit all changes, and begin the next transaction.

        Raises:
            sqlite3.Error: the changes were lost.
            StoreError: they were lost before.
        """
        self.check_changes()
        try:
            super().execute("COMMIT")
        except sqlite3.Error:
            self.roll_back()
            raise
        try:
            self._mover.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        except sqlite3.Error:
            logger.warning("the WAL of the state file stays until the next checkpoint", exc_info=True)
        finally:
            super().execute("BEGIN")

    def check_changes(self) -> None:
        """Check that no changes were lost.

        Raises:
            StoreError: some were.
        """
        if self.has_lost_changes:
            raise StoreError("changes of the state file were lost; it is made again from the log")

    def roll_back(self) -> None:
        """Lose all changes since the last checkpoint; this connection commits nothing any more."""
        self.has_lost_changes = True
        if self.in_transaction:
            super().execute("ROLLBACK")
        super().execute("BEGIN")

    def execute(self, sql: str, parameters: "sqlite3._Parameters" = (), /) -> sqlite3.Cursor:
        """Execute a statement; note if its error has ended the transaction."""
        try:
            return super().execute(sql, parameters)
        except sqlite3.Error:
            self._check_transaction()
            raise

    def executemany(self, sql: str, parameters: Iterable[Any], /) -> sqlite3.Cursor:
        """Execute a statement for each of some parameters; note if its error has ended the transaction."""
        try:
            return super().executemany(sql, parameters)
        except sqlite3.Error:
            self._check_transaction()
            raise

    def close(self) -> None:
        """Close the file; changes since the last checkpoint are lost."""
        self._mover.close()
        super().close()

    def _check_transaction(self) -> None:
        if self._began and not self.in_transaction:
            self.roll_back()
