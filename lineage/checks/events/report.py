# SPDX-License-Identifier: Apache-2.0
"""Reports of a check as text, JSON and JUnit XML."""

import json
import re
from collections.abc import Iterable
from itertools import groupby

from lineage.checks.events.check_rules import Severity
from lineage.checks.events.findings import Finding, Findings
from lineage.checks.junit import Case
from lineage.checks.junit import render_junit as junit_suite

_NO_JOB = "events without a job"
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def render_text(findings: Findings) -> str:
    """Render the findings by job, each with its remedy on the next line, then a summary."""
    lines: list[str] = []
    for job, group in _by_job(findings):
        lines.append(_without_control_characters(job))
        for finding in group:
            lines += [f"  {_without_control_characters(finding.line())}", f"           -> {finding.rule.remedy}"]
    for code, count in sorted(findings.unlisted.items()):
        lines.append(f"{code}: {count} more, not listed")
    return "\n".join([*lines, _summary_line(findings)]) + "\n"


def render_json(findings: Findings, strict: bool = False) -> str:
    """Render `{"ok", "events", "runs", "jobs", "errors", "warnings", "unlisted", "findings": [...]}`.

    `Finding.to_json` describes a finding; `unlisted` counts the findings that are not listed, by code.
    """
    report = {
        "ok": findings.ok(strict),
        "events": findings.events,
        "runs": findings.runs,
        "jobs": sorted(findings.jobs),
        "errors": len(findings.with_severity(Severity.ERROR)),
        "warnings": len(findings.with_severity(Severity.WARNING)),
        "unlisted": dict(sorted(findings.unlisted.items())),
        "findings": [finding.to_json() for finding in findings],
    }
    return json.dumps(report, indent=2) + "\n"


def render_junit(findings: Findings, strict: bool = False) -> str:
    """Render one test case for each job; warnings fail it only if `strict`."""
    found = dict(_by_job(findings))
    cases = []
    for job in [*([_NO_JOB] if _NO_JOB in found else []), *sorted(findings.jobs | (found.keys() - {_NO_JOB}))]:
        group = found.get(job, [])
        failures = [finding.line() for finding in group if strict or finding.rule.severity is Severity.ERROR]
        notes = [finding.line() for finding in group if finding.line() not in failures]
        cases.append(Case("lineage events", job, failures, notes))
    return junit_suite("lineage check", cases)


def _by_job(findings: Iterable[Finding]) -> list[tuple[str, list[Finding]]]:
    """Group findings by job, those without a job first; errors precede warnings."""
    ordered = sorted(findings, key=lambda finding: (finding.position.job, finding.rule.severity))
    return [(job or _NO_JOB, list(group)) for job, group in groupby(ordered, lambda finding: finding.position.job)]


def _summary_line(findings: Findings) -> str:
    counts = ((findings.events, "event"), (findings.runs, "run"), (len(findings.jobs), "job"))
    checked = ", ".join(_count_noun(number, noun) for number, noun in counts)
    errors, warnings = len(findings.with_severity(Severity.ERROR)), len(findings.with_severity(Severity.WARNING))
    if not errors and not warnings:
        return f"{checked}: no findings"
    return f"{checked}: {_count_noun(errors, 'error')}, {_count_noun(warnings, 'warning')}"


def _without_control_characters(text: str) -> str:
    """Replace control characters, which could control a terminal: names come from the senders of events."""
    return _CONTROL.sub("\ufffd", text)


def _count_noun(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
