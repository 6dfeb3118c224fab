# SPDX-License-Identifier: Apache-2.0
"""Numbers of names in the state file: what reads them changes nothing, so that a checkpoint can be made meanwhile."""

import threading

import pytest

from lineage.events import JobId
from lineage.store.numbered_names import UNKNOWN, NumberedNames
from lineage.store.state_connection import StateConnection


@pytest.fixture
def connection(tmp_path):
    made = StateConnection(tmp_path / "state.sqlite")
    made.execute("PRAGMA journal_mode = WAL")
    made.execute(
        "CREATE TABLE jobs (number INTEGER PRIMARY KEY, namespace TEXT, name TEXT, archived INTEGER DEFAULT 0,"
        " UNIQUE (namespace, name))"
    )
    made.begin()
    yield made
    made.close()


@pytest.fixture
def names(connection):
    return NumberedNames(connection, "jobs", JobId)


def test_a_name_gets_its_number_when_it_is_added(names):
    job = JobId("n", "a")
    assert (names.number(job), names.archived(job)) == (UNKNOWN, 0)
    number = names.add(job)
    assert names.add(job) == names.number(job) == number
    assert names.add(JobId("n", "b")) != number
    names.count(number, 2)
    assert (names.name(number), names.archived(job)) == (job, 2)


def test_reading_changes_nothing(connection, names):
    before = connection.total_changes
    for number in range(10):
        assert names.archived(JobId("n", str(number))) == 0
    assert connection.total_changes == before


def test_checkpoints_are_made_while_requests_read_unknown_names(connection, names):
    """SQLite commits nothing while a statement that writes is in progress, in any thread."""
    ended = threading.Event()
    problems = []

    def save():
        try:
            for _ in range(300):
                connection.checkpoint()
        except Exception as error:
            problems.append(error)
        finally:
            ended.set()

    saving = threading.Thread(target=save)
    saving.start()
    number = 0
    while not ended.is_set():
        names.archived(JobId("n", str(number)))
        number += 1
    saving.join()
    assert problems == []
    assert number > 0
