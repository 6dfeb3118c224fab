# SPDX-License-Identifier: Apache-2.0
"""Report of a comparison as text, JSON and JUnit XML."""

import json
from collections import Counter
from dataclasses import asdict, dataclass
from enum import StrEnum

from lineage.checks.junit import Case, render_junit


class Kind(StrEnum):
    """Kind of a deviation from the contract."""

    MISSING = "missing"
    UNEXPECTED = "unexpected"
    DIFFERENT = "different"


class Subject(StrEnum):
    """Subject of a deviation: a job, one of its edges, a column of a schema, an edge between columns."""

    JOB = "job"
    INPUT = "input"
    OUTPUT = "output"
    FIELD = "field"
    COLUMN = "column"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One deviation. `expected` and `found` are transformations, for column edges only."""

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
    """Result for one namespace. `jobs` are those that the contract lists."""

    namespace: str
    jobs: tuple[str, ...]
    findings: tuple[Finding, ...]

    @property
    def ok(self) -> bool:
        """Return True if the lineage matches the contract."""
        return not self.findings

    def render_text(self) -> str:
        """Render one line per finding, then a summary."""
        lines = [finding.line() for finding in self.findings]
        return "\n".join([*lines, self._summary_line()]) + "\n"

    def render_json(self) -> str:
        """Render `{"ok", "namespace", "jobs", "findings": [{kind, subject, job, text, expected, found}]}`."""
        findings = [asdict(finding) for finding in self.findings]
        report = {"ok": self.ok, "namespace": self.namespace, "jobs": self.jobs, "findings": findings}
        return json.dumps(report, indent=2) + "\n"

    def render_junit(self) -> str:
        """Render one test case for each job of the contract and for each unexpected job."""
        unexpected = sorted({finding.job for finding in self.findings} - set(self.jobs))
        return render_junit(
            "lineage contract",
            [
                Case(self.namespace, job, [finding.line() for finding in self.findings if finding.job == job])
                for job in (*self.jobs, *unexpected)
            ],
        )

    def _summary_line(self) -> str:
        jobs = f"{len(self.jobs)} job{'' if len(self.jobs) == 1 else 's'} of {self.namespace}"
        if self.ok:
            return f"lineage of {jobs}: as the contract says"
        counts = Counter(finding.kind for finding in self.findings)
        return f"lineage of {jobs}: " + ", ".join(f"{counts[kind]} {kind}" for kind in Kind if counts[kind])
