# SPDX-License-Identifier: Apache-2.0
"""A change of a dataset or job that can be the cause of a wrong number."""

from dataclasses import dataclass
from enum import StrEnum

from lineage.events import DatasetId, JobId


class ChangeKind(StrEnum):
    """Kinds of changes, causes before symptoms."""

    SCHEMA = "schema"
    DEFINITION = "definition"
    EDGES = "column edges"
    FAILURE = "failed run"
    MISSING_RUN = "missing run"
    VOLUME = "volume"
    QUALITY = "quality"
    TAGS = "tags"


SYMPTOMS = frozenset({ChangeKind.MISSING_RUN, ChangeKind.VOLUME, ChangeKind.QUALITY})
"""Kinds that another change upstream explains, if there is one; alone they are the nearest known cause."""


@dataclass(frozen=True, kw_only=True)
class Change:
    """One change.

    Attributes:
        kind: what changed.
        node: the dataset or job that changed.
        at: event time of the first evidence, ns since 1970.
        run: the first run that carried it; empty for an absence of runs.
        job: the job of that run.
        summary: the change in one line.
        removed: columns that were removed or got another type.
        added: columns that were added.
        before: the former value, as far as it can be shown.
        after: the new value.
    """

    kind: ChangeKind
    node: DatasetId | JobId
    at: int
    run: str
    job: JobId
    summary: str
    removed: frozenset[str] = frozenset()
    added: frozenset[str] = frozenset()
    before: str = ""
    after: str = ""

    @property
    def signature(self) -> tuple[object, ...]:
        """Identity of a change that passes from dataset to dataset, such as an added column."""
        return self.kind, self.removed, self.added
