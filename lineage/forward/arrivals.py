# SPDX-License-Identifier: Apache-2.0
"""When an event arrived, asked of the log's file.

The fold knows nothing of arrival, on purpose; a consumer that believes the last event knows nothing else.
"""

import sqlite3
from pathlib import Path
from threading import Lock


class Arrivals:
    """Numbers of stored events by their hash. Safe from any thread."""

    def __init__(self, log: Path) -> None:
        """Open the file for reading; the service that owns it has made it."""
        self._connection = sqlite3.connect(
            f"{log.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None, check_same_thread=False, timeout=30
        )
        self._lock = Lock()

    def number(self, content_hash: bytes) -> int:
        """The number under which an event arrived; 0 where it has left the log, and so came before all that is in."""
        with self._lock:
            row = self._connection.execute("SELECT seq FROM events WHERE hash = ?", (content_hash,)).fetchone()
        return row[0] if row else 0

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()
