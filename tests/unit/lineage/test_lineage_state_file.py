# SPDX-License-Identifier: Apache-2.0
"""State file: what a full disk, and reads during a checkpoint, do to it."""

import sqlite3
import threading

import pytest
from lineage_events import RULES

from lineage.store import StoreError
from lineage.store.state_file import new_state, open_state


def test_a_read_during_a_checkpoint_does_not_end_the_transaction(tmp_path):
    state = new_state(tmp_path, RULES)
    reading = state.connection.execute("SELECT 1 FROM checkpoint")
    reading.fetchone()
    state.commit(1)
    assert state.connection.in_transaction
    reading.close()
    state.commit(2)
    state.close()
    assert open_state(tmp_path, RULES, 0, 9).position == 2


def test_checkpoints_while_others_read(tmp_path):
    state, ended, read = new_state(tmp_path, RULES), threading.Event(), []

    def reads():
        while not ended.is_set():
            read.append(state.connection.execute("SELECT count(*) FROM sqlite_master, sqlite_master").fetchall())

    reader = threading.Thread(target=reads)
    reader.start()
    for position in range(200):
        state.commit(position)
    ended.set()
    reader.join()
    assert read
    assert state.connection.in_transaction
    assert not state.connection.has_lost_changes
    state.close()


def test_a_full_disk_leaves_the_last_checkpoint(tmp_path):
    state = new_state(tmp_path, RULES)
    state.commit(1)
    fill(state.connection)
    with pytest.raises(sqlite3.OperationalError, match="full"):
        state.connection.executemany("INSERT INTO edges (body) VALUES (?)", ((bytes(4000),) for _ in range(2000)))
    allow(state.connection)
    state.connection.execute("INSERT INTO edges (body) VALUES (x'00')")
    with pytest.raises(StoreError, match="it is made again from the log"):
        state.commit(2)
    state.close()
    found = open_state(tmp_path, RULES, 0, 9)
    assert found.position == 1
    assert found.connection.execute("SELECT count(*) FROM edges").fetchone() == (0,)
    found.close()


def fill(connection):
    """Let the file not grow any more."""
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    connection.execute(f"PRAGMA max_page_count = {pages}")


def allow(connection):
    connection.execute("PRAGMA max_page_count = 1000000")
