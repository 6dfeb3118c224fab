# SPDX-License-Identifier: Apache-2.0
"""Records of the last checkpoint that are read when they are used."""

import sqlite3

from lineage.events.ids import DatasetId, JobId
from lineage.graph.records import LineageRecords
from lineage.graph.snapshot import Key, Snapshot, Subject, restore, run_position
from lineage.store.history_index import run_keys
from lineage.store.rows import row_key
from lineage.store.state_records import state_record

_RECORD = "SELECT kind, key, body FROM records WHERE kind = ? AND key = ?"
_RUNS = "SELECT kind, key, body FROM records WHERE kind = 'run' AND key > ? AND key < ?"


class CheckpointRecords:
    """Records of jobs and datasets in the state file, of which `connection` reads the last checkpoint."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def read_job(self, lineage: LineageRecords, job: JobId) -> None:
        """Restore a job with the runs that were in memory."""
        record = self._record(Key(Subject.JOB, tuple(job)))
        restore(lineage, [record, *self._runs(job)], settled=True)

    def read_dataset(self, lineage: LineageRecords, name: DatasetId) -> None:
        """Restore a dataset under one name."""
        restore(lineage, [self._record(Key(Subject.DATASET, tuple(name)))], settled=True)

    def _record(self, key: Key) -> Snapshot:
        row = self._connection.execute(_RECORD, row_key(key)).fetchone()
        return state_record(*row)

    def _runs(self, job: JobId) -> list[Snapshot]:
        rows = self._connection.execute(_RUNS, run_keys(job)).fetchall()
        return sorted((state_record(*row) for row in rows), key=run_position)
