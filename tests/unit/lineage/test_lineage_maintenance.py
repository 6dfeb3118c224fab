# SPDX-License-Identifier: Apache-2.0
"""Backup, restore and integrity check of a log that a running service has open."""

import sqlite3
from contextlib import closing

import pytest
from lineage_events import RULES, dataset, original

from lineage.maintenance import main
from lineage.rules.event_reader import EventReader
from lineage.store import DeadLetterKind, EventLog, segments
from lineage.store.horizons import Horizon, Horizons
from lineage.store.offsets import Partition
from lineage.store.postgres.address import PASSWORD


def no_damage(content_hash, error):
    raise AssertionError(f"{content_hash.hex()}: {error}")


@pytest.fixture
def log(tmp_path):
    log = EventLog(tmp_path / "data")
    log.append([original("START", 0), original("RUNNING", 1), original("COMPLETE", 2)])
    assert log.compact(EventReader(RULES), Horizons(Horizon(original("RUNNING", 1).time))) == 1
    yield log
    log.close()


def run(tmp_path, command, *files):
    return main([command, "--data", str(tmp_path / "data"), *(str(tmp_path / file) for file in files)])


def test_backup_of_an_open_log_can_be_restored(log, tmp_path, capsys):
    assert run(tmp_path, "backup", "copy.db") == 0
    assert "2 events and 3 snapshots" in capsys.readouterr().out
    assert [path.name for path in tmp_path.iterdir() if "copy" in path.name] == ["copy.db"]
    log.append([original("OTHER", 9)])
    assert run(tmp_path, "restore", "copy.db") == 2
    assert "in use by another lineage service; stop the service first" in capsys.readouterr().err
    log.close()
    assert run(tmp_path, "restore", "copy.db") == 0
    assert "the log that was there is" in capsys.readouterr().out
    assert run(tmp_path, "restore", "copy.db") == 0
    log.__init__(tmp_path / "data")
    assert [item.original.body["eventType"] for item in log.events(no_damage)] == ["RUNNING", "COMPLETE"]
    assert len(list(log.snapshots.all())) == 3
    aside = EventLog(_moved(tmp_path))
    assert aside.count() == 3, "the replaced log is complete"
    aside.close()


def _moved(tmp_path):
    (tmp_path / "aside").mkdir()
    for ending in ("", "-wal", "-shm"):
        kept = tmp_path / "data" / f"lineage-before-restore-1.db{ending}"
        if kept.exists():
            kept.replace(tmp_path / "aside" / f"lineage.db{ending}")
    return tmp_path / "aside"


def test_damaged_copy_is_detected_and_not_restored(log, tmp_path, capsys):
    assert run(tmp_path, "check") == 0
    assert "2 events and 3 snapshots" in capsys.readouterr().out
    assert run(tmp_path, "backup", "copy.db") == 0
    with sqlite3.connect(tmp_path / "copy.db") as copy:
        copy.execute("UPDATE bodies SET body = x'7b' WHERE seq = 2")
    copy.close()
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "lineage.db").write_bytes((tmp_path / "copy.db").read_bytes())
    capsys.readouterr()
    assert main(["check", "--data", str(tmp_path / "broken")]) == 1
    assert "cannot be read" in capsys.readouterr().out
    log.close()
    assert run(tmp_path, "restore", "copy.db") == 2
    assert "it is damaged" in capsys.readouterr().err
    log.__init__(tmp_path / "data")
    assert log.count() == 2


def test_broken_snapshot_is_detected(log, tmp_path, capsys):
    connection = sqlite3.connect(tmp_path / "data" / "lineage.db", isolation_level=None)
    connection.execute("UPDATE snapshots SET body = x'00' WHERE kind = 'run'")
    connection.close()
    assert run(tmp_path, "check") == 1
    assert "snapshots: " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("command", "files", "message"),
    [
        ("backup", ("there.db",), "it exists; name a new file"),
        ("backup", ("no/such/folder",), "cannot back up"),
        ("restore", ("nothing.db",), "no such file"),
        ("restore", ("there.db",), "file is not a database"),
        ("restore", ("other.db",), "schema 0, this version of the service has"),
    ],
)
def test_errors_are_one_line(log, tmp_path, capsys, command, files, message):
    (tmp_path / "there.db").write_bytes(b"something else" * 500)
    sqlite3.connect(tmp_path / "other.db").execute("CREATE TABLE x (y)").connection.close()
    assert run(tmp_path, command, *files) == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1


