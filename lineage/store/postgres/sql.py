# SPDX-License-Identifier: Apache-2.0
"""SQL of the log on Postgres, but for its tables, which are made by the migrations."""

SCHEMA = "lineage"
"""Schema of all tables, so that the database may have others."""

CHANNEL = "lineage_events"
"""Channel of NOTIFY; the payload is the number of the last stored event."""

_LOCKS = 0x4C494E45
"""First key of the service's advisory locks, which are per database."""

# Lease and migrations.

LOCK_MIGRATIONS = f"SELECT pg_advisory_lock({_LOCKS}, 1)"
UNLOCK_MIGRATIONS = f"SELECT pg_advisory_unlock({_LOCKS}, 1)"
TRY_LEASE = f"SELECT pg_try_advisory_lock({_LOCKS}, 2)"
TAKE_OVER = "UPDATE lease SET epoch = epoch + 1, holder = %s, taken_at = %s RETURNING epoch"
CHECK_LEASE = "SELECT 1 FROM lease WHERE epoch = %s FOR SHARE"
"""Waits for a take-over in progress, and makes one wait for this transaction."""
HOLDER = f"""
SELECT holder, EXISTS (
    SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted AND classid = {_LOCKS} AND objid = 2 AND objsubid = 2
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
) FROM lease
"""
"""Instance that writes, or was the last one to write, and whether it has the lease."""

IDENTITY = "SELECT log FROM lease"

# Appending.

INSERT_NAMESPACES = "INSERT INTO namespaces (name) SELECT DISTINCT unnest(%s::text[]) ON CONFLICT DO NOTHING"
INSERT_EVENTS = """
WITH given AS (
    SELECT * FROM unnest(%(hashes)b::bytea[], %(kinds)s::text[], %(times)b::bigint[], %(runs)s::text[],
        %(namespaces)s::text[], %(bodies)b::bytea[])
        WITH ORDINALITY AS row (hash, kind, event_time, run, namespace, body, place)
), stored AS (
    INSERT INTO events (hash, kind, event_time, received_at, run, namespace)
    SELECT hash, kind, event_time, %(accepted)s, run, namespaces.number
    FROM given JOIN namespaces ON namespaces.name = given.namespace
    WHERE NOT EXISTS (SELECT FROM events WHERE events.hash = given.hash)
        AND NOT EXISTS (SELECT FROM compacted WHERE compacted.hash = given.hash)
    ORDER BY place
    RETURNING seq, hash
), stored_bodies AS (
    INSERT INTO bodies SELECT stored.seq, given.body FROM stored JOIN given USING (hash)
)
SELECT seq, hash FROM stored ORDER BY seq
"""
"""There is one writer: no other transaction can insert the same event in between."""
NOTIFY = f"SELECT pg_notify('{CHANNEL}', %s)"
SET_OFFSET = "INSERT INTO offsets VALUES (%s, %s, %s) ON CONFLICT (topic, partition) DO UPDATE SET next = excluded.next"
OFFSETS = "SELECT partition, next FROM offsets WHERE topic = %s"

# Reading events.

SELECT_EVENTS = "SELECT e.seq, e.hash, e.received_at, b.body FROM events e LEFT JOIN bodies b USING (seq)"
"""Rows for `SegmentBodies.joined`."""
EVENTS_AFTER = f"{SELECT_EVENTS} WHERE e.seq > %s AND e.event_time <= %s ORDER BY e.seq LIMIT %s"
EVENT_NUMBERS = """
SELECT seq FROM events WHERE (run = ANY(%s::text[]) OR hash = ANY(%b::bytea[])) AND seq > %s AND event_time <= %s
"""
NUMBERED_EVENTS = f"{SELECT_EVENTS} WHERE e.seq = ANY(%s::bigint[]) ORDER BY e.seq"
EVENT = f"{SELECT_EVENTS} WHERE e.hash = %s"
EVENTS_OF_RUN = f"{SELECT_EVENTS} WHERE e.run = %s ORDER BY e.seq"
LATEST_RUN_EVENTS = f"{SELECT_EVENTS} WHERE e.kind = %s ORDER BY e.event_time DESC, e.hash DESC LIMIT %s"
RUN_EVENTS = "e.kind = %(kind)s AND e.event_time >= %(after)s AND e.event_time < %(before)s"
OF_RUN = " AND e.run = %(run)s"
RUN_EVENTS_PAGE = f"""
{SELECT_EVENTS} WHERE {{where}}
    ORDER BY e.event_time {{order}}, e.hash {{order}} LIMIT %(limit)s OFFSET %(offset)s
"""
COUNT_RUN_EVENTS = "SELECT count(*) FROM events e WHERE {where}"
NUMBER = """
SELECT seq FROM (SELECT seq, hash FROM events WHERE hash >= %s ORDER BY hash LIMIT 1) AS next
WHERE substring(hash FOR length(%s)) = %s
"""
COUNT = "SELECT count(*) FROM events"
COUNT_SNAPSHOTS = "SELECT count(*) FROM snapshots"
LAST = "SELECT greatest((SELECT max(seq) FROM events), (SELECT through FROM retention), 0)"

# Segments.

