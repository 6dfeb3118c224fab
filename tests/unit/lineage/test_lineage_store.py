# SPDX-License-Identifier: Apache-2.0
"""Event log in SQLite and in Postgres, and its writer."""

import sqlite3
import threading
from random import randbytes

import pytest
from lineage_events import original, run_id

from lineage.events import JobId, canonical_json
from lineage.events.event import ORDER_HASH_BYTES
from lineage.events.ids import RunId
from lineage.events.timestamps import parse_time
from lineage.store import (
    EventLog,
    EventQuery,
    EventWriter,
    QueueFull,
    StoreError,
    StoreFull,
    StoreUnusable,
    schema,
)
from lineage.store import log as sqlite_module
from lineage.store.compression import compress
from lineage.store.postgres import log_reads as postgres_module


def _no_damage(content_hash, error):
    raise AssertionError(f"{content_hash.hex()}: {error}")


def _originals(stored):
    return [item.original for item in stored]


def test_duplicate_event_is_stored_once(log):
    first, second = original("START", 0), original("COMPLETE", 1)
    assert log.append([first, second, first]) == [True, True, False]
    assert log.append([second]) == [False]
    assert _originals(log.events(_no_damage)) == [first, second]


def test_event_is_found_by_the_first_bytes_of_its_hash(log):
    first, second, absent = (original("RUNNING", second) for second in (1, 2, 3))
    log.append([first, second])
    for size in (len(first.hash), ORDER_HASH_BYTES):
        assert [log.number(made.hash[:size]) for made in (first, second, absent)] == [1, 2, 0]
    assert log.number(b"\xff" * ORDER_HASH_BYTES) == 0
    # As of the last record of a topic that is none of this service.
    assert [log.number(first.hash[:size]) for size in (0, 1, ORDER_HASH_BYTES - 1)] == [0, 0, 0]


def test_log_can_be_reopened(store):
    made = original("START", 0)
    for _ in range(2):
        log = store.open()
        log.append([made])
        assert _originals(log.events(_no_damage)) == [made]
        log.close()


def test_run_events_are_paged_by_time(log):
    made = [original("RUNNING", second) for second in (3, 1, 2)]
    log.append([*made, original(None, 9, run=None)])
    by_time = [item.data for item in sorted(made, key=lambda item: item.time)]
    assert log.run_events(EventQuery()) == (by_time[::-1], 3)
    assert log.run_events(EventQuery(newest_first=False, limit=1, offset=1)) == ([by_time[1]], 3)
    window = EventQuery(after=parse_time("2026-01-01T00:00:02Z"), before=parse_time("2026-01-01T00:00:03Z"))
    assert log.run_events(window) == ([by_time[1]], 1)


def test_page_is_bounded_by_bytes(log, monkeypatch):
    made = [original("RUNNING", second, run_facets={"big": {"text": "x" * 1000}}) for second in range(5)]
    log.append(made)
    for module in (sqlite_module, postgres_module):
        monkeypatch.setattr(module, "MAX_PAGE_BYTES", 2 * len(made[0].data) + 1)
    read = []
    pages = []
    while len(read) < 5:
        page, total = log.run_events(EventQuery(newest_first=False, offset=len(read)))
        assert total == 5
        pages.append(len(page))
        read += page
    assert (pages, read) == ([2, 2, 1], [item.data for item in made])
    for module in (sqlite_module, postgres_module):
        monkeypatch.setattr(module, "MAX_PAGE_BYTES", 1)
    assert log.run_events(EventQuery())[0] == [made[-1].data]


def test_full_store_rejects_the_batch_and_stays_readable(tmp_path):
    log = EventLog(tmp_path, max_bytes=200_000)
    small = original("START", 0)
    log.append([small])
    large = original("START", 1, run_facets={"big": {"text": randbytes(200_000).hex()}})
    with pytest.raises(StoreFull, match="no space left"):
        log.append([original("RUNNING", 2), large])
    assert _originals(log.events(_no_damage)) == [small]
    assert log.append([original("COMPLETE", 3)]) == [True]
    log.close()


def test_directory_is_locked_by_one_process(store):
    log = store.open()
    with pytest.raises(StoreUnusable, match="in use by another lineage service"):
        store.open()
    log.close()


