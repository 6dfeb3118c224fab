# SPDX-License-Identifier: Apache-2.0
"""Archive of runs and statements as of a past state and a time, for records that are made of a part of it."""

import sqlite3
from collections.abc import Callable, Iterable

from lineage.events.event import Order
from lineage.events.ids import DatasetId, JobId, RunId
from lineage.graph.dataset_statements import DatasetStatement
from lineage.graph.run_record import RunRecord
from lineage.store.numbered_names import NumberedNames
from lineage.store.past_states import PastState, show_archived_runs
from lineage.store.run_archive import StoredRuns
from lineage.store.statement_archive import StoredStatements

_ARCHIVED = """
SELECT (SELECT count(*) FROM main.runs WHERE job = ?1 AND number <= ?2 AND number NOT IN temp.removed)
     + (SELECT count(*) FROM main.removed_runs
        WHERE job = ?1 AND number <= ?2 AND after >= ?3 AND number NOT IN temp.removed)
"""
"""Number of rows of a job in the view `runs` (see `show_archived_runs`), counted in an index: 20 times as fast."""


class _Jobs(NumberedNames[JobId]):
    """Jobs whose archived runs are counted when asked for: those of a past state are not counted in the table."""

    def __init__(self, connection: sqlite3.Connection, found: PastState) -> None:
        super().__init__(connection, "jobs", JobId)
        self._found = found

    def archived(self, name: JobId) -> int:
        """Return the number of archived runs of a job."""
        values = (self.number(name), self._found.last_run, self._found.position)
        return int(self._connection.execute(_ARCHIVED, values).fetchone()[0])

    def count(self, number: int, change: int) -> None:
        """Do nothing: rows are counted when asked for."""


class PastArchive(StoredRuns, StoredStatements):
    """Runs that a past state has archived, and statements up to time `until` (ns), of a state file that is only read.

    A statement is stored with its first event. So those up to a time are the ones that were stated until then; some of
    them may be in memory, too.
    """

    def __init__(
        self, connection: sqlite3.Connection, found: PastState, load: Callable[[RunId], RunRecord], until: int
    ) -> None:
        show_archived_runs(connection, found)
        jobs = _Jobs(connection, found)
        StoredRuns.__init__(self, connection, jobs, load)
        StoredStatements.__init__(self, connection, jobs, until)
        self._connection = connection
        self._changed: dict[DatasetId, dict[bytes, DatasetStatement]] = {}

    def add_statements(self, dataset: DatasetId, statements: Iterable[DatasetStatement]) -> None:
        """Add statements about a dataset, in memory."""
        self._statements(dataset).update((statement.key, statement) for statement in statements)

    def order_of_statement(self, dataset: DatasetId, key: bytes) -> Order | None:
        """Return the order of an archived statement; None if it is not in the archive."""
        changed = self._changed.get(dataset)
        if changed is None:
            return super().order_of_statement(dataset, key)
        return changed[key].order if key in changed else None

    def remove_statement(self, dataset: DatasetId, key: bytes) -> None:
        """Remove a statement, in memory."""
        self._statements(dataset).pop(key)

    def statements(self, dataset: DatasetId) -> list[DatasetStatement]:
        """Return all archived statements about a dataset, in any order."""
        changed = self._changed.get(dataset)
        return super().statements(dataset) if changed is None else [*changed.values()]

    def latest_statements(self, dataset: DatasetId, read: bool, number: int) -> list[DatasetStatement]:
        """Return the latest archived statements of a dataset's readers, or of others; at most `number`."""
        changed = self._changed.get(dataset)
        if changed is None:
            return super().latest_statements(dataset, read, number)
        return sorted((said for said in changed.values() if said.read is read), key=lambda said: said.order)[-number:]

    def statements_of(self, dataset: DatasetId) -> int:
        """Return the number of archived statements about a dataset."""
        changed = self._changed.get(dataset)
        if changed is not None:
            return len(changed)
        query = "SELECT count(*) FROM statements WHERE dataset = ? AND time <= ?"
        values = (self._datasets.number(dataset), self._until)
        return int(self._connection.execute(query, values).fetchone()[0])

    def _statements(self, dataset: DatasetId) -> dict[bytes, DatasetStatement]:
        """Return the statements about a dataset in memory, where they may be changed."""
        known = self._changed.get(dataset)
        if known is None:
            known = self._changed[dataset] = {said.key: said for said in super().statements(dataset)}
        return known
