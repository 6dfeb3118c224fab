# SPDX-License-Identifier: Apache-2.0
"""Archive of runs and of statements about datasets in the state file."""

import json
import sqlite3
from collections.abc import Callable

from lineage.events.ids import JobId, RunId
from lineage.graph.run_record import RunRecord
from lineage.store.numbered_names import NumberedNames
from lineage.store.run_archive import StoredRuns
from lineage.store.statement_archive import StoredStatements


class StateArchive(StoredRuns, StoredStatements):
    """Archive of one state file. `load` makes the record of a batch run of its events."""

    def __init__(self, connection: sqlite3.Connection, load: Callable[[RunId], RunRecord]) -> None:
        jobs = NumberedNames(connection, "jobs", JobId)
        StoredRuns.__init__(self, connection, jobs, load)
        StoredStatements.__init__(self, connection, jobs)
        self._connection = connection

    def jobs_of(self, run: str) -> set[JobId]:
        """Return the jobs with a run of this UUID that is archived, or in the last checkpoint."""
        rows = self._connection.execute("SELECT key FROM records WHERE run = ?", (run,)).fetchall()
        return super().jobs_of(run) | {JobId(*json.loads(key)[:2]) for (key,) in rows}
