# SPDX-License-Identifier: Apache-2.0
"""Difference of two graphs, rendered as text, JSON and JUnit XML."""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
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
    """Kind of graph element that changed; a flow is a data path from input to output, a column is one of a schema."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Change of one graph element. `owner` is its job or dataset, `namespace/name`; `text` names the element.

    `before` and `after` are the old and the new state: state and type of a job, type of a column, transformations of an
    edge; empty if the element has none. `nodes` are the jobs and datasets involved, in the direction of the data:
    neighbours are, or were, connected by an edge.
    """

    kind: Kind
    subject: Subject
    owner: str
    text: str
    before: str = ""
    after: str = ""
    nodes: tuple[Node, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return `{kind, subject, of, text, before, after, nodes: [{kind, namespace, name}]}`."""
        nodes = [node._asdict() for node in self.nodes]
        return {
            "kind": str(self.kind),
            "subject": str(self.subject),
            "of": self.owner,
            "text": self.text,
            "before": self.before,
            "after": self.after,
            "nodes": nodes,
        }

    def line(self) -> str:
        """Render the change in one line."""
        match self.kind:
            case Kind.CHANGED:
                how = f": {self.before or 'unknown'} -> {self.after or 'unknown'}"
            case _:
                how = f" ({self.before or self.after})" if self.before or self.after else ""
        return f"{self.kind:<7}  {self.subject:<11}  {self.text}{how}"


class Difference(NamedTuple):
    """Differences of two graphs, in a fixed order."""

    changes: tuple[Change, ...]

    @property
    def empty(self) -> bool:
        """Return True if the graphs are equal."""
        return not self.changes

    def to_json(self) -> dict[str, Any]:
        """Return `{"empty", "counts": {subject: {kind: n}}, "changes": [...]}`; see `Change.to_json`."""
        counts: dict[str, dict[str, int]] = {}
        for (subject, kind), number in sorted(self._change_counts().items()):
            counts.setdefault(subject, {})[kind] = number
        return {"empty": self.empty, "counts": counts, "changes": [change.to_json() for change in self.changes]}

    def render_text(self) -> str:
        """Render one line per change, then a summary."""
        return "\n".join([*(change.line() for change in self.changes), self._summary_line()]) + "\n"

    def render_json(self) -> str:
        """Render `to_json` as text."""
        return json.dumps(self.to_json(), indent=2) + "\n"

    def render_junit(self) -> str:
        """Render a failed test case per changed job and dataset; a single passed one if there is no change."""
        groups = [(owner, [change.line() for change in group]) for owner, group in self._by_owner()]
        cases = [Case("lineage graph", owner, lines) for owner, lines in groups] or [Case("lineage graph", "graph")]
        return render_junit("lineage diff", cases)

    def _by_owner(self) -> Iterator[tuple[str, Iterator[Change]]]:
        return groupby(sorted(self.changes, key=lambda change: change.owner), lambda change: change.owner)

    def _change_counts(self) -> Counter[tuple[Subject, Kind]]:
        return Counter((change.subject, change.kind) for change in self.changes)

    def _summary_line(self) -> str:
        if self.empty:
            return "the graphs are the same"
        counts = self._change_counts()
        parts = [
            f"{subject}s: " + ", ".join(f"{counts[subject, kind]} {kind}" for kind in Kind if counts[subject, kind])
            for subject in Subject
            if any(counts[subject, kind] for kind in Kind)
        ]
        return "; ".join(parts)
