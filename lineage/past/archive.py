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


class _Jobs(NumberedNames[JobId]):
    """Jobs whose archived runs are counted when asked for: those of a past state are not counted in the table."""

    def archived(self, name: JobId) -> int:
        """Return the number of archived runs of a job."""
        query = "SELECT count(*) FROM runs WHERE job = ?"
        return int(self._connection.execute(query, (self.number(name),)).fetchone()[0])

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
        jobs = _Jobs(connection, "jobs", JobId)
        StoredRuns.__init__(self, connection, jobs, load)
        StoredStatements.__init__(self, connection, jobs)
        self._connection = connection
        self._until = until
        self._changed: dict[DatasetId, dict[bytes, DatasetStatement]] = {}

    def add_statements(self, dataset: DatasetId, statements: Iterable[DatasetStatement]) -> None:
        """Add statements about a dataset, in memory."""
        self._statements(dataset).update((statement.key, statement) for statement in statements)

    def order_of_statement(self, dataset: DatasetId, key: bytes) -> Order | None:
        """Return the order of an archived statement; None if it is not in the archive."""
        found = self._statements(dataset).get(key)
        return None if found is None else found.order

    def remove_statement(self, dataset: DatasetId, key: bytes) -> None:
        """Remove a statement, in memory."""
        self._statements(dataset).pop(key)

    def statements(self, dataset: DatasetId) -> list[DatasetStatement]:
        """Return all archived statements about a dataset, in any order."""
        return [*self._statements(dataset).values()]

    def statements_of(self, dataset: DatasetId) -> int:
        """Return the number of archived statements about a dataset."""
        return len(self._statements(dataset))

    def _statements(self, dataset: DatasetId) -> dict[bytes, DatasetStatement]:
        known = self._changed.get(dataset)
        if known is None:
            stored = super().statements(dataset)
            known = {statement.key: statement for statement in stored if statement.order.time <= self._until}
            self._changed[dataset] = known
        return known
