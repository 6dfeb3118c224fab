# SPDX-License-Identifier: Apache-2.0
"""Report of a comparison as text, JSON and JUnit XML."""

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from enum import StrEnum

from lineage.checks.junit import Case, render_junit


class Kind(StrEnum):
    """Kind of a deviation from the contract."""

    MISSING = "missing"
    UNEXPECTED = "unexpected"
    DIFFERENT = "different"
    UNLISTED = "unlisted"
    """A job that the contract does not list and that writes none of its datasets: no deviation."""


class Subject(StrEnum):
    """Subject of a deviation: a job, one of its edges, a column of a schema, an edge between columns, or what is
    demanded of a dataset: its schema, and the time of its last write."""

    JOB = "job"
    INPUT = "input"
    OUTPUT = "output"
    FIELD = "field"
    COLUMN = "column"
    SCHEMA = "schema"
    FRESHNESS = "fresh"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One deviation.

    `expected` and `found` are transformations of column edges, types of columns in schemas, or times of writes. `job`
    is the dataset if the demand is on it.
    """

    kind: Kind
    subject: Subject
    job: str
    text: str
    expected: str = ""
    found: str = ""

    def line(self) -> str:
        """Render the finding in one line."""
        match self.kind:
            case Kind.DIFFERENT:
                how = f": expected {self.expected}, found {self.found}"
            case _:
                how = f" ({self.expected or self.found})" if self.expected or self.found else ""
        return f"{self.kind:<10}  {self.subject:<6}  {self.text}{how}"


@dataclass(frozen=True, slots=True)
class Report:
    """Result for one namespace.

    Attributes:
        jobs: those that the contract lists.
        findings: deviations from the contract.
        unlisted: jobs of others: the contract does not list them, and they write none of its datasets.
        datasets: those of which the contract demands a schema or freshness.
    """

    namespace: str
    jobs: tuple[str, ...]
    findings: tuple[Finding, ...]
    unlisted: tuple[Finding, ...] = ()
    datasets: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Return True if the lineage is what the contract demands; there can be other jobs beside it."""
        return not self.findings

    @property
    def is_complete(self) -> bool:
        """Return True if the lineage is what the contract demands, and nothing else."""
        return self.ok and not self.unlisted

    def with_findings(self, further: Iterable[Finding]) -> "Report":
        """Return the report with further deviations."""
        return replace(self, findings=(*self.findings, *further))

    def render_text(self) -> str:
        """Render one line per finding and per unlisted job, then a summary."""
        lines = [finding.line() for finding in (*self.findings, *self.unlisted)]
        return "\n".join([*lines, self._summary_line()]) + "\n"

    def render_json(self) -> str:
        """Render `{"ok", "namespace", "jobs", "datasets", "findings": [FINDING], "unlisted": [FINDING]}`.

        FINDING is `{kind, subject, job, text, expected, found}`.
        """
        report = {
            "ok": self.ok,
            "namespace": self.namespace,
            "jobs": self.jobs,
            "datasets": self.datasets,
            "findings": [asdict(finding) for finding in self.findings],
            "unlisted": [asdict(finding) for finding in self.unlisted],
        }
        return json.dumps(report, indent=2) + "\n"

    def render_junit(self) -> str:
        """Render one test case for each job and demand on a dataset of the contract, and for each unexpected job."""
        listed = (*self.jobs, *self.datasets)
        unexpected = sorted({finding.job for finding in self.findings} - set(listed))
        return render_junit(
            "lineage contract",
            [
                Case(self.namespace, job, [finding.line() for finding in self.findings if finding.job == job])
                for job in (*listed, *unexpected)
            ],
        )

    def _summary_line(self) -> str:
        jobs = f"{len(self.jobs)} job{'' if len(self.jobs) == 1 else 's'} of {self.namespace}"
        if self.datasets:
            jobs += f", demands on {len(self.datasets)} dataset{'' if len(self.datasets) == 1 else 's'}"
        if self.ok:
            number = len(self.unlisted)
            others = f"; beside them {number} job{'' if number == 1 else 's'} that it does not list" if number else ""
            return f"lineage of {jobs}: as the contract says{others}"
        counts = Counter(finding.kind for finding in self.findings)
        return f"lineage of {jobs}: " + ", ".join(f"{counts[kind]} {kind}" for kind in Kind if counts[kind])
