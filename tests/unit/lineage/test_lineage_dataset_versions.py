# SPDX-License-Identifier: Apache-2.0
"""Current version of a dataset, and those that runs used, from a few statements of a long history."""

import random
import uuid
from contextlib import closing

import pytest
from lineage_events import schema

from lineage.events import DatasetId, JobId
from lineage.events.event import Order
from lineage.events.ids import RunId
from lineage.graph.dataset_record import DatasetRecord
from lineage.graph.dataset_statements import DatasetStatement, DatasetStatements
from lineage.graph.dataset_versions import all_versions
from lineage.graph.mergeable import Facets, Span
from lineage.marquez.versions import DatasetVersions
from lineage.past.archive import PastArchive
from lineage.rules import Rules
from lineage.store.past_states import PastState
from lineage.store.state_archive import StateArchive
from lineage.store.state_file import new_state
from tests.fast_part import fast_part

TABLE = DatasetId("s3://warehouse", "t")
JOB = JobId("jobs", "job")
COLUMNS = [*(schema(*names) for names in ("a", "b", "ab", "abc", "d")), {"_deleted": True}]
SECOND = 10**9


def load(run):
    pytest.fail(f"{run} has no batch runs")


class History:
    """Random statements about one table: late ones, repeated ones, of readers, without columns or version."""

    def __init__(self, seed):
        chance = random.Random(seed)
        self._chance = chance
        self.readers = chance.choice((0, 0.3, 1))
        self.omitted = chance.choice((0, 0.1, 0.5))
        self.late = chance.choice((0, 0.3))
        self.versions = chance.choice((1, 4, 30))

    def events(self, number):
        """Yield the time, the facets of the dataset, and whether a reader stated them."""
        for count in range(number):
            time = self._chance.randrange(count + 1) if self._chance.random() < self.late else count
            facets = {}
            if self._chance.random() >= self.omitted:
                facets["schema"] = self._chance.choice(COLUMNS)
            if self._chance.random() >= self.omitted:
                facets["version"] = {"datasetVersion": str(self._chance.randrange(self.versions))}
            yield time * SECOND, facets, self._chance.random() < self.readers


def used(facets, order):
    """Return facets as a run has them."""
    found = Facets()
    found.join(order, facets)
    return found


def ids_of_all(record, uses):
    """Return current and used versions as they follow from all versions, or None where no version matches."""
    versions = DatasetVersions(record)
    known = all_versions(record.statements)
    digest = record.columns_digest()
    same = [version for version in known if version.has_columns(digest)] or known
    current = versions.id_of(same[-1]) if same else None
    found = [versions.version_used(facets, until) for facets, until in uses]
    return current, [version and versions.id_of(version) for version in found]


@pytest.mark.parametrize("seed", fast_part(range(60)))
def test_versions_follow_from_few_statements_as_from_all(tmp_path, seed):
    history = History(seed)
    with closing(new_state(tmp_path, Rules())) as state:
        archive = StateArchive(state.connection, load)
        record = DatasetRecord(id=TABLE, span=Span(Order(0, b""), Order(0, b"")), archive=archive)
        uses = []
        for count, (time, facets, read) in enumerate(history.events(60)):
            order = Order(time, count.to_bytes(16, "big"))
            record.join(order, {"facets": facets}, read, RunId(str(uuid.UUID(int=count)), JOB))
            uses.append((used(facets, order), order))
            if count % 7 == 0:
                assert_same_ids(record, uses)
        assert_same_ids(record, uses)
        assert record.statements.archived or history.versions == 1

        # As of each past time: what is in memory then is in the archive of now, too.
        state.commit(60)
        past = PastArchive(state.reader, PastState(60, SECOND * 10_000, 0), load, 30 * SECOND)
        then = DatasetRecord(id=TABLE, span=record.span, facets=record.facets, read_facets=record.read_facets)
        then.statements.restore(past)
        for statement in record.statements.loaded.values():
            if statement.order.time <= 30 * SECOND:
                then.statements.join(statement)
        assert_same_ids(then, uses)


def assert_same_ids(record, uses):
    """Compare with all versions."""
    versions = DatasetVersions(record)
    current, found = ids_of_all(record, uses)
    assert current is None or versions.current_id == current
    for (facets, until), expected in zip(uses, found, strict=True):
        shown = versions.version_id_used(facets, until)
        assert expected is None or shown == expected


class Unreadable(StateArchive):
    """Archive whose statements may not all be read."""

    def statements(self, dataset):
        """Fail."""
        pytest.fail(f"all statements about {dataset} are read")


@pytest.mark.parametrize("read", [False, True])
def test_long_history_of_a_table_is_not_read_for_its_ids(tmp_path, read):
    with closing(new_state(tmp_path, Rules())) as state:
        record = DatasetRecord(
            id=TABLE, span=Span(Order(0, b""), Order(0, b"")), archive=Unreadable(state.connection, load)
        )
        for count in range(40):
            order = Order(count * SECOND, count.to_bytes(16, "big"))
            facets = {"schema": COLUMNS[0], "version": {"datasetVersion": str(count)}}
            record.join(order, {"facets": facets}, read, None)
            versions = DatasetVersions(record)
            assert versions.current_id == versions.version_id_used(used(facets, order), order)
        assert record.statements.archived
        first = {"schema": COLUMNS[0], "version": {"datasetVersion": "0"}}
        assert versions.version_id_used(used(first, order), order) != versions.current_id


def test_latest_statements_are_those_of_memory_and_archive(tmp_path):
    with closing(new_state(tmp_path, Rules())) as state:
        statements = DatasetStatements(TABLE, StateArchive(state.connection, load))
        for count in range(20):
            order = Order(count * SECOND, count.to_bytes(16, "big"))
            statements.join(DatasetStatement(order, None, count % 2 == 0, None, str(count)))
        # An earlier event makes the newest statement the oldest one; it stays in memory.
        statements.join(DatasetStatement(Order(-1 * SECOND, b"early"), None, False, None, "19"))
        assert [said.version for said in statements.latest(False, 3)] == ["13", "15", "17"]
        assert [said.version for said in statements.latest(True, 2)] == ["16", "18"]
        assert len(statements.latest(True, 99)) == 10
