# SPDX-License-Identifier: Apache-2.0
"""Findings of a check, deduplicated."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from lineage.checks.events.check_rules import Rule, Severity
from lineage.checks.events.problem import Problem

MAX_PER_RULE = 1_000
"""Distinct findings of one rule that are kept; further ones are only counted, which bounds memory."""

_INDEX = re.compile(r"\[\d+\]")


@dataclass(frozen=True, slots=True)
class EventPosition:
    """Position of an event: its source (file, URL), its line or number counted from 1, its job and run."""

    source: str
    line: int
    job: str = ""
    run: str = ""

    def __str__(self) -> str:
        return f"{self.source}:{self.line}" if self.line else self.source


@dataclass(slots=True, kw_only=True)
class Finding:
    """A violated rule, the position of the first violation, and the number of violations in the same job."""

    rule: Rule
    position: EventPosition
    path: str
    message: str
    count: int = 1

    def line(self) -> str:
        """Return the finding in one line, without its job."""
        run = f" run {self.position.run}" if self.position.run else ""
        path = f" {self.path}" if self.path else ""
        more = f" (and {self.count - 1} more like it)" if self.count > 1 else ""
        return f"{self.rule.severity:<7}  {self.rule.code}  {self.position}{run}{path}: {self.message}{more}"

    def to_json(self) -> dict[str, Any]:
        """Return `{"code", "severity", "source", "line", "job", "run", "path", "message", "remedy", "count"}`."""
        return {
            "code": self.rule.code,
            "severity": self.rule.severity,
            "source": self.position.source,
            "line": self.position.line,
            "job": self.position.job,
            "run": self.position.run,
            "path": self.path,
            "message": self.message,
            "remedy": self.rule.remedy,
            "count": self.count,
        }


@dataclass(slots=True)
class Findings:
    """All findings in the order in which they were made; repetitions within a job are counted.

    `events` and `runs` are the numbers of checked events and runs, `jobs` the checked jobs as `namespace/name`.
    """

    events: int = 0
    runs: int = 0
    jobs: set[str] = field(default_factory=set)
    unlisted: dict[str, int] = field(default_factory=dict)
    """Findings beyond `MAX_PER_RULE` by code."""
    _listed: dict[tuple[str, str, str, str], Finding] = field(default_factory=dict)
    _per_rule: dict[str, int] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self._listed.values())

    def __len__(self) -> int:
        return len(self._listed)

    def add(self, position: EventPosition, problem: Problem) -> None:
        """Add a problem of the event at a position."""
        code = problem.rule.code
        key = (code, position.job, _INDEX.sub("[]", problem.path), problem.message)
        known = self._listed.get(key)
        if known is not None:
            known.count += 1
        elif self._per_rule.get(code, 0) >= MAX_PER_RULE:
            self.unlisted[code] = self.unlisted.get(code, 0) + 1
        else:
            self._per_rule[code] = self._per_rule.get(code, 0) + 1
            self._listed[key] = Finding(
                rule=problem.rule, position=position, path=problem.path, message=problem.message
            )

    def with_severity(self, severity: Severity) -> list[Finding]:
        """Return the findings of one severity."""
        return [finding for finding in self if finding.rule.severity is severity]

    def failures(self, strict: bool = False) -> list[Finding]:
        """Return the findings that fail a check: errors, and warnings if `strict`."""
        return list(self) if strict else self.with_severity(Severity.ERROR)

    def ok(self, strict: bool = False) -> bool:
        """Check that there are no failures."""
        return not self.failures(strict)
