# SPDX-License-Identifier: Apache-2.0
"""What a check found."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from lineage.checks.events.check_rules import Rule, Severity

MAX_PER_RULE = 1_000
"""Distinct findings that are kept of one rule; further ones are only counted. Bounds memory on rubbish."""

_INDEX = re.compile(r"\[\d+\]")


@dataclass(frozen=True, slots=True)
class Place:
    """Where an event stands: its source (file, URL), its line or number counted from 1, its run and job."""

    source: str
    line: int
    job: str = ""
    run: str = ""

    def __str__(self) -> str:
        return f"{self.source}:{self.line}" if self.line else self.source


@dataclass(slots=True)
class Finding:
    """A rule that was broken, where first, and in how many places of the same job (`count`)."""

    rule: Rule
    place: Place
    path: str
    message: str
    count: int = 1

    def line(self) -> str:
        """The finding in one line, without its job."""
        run = f" run {self.place.run}" if self.place.run else ""
        path = f" {self.path}" if self.path else ""
        more = f" (and {self.count - 1} more like it)" if self.count > 1 else ""
        return f"{self.rule.severity:<7}  {self.rule.code}  {self.place}{run}{path}: {self.message}{more}"

    def to_json(self) -> dict[str, Any]:
        """`{"code", "severity", "source", "line", "job", "run", "path", "message", "remedy", "count"}`."""
        return {
            "code": self.rule.code,
            "severity": self.rule.severity,
            "source": self.place.source,
            "line": self.place.line,
            "job": self.place.job,
            "run": self.place.run,
            "path": self.path,
            "message": self.message,
            "remedy": self.rule.remedy,
            "count": self.count,
        }


@dataclass(slots=True)
class Findings:
    """All findings, in the order in which they were made; what repeats within a job is counted.

    `events` and `runs` are how many were judged, `jobs` their names as `namespace/name`.
    """

    events: int = 0
    runs: int = 0
    jobs: set[str] = field(default_factory=set)
    unkept: dict[str, int] = field(default_factory=dict)
    """How many findings of a rule were only counted, by code."""
    _kept: dict[tuple[str, str, str, str], Finding] = field(default_factory=dict)
    _per_rule: dict[str, int] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self._kept.values())

    def __len__(self) -> int:
        return len(self._kept)

    def add(self, rule: Rule, place: Place, path: str, message: str) -> None:
        """Note a finding; `message` says what is wrong there, without naming the run."""
        key = (rule.code, place.job, _INDEX.sub("[]", path), message)
        known = self._kept.get(key)
        if known is not None:
            known.count += 1
        elif self._per_rule.get(rule.code, 0) >= MAX_PER_RULE:
            self.unkept[rule.code] = self.unkept.get(rule.code, 0) + 1
        else:
            self._per_rule[rule.code] = self._per_rule.get(rule.code, 0) + 1
            self._kept[key] = Finding(rule, place, path, message)

    def of(self, severity: Severity) -> list[Finding]:
        """The findings of one severity."""
        return [finding for finding in self if finding.rule.severity is severity]

    def failures(self, strict: bool = False) -> list[Finding]:
        """What fails a check: errors, and warnings where it is `strict`."""
        return list(self) if strict else self.of(Severity.ERROR)

    def ok(self, strict: bool = False) -> bool:
        """Whether nothing fails the check."""
        return not self.failures(strict)
