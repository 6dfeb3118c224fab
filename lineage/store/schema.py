# SPDX-License-Identifier: Apache-2.0
"""Tables of the log, and migrations from older versions.

Each migration runs in one transaction with its version number: a service killed during a migration finds the old
file. New files go through all migrations, so that new and migrated files are equal.
"""

import sqlite3
from pathlib import Path

from lineage.store.errors import StoreUnusable
from lineage.store.packed_ids import packed_id

_MIGRATIONS = (
    # 1: every accepted event, deduplicated.
    """
    CREATE TABLE events (
        seq INTEGER PRIMARY KEY,
        hash BLOB NOT NULL UNIQUE,   -- SHA-256 of body
        kind TEXT NOT NULL,          -- run, job, dataset
        event_time INTEGER NOT NULL, -- nanoseconds since the epoch
        received_at INTEGER NOT NULL,
        body BLOB NOT NULL           -- canonical JSON, UTF-8
    ) STRICT;
    CREATE INDEX events_by_time ON events (kind, event_time, hash);
    """,
    # 2: retention. AUTOINCREMENT: numbers of removed events must not be reused; readers store them as positions.
    """
    CREATE TABLE kept (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        hash BLOB NOT NULL UNIQUE,
        kind TEXT NOT NULL,
        event_time INTEGER NOT NULL,
        received_at INTEGER NOT NULL,
        body BLOB NOT NULL
    ) STRICT;
    INSERT INTO kept SELECT seq, hash, kind, event_time, received_at, body FROM events ORDER BY seq;
    DROP TABLE events;
    ALTER TABLE kept RENAME TO events;
    CREATE INDEX events_by_time ON events (event_time, hash);

    CREATE TABLE compacted (hash BLOB PRIMARY KEY) STRICT, WITHOUT ROWID; -- events whose meaning is in snapshots
    CREATE TABLE snapshots (
        kind TEXT NOT NULL,          -- job, run, dataset, namespace
        key TEXT NOT NULL,           -- identity of the subject, canonical JSON
        body BLOB NOT NULL,          -- its record, zlib of canonical JSON
        PRIMARY KEY (kind, key)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE retention (
        one INTEGER PRIMARY KEY CHECK (one = 1),
        known_since INTEGER NOT NULL -- event time of the last removed event, nanoseconds
    ) STRICT;

    CREATE TABLE dead_letters (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        kind TEXT NOT NULL,          -- fold, damaged, forward
        hash BLOB NOT NULL,
        error TEXT NOT NULL,
        parked_at INTEGER NOT NULL,
        UNIQUE (kind, hash)
    ) STRICT;
    CREATE TABLE positions (name TEXT PRIMARY KEY, seq INTEGER NOT NULL) STRICT, WITHOUT ROWID;
    """,
    # 3: originals. Before, body was the event under canonical names, whose hash stays its key.
    """
    CREATE TABLE originals (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        hash BLOB NOT NULL UNIQUE,    -- SHA-256 of the canonical JSON of the event
        kind TEXT NOT NULL,           -- run, job, dataset
        event_time INTEGER NOT NULL,  -- effective time, nanoseconds since the epoch
        received_at INTEGER NOT NULL, -- first acceptance
        run TEXT                      -- UUID of a run event's run, lower case
    ) STRICT;
    CREATE TABLE bodies (             -- events that are in no segment yet
        seq INTEGER PRIMARY KEY,
        body BLOB NOT NULL            -- the event as it came, zstd; uncompressed where migrated
    ) STRICT;
    CREATE TABLE offsets (            -- of Kafka topics that events are read from
        topic TEXT NOT NULL,
        partition INTEGER NOT NULL,
        next INTEGER NOT NULL,        -- offset of the next record
        PRIMARY KEY (topic, partition)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE segments (           -- events `first` to `last`, compressed together
        first INTEGER PRIMARY KEY,
        last INTEGER NOT NULL,
        body BLOB NOT NULL            -- zstd of MessagePack: number of the event -> the event as it came
    ) STRICT;
    INSERT INTO originals SELECT seq, hash, kind, min(event_time, received_at + 300000000000), received_at,
        CASE WHEN json_valid(CAST(body AS TEXT)) THEN lower(json_extract(CAST(body AS TEXT), '$.run.runId')) END
        FROM events ORDER BY seq;
    INSERT INTO bodies SELECT seq, body FROM events ORDER BY seq;
    DROP TABLE events;
    ALTER TABLE originals RENAME TO events;
    CREATE INDEX events_by_time ON events (event_time, hash);
    CREATE INDEX events_by_run ON events (run, event_time) WHERE run IS NOT NULL;
    """,
    # 4: bodies of refused terminal events, zstd; null for events of the log.
    "ALTER TABLE dead_letters ADD COLUMN body BLOB;",
    # 5: number of the last compacted event. Older files did not store it: for them, that of the last event.
    """
    ALTER TABLE retention ADD COLUMN through INTEGER NOT NULL DEFAULT 0;
    UPDATE retention SET through = (SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'events');
    """,
    # 6: retention of namespaces. Events of older files have none, and the longest retention of all.
    """
    CREATE TABLE namespaces (number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
    ALTER TABLE events ADD COLUMN namespace INTEGER; -- of the job; of the dataset, if the event has no job
    CREATE INDEX events_by_namespace ON events (namespace, event_time) WHERE namespace IS NOT NULL;
    """,
    # 7: small rows. UUIDs in 16 bytes; no hash and no time in indexes that few rows share a key of.
    """
    CREATE TABLE packed (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        hash BLOB NOT NULL UNIQUE,    -- SHA-256 of the canonical JSON of the event
        kind TEXT NOT NULL,           -- run, job, dataset
        event_time INTEGER NOT NULL,  -- effective time, nanoseconds since the epoch
        received_at INTEGER NOT NULL, -- first acceptance
        run ANY,                      -- run of a run event, see `packed_ids`
        namespace INTEGER             -- of the job; of the dataset, if the event has no job
    ) STRICT;
    INSERT INTO packed SELECT seq, hash, kind, event_time, received_at, packed_id(run), namespace
        FROM events ORDER BY seq;
    DELETE FROM sqlite_sequence WHERE name = 'packed';
    INSERT INTO sqlite_sequence SELECT 'packed', seq FROM sqlite_sequence WHERE name = 'events';
    DROP TABLE events;
    ALTER TABLE packed RENAME TO events;
    CREATE INDEX events_by_time ON events (event_time);
    CREATE INDEX events_by_run ON events (run) WHERE run IS NOT NULL;
    CREATE INDEX events_by_namespace ON events (namespace, event_time) WHERE namespace IS NOT NULL;
    """,
)
_INCREMENTAL = 2
SCHEMA_VERSION = len(_MIGRATIONS)


def migrate(connection: sqlite3.Connection, path: Path) -> None:
    """Migrate a file to the current version; create the tables of an empty one.

    Raises:
        StoreUnusable: the file is of a newer version, or of another program.
        sqlite3.Error: the file is damaged, or the disk is full.
    """
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    if version > SCHEMA_VERSION:
        raise StoreUnusable(
            f"{path} has schema {version}, this service supports {SCHEMA_VERSION}; use the newer service"
        )
    if version == 0 and connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        raise StoreUnusable(f"{path} is a database of another program; choose another data directory")
    if connection.execute("PRAGMA auto_vacuum").fetchone()[0] != _INCREMENTAL:
        # File of version 1: only a VACUUM enables incremental shrinking.
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        connection.execute("VACUUM")
    connection.create_function("packed_id", 1, lambda run: None if run is None else packed_id(run), deterministic=True)
    for number, script in enumerate(_MIGRATIONS[version:], start=version + 1):
        connection.executescript(f"BEGIN IMMEDIATE; {script} PRAGMA user_version = {number}; COMMIT;")
