# SPDX-License-Identifier: Apache-2.0
"""Index of the jobs that use the name of a dataset, in inputs, outputs or facets."""

from collections.abc import Collection

from lineage.events.ids import DatasetId, JobId

_MAX_TUPLE = 8
"""Jobs up to which a tuple is used, which needs much less memory than a set: most datasets have two or three."""


class DatasetUsers:
    """Jobs by name of a dataset; a job is never removed."""

    def __init__(self) -> None:
        self._jobs: dict[DatasetId, tuple[JobId, ...] | set[JobId]] = {}

    def add(self, name: DatasetId, job: JobId) -> bool:
        """Add a job; return False if it was there."""
        jobs = self._jobs.get(name, ())
        if job in jobs:
            return False
        if isinstance(jobs, set):
            jobs.add(job)
        else:
            self._jobs[name] = (*jobs, job) if len(jobs) < _MAX_TUPLE else {*jobs, job}
        return True

    def forget(self, name: DatasetId) -> None:
        """Remove a name whose record is not in memory."""
        self._jobs.pop(name, None)

    def of(self, name: DatasetId) -> Collection[JobId]:
        """Return the jobs that use a name."""
        return self._jobs.get(name, ())