SEGMENT = "SELECT first, last, body FROM segments WHERE first <= %s ORDER BY first DESC LIMIT 1"
OLDEST_BODIES = "SELECT seq, body FROM bodies ORDER BY seq LIMIT %s"
DELETE_BODIES_BETWEEN = "DELETE FROM bodies WHERE seq BETWEEN %s AND %s"
INSERT_SEGMENT = "INSERT INTO segments VALUES (%s, %s, %b)"
DELETE_BODIES = "DELETE FROM bodies WHERE seq = ANY(%s)"
DELETE_EMPTY_SEGMENTS = """
DELETE FROM segments s WHERE s.first <= %(last)s AND s.last >= %(first)s
    AND NOT EXISTS (SELECT FROM events e WHERE e.seq BETWEEN s.first AND s.last)
"""

# Retention. Instances that read the whole log share a lock, without which none of it is compacted.

PAUSE_COMPACTION = f"SELECT pg_advisory_lock_shared({_LOCKS}, 3)"
RESUME_COMPACTION = f"SELECT pg_advisory_unlock_shared({_LOCKS}, 3)"
TRY_COMPACTION = f"SELECT pg_try_advisory_xact_lock({_LOCKS}, 3)"

REMOVABLE = f"""
{SELECT_EVENTS} WHERE {{of_namespace}} AND e.event_time < %s AND e.received_at < %s
    AND e.seq <= (SELECT coalesce(min(seq), 9223372036854775807) FROM positions)
    AND NOT EXISTS (SELECT FROM dead_letters d WHERE d.hash = e.hash)
    ORDER BY e.event_time, e.hash LIMIT %s
"""
OF_NAMESPACE = "e.namespace = (SELECT number FROM namespaces WHERE name = %s)"
OF_OTHERS = "e.namespace IS NOT NULL AND e.namespace NOT IN (SELECT number FROM namespaces WHERE name = ANY(%s))"
OF_OLDER_LOGS = "e.namespace IS NOT DISTINCT FROM %s::integer"
DELETE_EVENTS = "DELETE FROM events WHERE hash = ANY(%b::bytea[])"
INSERT_COMPACTED = "INSERT INTO compacted SELECT unnest(%b::bytea[]) ON CONFLICT DO NOTHING"
PUT_SNAPSHOT = "INSERT INTO snapshots VALUES (%s, %s, %b) ON CONFLICT (kind, key) DO UPDATE SET body = excluded.body"
SNAPSHOT = "SELECT kind, key, body FROM snapshots WHERE kind = %s AND key = %s"
SNAPSHOTS_AFTER = "SELECT kind, key, body FROM snapshots WHERE (kind, key) > (%s, %s) ORDER BY kind, key LIMIT %s"
SET_RETENTION = """
INSERT INTO retention VALUES (1, %s, %s) ON CONFLICT (one) DO UPDATE
    SET known_since = greatest(retention.known_since, excluded.known_since),
        through = greatest(retention.through, excluded.through)
"""
RUNS_WITH_EVENTS = "SELECT DISTINCT run FROM events WHERE run = ANY(%s)"
DELETE_SNAPSHOT = "DELETE FROM snapshots WHERE kind = %s AND key = %s"
KNOWN_SINCE = "SELECT known_since FROM retention"
COMPACTED_THROUGH = "SELECT coalesce(max(through), 0) FROM retention"

# Dead letters.

PARK = (
    "INSERT INTO dead_letters (kind, hash, error, parked_at) VALUES (%s, %s, %s, %s)"
    " ON CONFLICT (kind, hash) DO UPDATE SET error = excluded.error"
)
PARK_REFUSED = (
    "INSERT INTO dead_letters (kind, hash, error, parked_at, body) VALUES (%s, %s, %s, %s, %b)"
    " ON CONFLICT (kind, hash) DO UPDATE SET error = excluded.error"
)
EVICT_REFUSED = (
    "DELETE FROM dead_letters WHERE kind = %(kind)s AND id <= (SELECT id FROM dead_letters WHERE kind = %(kind)s"
    " ORDER BY id DESC LIMIT 1 OFFSET %(kept)s)"
)
REFUSED_BODY = "SELECT body FROM dead_letters WHERE kind = %s AND hash = %s"
RELEASE = "DELETE FROM dead_letters WHERE kind = %s AND hash = %s"
DEAD_HASHES = "SELECT hash FROM dead_letters WHERE kind = %s ORDER BY id"
COUNT_DEAD = "SELECT kind, count(*) FROM dead_letters GROUP BY kind"
DEAD_PAGE = (
    "SELECT e.seq, d.kind, d.hash, d.error, d.parked_at, coalesce(d.body, b.body) FROM dead_letters d"
    " LEFT JOIN events e ON e.hash = d.hash LEFT JOIN bodies b ON b.seq = e.seq"
    " WHERE %(kind)s::text IS NULL OR d.kind = %(kind)s::text ORDER BY d.id LIMIT %(limit)s OFFSET %(offset)s"
)

# Positions of readers of the log, such as the forwarder.

POSITION = "SELECT seq FROM positions WHERE name = %s"
SET_POSITION = "INSERT INTO positions VALUES (%s, %s) ON CONFLICT (name) DO UPDATE SET seq = excluded.seq"
REMOVE_OTHER_POSITIONS = "DELETE FROM positions WHERE name != ALL(%s)"
ADD_POSITION = "INSERT INTO positions VALUES (%s, 0) ON CONFLICT DO NOTHING"