def test_log_in_postgres_is_checked(postgres_store, monkeypatch, capsys):
    database = postgres_store.database
    monkeypatch.setenv(PASSWORD, database.server.password)
    with closing(postgres_store.open()) as log:
        log.append([original("START", 0), original("RUNNING", 1), original("COMPLETE", 2)])
        assert log.compact(EventReader(RULES), Horizons(Horizon(original("RUNNING", 1).time))) == 1
        assert main(["check", "--store", database.url]) == 0
        assert f"2 events and 3 snapshots are in {database.url}: no damage" in capsys.readouterr().out
        postgres_store.execute("UPDATE bodies SET body = ? WHERE seq = 2", (b"{",))
        assert main(["check", "--store", database.url]) == 1
        assert "cannot be read" in capsys.readouterr().out
    assert main(["backup", "--store", database.url, "copy"]) == 2
    assert "use pg_dump --schema=lineage" in capsys.readouterr().err
    monkeypatch.setenv(PASSWORD, "wrong-secret")
    assert main(["check", "--store", database.url]) == 2
    refused = capsys.readouterr().err
    assert "password authentication failed" in refused
    assert "wrong-secret" not in refused


def contents(log):
    """Return all of a log that readers ask for."""
    events = [(found.seq, found.accepted, found.original.data) for found in log.events(no_damage)]
    letters = [(letter.trouble, letter.hash, letter.error) for letter in log.dead_letters.page(9)]
    positions = log.position("forwarder"), log.offsets.of_topic("events"), log.compacted_through(), log.last()
    return events, letters, positions, sorted(log.snapshots.all())


def test_log_is_moved_to_postgres(log, tmp_path, postgres_store, monkeypatch, capsys):
    monkeypatch.setattr(segments, "SEGMENT_EVENTS", 2)
    database = postgres_store.database
    monkeypatch.setenv(PASSWORD, database.server.password)
    to_store = ("move", "--data", str(tmp_path / "data"), "--store", database.url)
    later = [original("OTHER", second, run=second, inputs=[dataset(f"é {second}")]) for second in range(5, 9)]
    log.append(later, offsets={Partition("events", 1): 7})
    assert log.seal() > 0
    log.dead_letters.park(DeadLetterKind.FORWARD, later[0].hash, 'refused: "a\tb"\\n')
    log.set_position("forwarder", 3)
    expected = contents(log)
    assert main(to_store) == 2
    assert "in use by another lineage service; stop the service first" in capsys.readouterr().err
    log.close()
    assert main(to_store) == 0
    assert (
        f"6 events and 3 snapshots of {tmp_path / 'data' / 'lineage.db'} are in {database.url}"
        in capsys.readouterr().out
    )
    with closing(postgres_store.open()) as moved:
        assert contents(moved) == expected
        assert moved.append([*later, original("START", 0), original("OTHER", 99)]) == [False] * 5 + [True]
        assert [found.seq for found in moved.after(expected[2][3], 9)] == [expected[2][3] + 1]
        assert main(to_store) == 2
        assert "an instance writes to it; stop all instances" in capsys.readouterr().err
    assert main(to_store) == 2
    assert "it has events; choose an empty database" in capsys.readouterr().err
    log.__init__(tmp_path / "data")
    assert contents(log) == expected, "the file is unchanged"


def test_a_failed_move_stores_nothing(log, tmp_path, postgres_store, monkeypatch, capsys):
    database = postgres_store.database
    monkeypatch.setenv(PASSWORD, database.server.password)
    to_store = ("move", "--data", str(tmp_path / "data"), "--store", database.url)
    log.dead_letters.park(DeadLetterKind.FORWARD, b"1" * 32, "a zero byte: \0")
    log.close()
    assert main(to_store) == 2
    said = capsys.readouterr().err
    assert "cannot move" in said
    assert said.count("\n") == 1
    assert postgres_store.execute("SELECT count(*) FROM events") == [(0,)]
    log.__init__(tmp_path / "data")
    log.dead_letters.release(DeadLetterKind.FORWARD, b"1" * 32)
    log.close()
    assert main(to_store) == 0
    log.__init__(tmp_path / "data")
