# SPDX-License-Identifier: Apache-2.0
"""Events after the last checkpoint, which the state file does not know yet, by what they belong to."""

from collections import defaultdict
from collections.abc import Iterable

from lineage.events import DatasetId, Event, JobId
from lineage.graph.dataset_lineage import declared_job
from lineage.graph.name_links import links_of_event
from lineage.graph.snapshot import Key, Subject, subjects_of
from lineage.store.history_index import subject_of


class Tail:
    """Events by job, or by subject if they are not of runs; and what they add to the index of the state file."""

    def __init__(self, events: Iterable[Event]) -> None:
        self.of_job: defaultdict[JobId, list[Event]] = defaultdict(list)
        self.others: defaultdict[Key, list[Event]] = defaultdict(list)
        self.jobs_of_run: defaultdict[str, set[JobId]] = defaultdict(set)
        self.jobs_using: defaultdict[DatasetId, set[JobId]] = defaultdict(set)
        self.used_by: defaultdict[JobId, set[DatasetId]] = defaultdict(set)
        self.linked_names: defaultdict[DatasetId, set[DatasetId]] = defaultdict(set)
        for event in events:
            self._add(event)

    def _add(self, event: Event) -> None:
        for one, other in links_of_event(event):
            self.linked_names[one].add(other)
            self.linked_names[other].add(one)
        job = declared_job(event).job
        if job is None:
            subject = subject_of(event)
            assert subject is not None, "an event without a job is of a dataset or of the catalog"
            self.others[subject].append(event)
            return
        self.of_job[job].append(event)
        if event.run is not None:
            self.jobs_of_run[event.run.run].add(job)
        for key in subjects_of(event):
            if key.subject is Subject.DATASET:
                name = DatasetId(*key.identity)
                self.jobs_using[name].add(job)
                self.used_by[job].add(name)
