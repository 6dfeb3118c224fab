# SPDX-License-Identifier: Apache-2.0
"""Tables of the log.

Bodies are compressed already, so that Postgres stores them as they are. Keys of snapshots are compared by their bytes.
"""

from alembic import op

revision = "0001"
down_revision = None

_TABLES = """
CREATE TABLE lease (
    one smallint PRIMARY KEY CHECK (one = 1),
    epoch bigint NOT NULL,       -- fencing number: every take-over increments it
    holder text NOT NULL,        -- instance that writes, or was the last one to write
    taken_at bigint NOT NULL,    -- nanoseconds since the epoch
    log uuid NOT NULL            -- identity of the log
);
INSERT INTO lease VALUES (1, 0, '', 0, gen_random_uuid());

CREATE TABLE events (
    seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    hash bytea NOT NULL UNIQUE,  -- SHA-256 of the canonical JSON of the event
    kind text NOT NULL,          -- run, job, dataset
    event_time bigint NOT NULL,  -- effective time, nanoseconds since the epoch
    received_at bigint NOT NULL, -- first acceptance
    run text                     -- UUID of a run event's run, lower case
);
CREATE INDEX events_by_time ON events (event_time, hash);
CREATE INDEX events_by_run ON events (run, event_time) WHERE run IS NOT NULL;

CREATE TABLE bodies (            -- events that are in no segment yet
    seq bigint PRIMARY KEY,
    body bytea NOT NULL          -- the event as it came, zstd
);
ALTER TABLE bodies ALTER COLUMN body SET STORAGE EXTERNAL;

CREATE TABLE segments (          -- events `first` to `last`, compressed together
    first bigint PRIMARY KEY,
    last bigint NOT NULL,
    body bytea NOT NULL          -- zstd of MessagePack: number of the event -> the event as it came
);
ALTER TABLE segments ALTER COLUMN body SET STORAGE EXTERNAL;

CREATE TABLE compacted (hash bytea PRIMARY KEY); -- events whose meaning is in snapshots
CREATE TABLE snapshots (
    kind text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL, -- identity of the subject, canonical JSON
    body bytea NOT NULL,           -- its record, zlib of canonical JSON
    PRIMARY KEY (kind, key)
);
ALTER TABLE snapshots ALTER COLUMN body SET STORAGE EXTERNAL;
CREATE TABLE retention (
    one smallint PRIMARY KEY CHECK (one = 1),
    known_since bigint NOT NULL, -- event time of the last removed event, nanoseconds
    through bigint NOT NULL      -- greatest number of a removed event
);

CREATE TABLE dead_letters (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind text NOT NULL,          -- fold, damaged, forward, refused
    hash bytea NOT NULL,
    error text NOT NULL,
    parked_at bigint NOT NULL,
    body bytea,                  -- of refused terminal events, zstd; null for events of the log
    UNIQUE (kind, hash)
);
CREATE INDEX dead_letters_by_hash ON dead_letters (hash);
CREATE TABLE positions (name text PRIMARY KEY, seq bigint NOT NULL);
CREATE TABLE offsets (           -- of Kafka topics that events are read from
    topic text NOT NULL,
    partition integer NOT NULL,
    next bigint NOT NULL,        -- offset of the next record
    PRIMARY KEY (topic, partition)
);
"""


def upgrade() -> None:
    """Create all tables."""
    op.execute(_TABLES)
