# SPDX-License-Identifier: Apache-2.0
"""Findings for people, programs and CI servers."""

import json
import re
from collections.abc import Iterable
from itertools import groupby

from lineage.checks.events.check_rules import Severity
from lineage.checks.events.findings import Finding, Findings
from lineage.checks.junit import Case
from lineage.checks.junit import render_junit as junit_suite

_NO_JOB = "events of no job"
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def render_text(findings: Findings) -> str:
    """The findings by job, one line each with what to do below it, then a summary."""
    lines: list[str] = []
    for job, group in _by_job(findings):
        lines.append(_plain(job))
        for finding in group:
            lines += [f"  {_plain(finding.line())}", f"           -> {finding.rule.remedy}"]
    for code, count in sorted(findings.unkept.items()):
        lines.append(f"{code}: {count} more that are not listed")
    return "\n".join([*lines, _summary(findings)]) + "\n"


def render_json(findings: Findings, strict: bool = False) -> str:
    """`{"ok", "events", "runs", "jobs", "errors", "warnings", "unlisted", "findings": [...]}`.

    A finding is as `Finding.to_json` has it; `unlisted` counts by code what was left out.
    """
    report = {
        "ok": findings.ok(strict),
        "events": findings.events,
        "runs": findings.runs,
        "jobs": sorted(findings.jobs),
        "errors": len(findings.of(Severity.ERROR)),
        "warnings": len(findings.of(Severity.WARNING)),
        "unlisted": dict(sorted(findings.unkept.items())),
        "findings": [finding.to_json() for finding in findings],
    }
    return json.dumps(report, indent=2) + "\n"


def render_junit(findings: Findings, strict: bool = False) -> str:
    """One test case a job; warnings are notes unless they count."""
    found = dict(_by_job(findings))
    cases = []
    for job in [*([_NO_JOB] if _NO_JOB in found else []), *sorted(findings.jobs | (found.keys() - {_NO_JOB}))]:
        group = found.get(job, [])
        failures = [finding.line() for finding in group if strict or finding.rule.severity is Severity.ERROR]
        notes = [finding.line() for finding in group if finding.line() not in failures]
        cases.append(Case("lineage events", job, failures, notes))
    return junit_suite("lineage check", cases)


def _by_job(findings: Iterable[Finding]) -> list[tuple[str, list[Finding]]]:
    """Findings by job, what has no job first; errors before warnings."""
    ordered = sorted(findings, key=lambda finding: (finding.place.job, finding.rule.severity))
    return [(job or _NO_JOB, list(group)) for job, group in groupby(ordered, lambda finding: finding.place.job)]


def _summary(findings: Findings) -> str:
    judged = f"{_count(findings.events, 'event')}, {_count(findings.runs, 'run')}, {_count(len(findings.jobs), 'job')}"
    errors, warnings = len(findings.of(Severity.ERROR)), len(findings.of(Severity.WARNING))
    if not errors and not warnings:
        return f"{judged}: nothing found"
    return f"{judged}: {_count(errors, 'error')}, {_count(warnings, 'warning')}"


def _plain(text: str) -> str:
    """Text that cannot steer a terminal: names come from whoever sent the event."""
    return _CONTROL.sub("\ufffd", text)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
