# SPDX-License-Identifier: Apache-2.0
"""Difference of two graphs, rendered as text, JSON and JUnit XML."""

import json
from collections import Counter
from collections.abc import Iterator
from enum import StrEnum
from itertools import groupby
from typing import Any, NamedTuple

from lineage.checks.junit import Case, render_junit


class Kind(StrEnum):
    """Kind of a change."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"


class Subject(StrEnum):
    """What it happened to: a job, a dataset, a column of a schema, an edge of tables, a flow, an edge of columns."""

    JOB = "job"
    DATASET = "dataset"
    COLUMN = "column"
    EDGE = "edge"
    FLOW = "flow"
    COLUMN_EDGE = "column edge"


class Node(NamedTuple):
    """A job or a dataset; `kind` is one of the two words."""

    kind: str
    namespace: str
    name: str


class Change(NamedTuple):
    """One change. `of` is the job or dataset that it belongs to, `namespace/name`; `text` names what changed.

    `before` and `after` say how it was and is: state and type of a job, type of a column, transformations of an
    edge; empty where there is nothing to say. `nodes` are the jobs and datasets that it is about, in the direction of
    the data: between neighbours there is, or was, an edge.
    """

    kind: Kind
    subject: Subject
    of: str
    text: str
    before: str = ""
    after: str = ""
    nodes: tuple[Node, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """`{kind, subject, of, text, before, after, nodes: [{kind, namespace, name}]}`."""
        nodes = [node._asdict() for node in self.nodes]
        return {**self._asdict(), "kind": str(self.kind), "subject": str(self.subject), "nodes": nodes}

    def line(self) -> str:
        """The change in one line."""
        match self.kind:
            case Kind.CHANGED:
                how = f": {self.before or 'unknown'} -> {self.after or 'unknown'}"
            case _:
                how = f" ({self.before or self.after})" if self.before or self.after else ""
        return f"{self.kind:<7}  {self.subject:<11}  {self.text}{how}"


class Difference(NamedTuple):
    """Everything that two graphs differ in, in a fixed order."""

    changes: tuple[Change, ...]

    @property
    def empty(self) -> bool:
        """Whether the graphs are the same."""
        return not self.changes

    def to_json(self) -> dict[str, Any]:
        """`{"empty", "counts": {subject: {kind: n}}, "changes": [...]}`; see `Change.to_json`."""
        counts: dict[str, dict[str, int]] = {}
        for (subject, kind), number in sorted(self._counts().items()):
            counts.setdefault(subject, {})[kind] = number
        return {"empty": self.empty, "counts": counts, "changes": [change.to_json() for change in self.changes]}

    def render_text(self) -> str:
        """One line a change, then a summary."""
        return "\n".join([*(change.line() for change in self.changes), self._summary()]) + "\n"

    def render_json(self) -> str:
        """`to_json` as text."""
        return json.dumps(self.to_json(), indent=2) + "\n"

    def render_junit(self) -> str:
        """One failed test case for each job and dataset that changes belong to; one that passed for none."""
        groups = [(of, [change.line() for change in group]) for of, group in self._by_owner()]
        cases = [Case("lineage graph", of, lines) for of, lines in groups] or [Case("lineage graph", "graph")]
        return render_junit("lineage diff", cases)

    def _by_owner(self) -> Iterator[tuple[str, Iterator[Change]]]:
        return groupby(sorted(self.changes, key=lambda change: change.of), lambda change: change.of)

    def _counts(self) -> Counter[tuple[Subject, Kind]]:
        return Counter((change.subject, change.kind) for change in self.changes)

    def _summary(self) -> str:
        if self.empty:
            return "the graphs are the same"
        counts = self._counts()
        parts = [
            f"{subject}s: " + ", ".join(f"{counts[subject, kind]} {kind}" for kind in Kind if counts[subject, kind])
            for subject in Subject
            if any(counts[subject, kind] for kind in Kind)
        ]
        return "; ".join(parts)
