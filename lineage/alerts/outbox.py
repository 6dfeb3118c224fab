# SPDX-License-Identifier: Apache-2.0
"""Durable state of the webhooks: alerts that were sent, and messages that wait for their delivery.

Both change in one transaction, so that a crash neither loses a message nor sends the alert once more. A message is sent
again if the service ends between its delivery and the note of it: at-least-once.
"""

import json
import sqlite3
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from lineage.alerts.webhook import Change, Webhook, changes_between, messages
from lineage.events.ids import JsonObject

FILE = "webhooks.sqlite"
"""Name of the file in the data directory."""

_SCHEMA = """
CREATE TABLE IF NOT EXISTS state (only INTEGER PRIMARY KEY CHECK (only = 1));
CREATE TABLE IF NOT EXISTS alerts (id TEXT PRIMARY KEY, body TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS messages (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    webhook TEXT NOT NULL,
    body BLOB NOT NULL,
    created REAL NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    due REAL NOT NULL
);
CREATE INDEX IF NOT EXISTS messages_by_webhook ON messages (webhook, number);
"""


class OutboxError(Exception):
    """The file cannot be read or written; the message says why."""


class Message(NamedTuple):
    """Message that waits; times in seconds since 1970. `attempts` is the number of those that failed."""

    number: int
    body: bytes
    created: float
    attempts: int
    due: float

    @property
    def id(self) -> str:
        """Return the id that is the same for every attempt."""
        return f"msg_{self.number}_{int(self.created * 1000)}"


class Outbox:
    """Alerts and messages for webhooks in a file of SQLite. Thread-safe; every call may block.

    Raises:
        OutboxError: from every method.
    """

    def __init__(self, folder: Path, webhooks: Sequence[Webhook]) -> None:
        """Open the file, or make it. Messages of webhooks that are gone are removed."""
        self._path = folder / FILE
        self.webhooks = webhooks
        self._lock = threading.Lock()
        try:
            self._connection = sqlite3.connect(self._path, isolation_level=None, check_same_thread=False)
            self._path.chmod(0o600)
            self._connection.execute("PRAGMA journal_mode=WAL")
            self._connection.executescript(_SCHEMA)
            names = [webhook.name for webhook in webhooks]
            marks = ",".join("?" * len(names))
            self._connection.execute(f"DELETE FROM messages WHERE webhook NOT IN ({marks})", names)
        except (sqlite3.Error, OSError) as error:
            raise self._error(error) from error

    def update(self, alerts: Iterable[JsonObject], now: int) -> int:
        """Store the current alerts at `now` (ns), and messages about what changed; return the number of new messages.

        The first alerts ever are stored without a message: they may be years old.
        """
        current = list(alerts)
        with self._lock:
            try:
                known = [json.loads(body) for (body,) in self._connection.execute("SELECT body FROM alerts")]
                is_first = self._connection.execute("SELECT 1 FROM state").fetchone() is None
                changes = changes_between(known, current)
                if not changes and not is_first:
                    return 0
                new = [] if is_first else self._new_messages(changes, now)
                self._connection.execute("BEGIN IMMEDIATE")
                try:
                    self._connection.execute("INSERT OR IGNORE INTO state VALUES (1)")
                    self._connection.execute("DELETE FROM alerts")
                    rows = [(alert["id"], json.dumps(alert)) for alert in current]
                    self._connection.executemany("INSERT OR IGNORE INTO alerts VALUES (?, ?)", rows)
                    columns = "webhook, body, created, due"
                    self._connection.executemany(f"INSERT INTO messages ({columns}) VALUES (?, ?, ?, ?)", new)
                    self._connection.execute("COMMIT")
                except BaseException:
                    self._connection.execute("ROLLBACK")
                    raise
            except (sqlite3.Error, ValueError) as error:
                raise self._error(error) from error
            return len(new)

    def raised(self) -> frozenset[str]:
        """Return the ids of the alerts that were current at the last update."""
        return frozenset(name for (name,) in self._execute("SELECT id FROM alerts", ()))

    def next(self, webhook: str) -> Message | None:
        """Return the oldest message that waits for a webhook."""
        query = "SELECT number, body, created, attempts, due FROM messages WHERE webhook = ? ORDER BY number LIMIT 1"
        rows = self._execute(query, (webhook,))
        return Message(*rows[0]) if rows else None

    def remove(self, number: int) -> None:
        """Remove a message that was delivered, or given up."""
        self._execute("DELETE FROM messages WHERE number = ?", (number,))

    def postpone(self, number: int, due: float) -> None:
        """Note a failed attempt, and when to try again (seconds since 1970)."""
        self._execute("UPDATE messages SET attempts = attempts + 1, due = ? WHERE number = ?", (due, number))

    def waiting(self, webhook: str) -> int:
        """Return the number of messages that wait for a webhook."""
        count: int = self._execute("SELECT count(*) FROM messages WHERE webhook = ?", (webhook,))[0][0]
        return count

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    def _new_messages(self, changes: Sequence[Change], now: int) -> list[tuple[str, bytes, float, float]]:
        seconds = now / 1e9
        return [
            (webhook.name, body, seconds, seconds)
            for webhook in self.webhooks
            for body in messages(webhook, changes, now)
        ]

    def _execute(self, statement: str, values: tuple[object, ...]) -> list[tuple[Any, ...]]:
        with self._lock:
            try:
                return self._connection.execute(statement, values).fetchall()
            except sqlite3.Error as error:
                raise self._error(error) from error

    def _error(self, error: Exception) -> OutboxError:
        return OutboxError(f"the messages to webhooks in {self._path} cannot be used: {error}")