def test_compaction_of_an_older_file_may_have_reached_its_last_event(tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(schema, "_MIGRATIONS", schema._MIGRATIONS[:4])
        patch.setattr(schema, "SCHEMA_VERSION", 4)
        EventLog(tmp_path).close()
    with sqlite3.connect(tmp_path / "lineage.db") as connection:
        connection.execute("INSERT INTO sqlite_sequence VALUES ('events', 7)")
        connection.execute("INSERT INTO retention VALUES (1, 99)")
    connection.close()
    log = EventLog(tmp_path)
    assert log.compacted_through() == 7
    log.close()


def test_newer_file_version_is_not_modified(tmp_path):
    EventLog(tmp_path).close()
    with sqlite3.connect(tmp_path / "lineage.db") as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(StoreUnusable, match=f"schema 99, this service supports {schema.SCHEMA_VERSION}"):
        EventLog(tmp_path)


def test_foreign_database_is_not_modified(tmp_path):
    with sqlite3.connect(tmp_path / "lineage.db") as connection:
        connection.execute("CREATE TABLE theirs (x)")
    connection.close()
    with pytest.raises(StoreUnusable, match="a database of another program"):
        EventLog(tmp_path)


def test_file_that_is_not_a_database_is_not_modified(tmp_path):
    (tmp_path / "lineage.db").write_bytes(b"not a database" * 1000)
    with pytest.raises(StoreUnusable, match=r"cannot read .*lineage.db: file is not a database; restore a backup"):
        EventLog(tmp_path)
    assert (tmp_path / "lineage.db").read_bytes().startswith(b"not a database")


def test_uncreatable_directory_is_reported(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreUnusable, match="cannot write to data directory"):
        EventLog(tmp_path / "file" / "data")


def test_queued_events_share_a_commit(log):
    batches = []
    first_is_written = threading.Event()
    more_is_queued = threading.Event()

    def on_batch(batch):
        batches.append(batch)
        if len(batches) == 1:
            first_is_written.set()
            assert more_is_queued.wait(60)

    writer = EventWriter(log, 100, 2**20, on_batch)
    writer.submit([original("START", 0)], "first")
    assert first_is_written.wait(60)
    for second in range(1, 6):
        writer.submit([original("RUNNING", second), original("OTHER", second)], second)
    writer.submit([original("START", 0)], "again")
    more_is_queued.set()
    writer.close()

    tags = [[submission.tag for submission in batch.submissions] for batch in batches]
    assert tags == [["first"], [1, 2, 3, 4, 5, "again"]]
    assert batches[1].stored == [[True, True]] * 5 + [[False]]
    assert writer.waiting == 0


def test_full_or_closed_queue_rejects_events(log):
    blocked = threading.Event()
    writer = EventWriter(log, 1, 2**20, lambda batch: blocked.wait(60))
    writer.submit([original("START", 0)], None)
    with pytest.raises(QueueFull):
        _submit_all(writer, 3)
    blocked.set()
    writer.close()
    with pytest.raises(QueueFull):
        _submit_all(writer, 1)


def _submit_all(writer, count):
    for second in range(count):
        writer.submit([original("RUNNING", second)], None)


def test_failed_commit_is_reported_to_every_sender_and_the_writer_continues(store):
    log = store.open()
    batches = []
    done = threading.Event()

    def on_batch(batch):
        batches.append(batch)
        done.set()

    writer = EventWriter(log, 10, 2**20, on_batch)
    store.execute("DROP TABLE events")
    writer.submit([original("START", 0)], "lost")
    assert done.wait(60)
    assert isinstance(batches[0].error, StoreError)
    assert "cannot write to" in str(batches[0].error)
    done.clear()
    writer.submit([original("START", 1)], "also")
    assert done.wait(60)
    writer.close()
    log.close()


def test_large_submission_fits_an_empty_queue(log):
    blocked = threading.Event()
    writer = EventWriter(log, 2, 2**20, lambda batch: blocked.wait(60))
    writer.submit([original("RUNNING", second) for second in range(5)], None)
    with pytest.raises(QueueFull):
        _submit_all(writer, 3)
    blocked.set()
    writer.close()
    assert log.count() >= 5


FIRST_SCHEMA = """
CREATE TABLE events (seq INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, kind TEXT NOT NULL,
    event_time INTEGER NOT NULL, received_at INTEGER NOT NULL, body BLOB NOT NULL) STRICT;
CREATE INDEX events_by_time ON events (kind, event_time, hash);
PRAGMA user_version = 1;
"""


def test_file_of_the_first_version_is_migrated(tmp_path):
    made = [original("START", 0), original("COMPLETE", 1)]
    connection = sqlite3.connect(tmp_path / "lineage.db")
    connection.executescript(FIRST_SCHEMA)
    rows = [(item.hash, item.kind.value, item.time, item.time, canonical_json(item.body)) for item in made]
    connection.executemany("INSERT INTO events (hash, kind, event_time, received_at, body) VALUES (?,?,?,?,?)", rows)
    connection.commit()
    connection.close()
    log = EventLog(tmp_path)
    assert [item.body for item in _originals(log.events(_no_damage))] == [item.body for item in made]
    assert log.append([made[0], original("OTHER", 2)]) == [False, True]
    assert [item.original.body["eventType"] for item in log.after(1, 10)] == ["COMPLETE", "OTHER"]
    log.close()


SIXTH_SCHEMA = """
CREATE TABLE events (seq INTEGER PRIMARY KEY AUTOINCREMENT, hash BLOB NOT NULL UNIQUE, kind TEXT NOT NULL,
    event_time INTEGER NOT NULL, received_at INTEGER NOT NULL, run TEXT, namespace INTEGER) STRICT;
CREATE INDEX events_by_time ON events (event_time, hash);
CREATE INDEX events_by_run ON events (run, event_time) WHERE run IS NOT NULL;
CREATE INDEX events_by_namespace ON events (namespace, event_time) WHERE namespace IS NOT NULL;
"""


def test_runs_of_a_file_with_uuids_as_text_are_found(tmp_path):
    made = [original("START", 0), original("COMPLETE", 1), original("START", 2, run=7)]
    EventLog(tmp_path).close()
    connection = sqlite3.connect(tmp_path / "lineage.db")
    connection.executescript(f"DROP TABLE events; {SIXTH_SCHEMA} PRAGMA user_version = 6;")
    rows = [(item.hash, item.kind.value, item.time, item.time, item.run) for item in made]
    connection.executemany("INSERT INTO events (hash, kind, event_time, received_at, run) VALUES (?,?,?,?,?)", rows)
    bodies = [(number, compress(item.data)) for number, item in enumerate(made, 1)]
    connection.executemany("INSERT INTO bodies VALUES (?,?)", bodies)
    # The fourth event was compacted: its number may not be used again.
    connection.execute("UPDATE sqlite_sequence SET seq = 4 WHERE name = 'events'")
    connection.commit()
    connection.close()
    log = EventLog(tmp_path)
    job = JobId("shop", "etl")
    assert _originals(log.history_of_run(RunId(made[0].run, job))[1]) == made[:2]
    assert _originals(log.history_of_run(RunId(run_id(7), job))[1]) == made[2:]
    assert log.runs_with_events([run_id(7), made[0].run, run_id(9)]) == {run_id(7), made[0].run}
    assert log.run_events(EventQuery(run=made[0].run.upper()))[1] == 2
    log.append([original("OTHER", 3)])
    assert log.last() == 5
    log.close()


def test_reader_resumes_at_its_position(store):
    log = store.open()
    made = [original("RUNNING", second) for second in range(5)]
    log.append(made)
    first = log.after(log.position("reader"), 2)
    assert _originals(first) == made[:2]
    log.set_position("reader", first[-1].seq)
    log.close()
    log = store.open()
    assert _originals(log.after(log.position("reader"), 10)) == made[2:]
    assert log.after(log.last(), 10) == []
    log.close()


def test_damaged_rows_are_reported_and_others_read(store):
    log = store.open()
    made = [original("RUNNING", second) for second in range(4)]
    log.append(made)
    store.execute("UPDATE bodies SET body = ? WHERE seq = 1", (b"{",))
    changed = compress(made[1].data.replace(b"RUNNING", b"START"))
    store.execute("UPDATE bodies SET body = ? WHERE seq = 2", (changed,))
    store.execute("UPDATE bodies SET body = substr(body, 1, 100) WHERE seq = 3")
    damaged = []
    assert _originals(log.events(lambda content_hash, error: damaged.append((content_hash, str(error))))) == made[3:]
    assert [content_hash for content_hash, _ in damaged] == [item.hash for item in made[:3]]
    assert "cannot be read" in damaged[0][1]
    assert "does not match its hash" in damaged[1][1]
    assert "compressed event is damaged" in damaged[2][1]
    assert _originals(log.after(0, 1)) == made[3:4]
    with pytest.raises(ValueError, match="cannot be read"):
        log.event(made[0].hash)
    log.close()
