# SPDX-License-Identifier: Apache-2.0
"""Check of a sequence of events."""

from collections.abc import Iterable
from dataclasses import replace

from lineage.checks.events.check_rules import NO_EVENTS, NOT_AN_EVENT, NOT_JSON, REFUSED, TWO_SPELLINGS, Severity
from lineage.checks.events.column_sources import ColumnSources
from lineage.checks.events.conformance import conformance_problems
from lineage.checks.events.findings import EventPosition, Findings
from lineage.checks.events.name_variants import NameVariants
from lineage.checks.events.naming import naming_problems, referenced_datasets
from lineage.checks.events.problem import Problem
from lineage.checks.events.raw_event import RawEvent, UnreadableEvent
from lineage.checks.events.run_lifecycle import RunTracker
from lineage.checks.events.specification import Specification
from lineage.events import EventError, InvalidEvent, JsonObject, MalformedJson, parse_json, validate_event
from lineage.rules import Names, Rules, canonical_event


def check_events(
    events: Iterable[RawEvent],
    rules: Rules | None = None,
    specification: Specification | None = None,
    source: str = "events",
) -> Findings:
    """Check events in their order of arrival. Memory is bounded by runs, jobs and datasets, not by events.

    `rules` are the naming rules of the lineage service, applied before names are checked. Without a `specification`,
    keys and values are not compared with the standard's schemas. `source` is the position of the finding that there
    are no events.
    """
    checker = _EventChecker(rules or Rules(), specification)
    for event in events:
        checker.add(event)
    return checker.finish(source)


class _EventChecker:
    """State of one check."""

    def __init__(self, rules: Rules, specification: Specification | None) -> None:
        self._findings = Findings()
        # Events are checked against the standard, also where the service accepts other spellings.
        self._rules = replace(rules, unify_spellings=False)
        self._specification = specification
        self._runs = RunTracker()
        self._variants = NameVariants()

    def add(self, raw: RawEvent) -> None:
        """Check the next event."""
        position = EventPosition(raw.source, raw.line)
        if isinstance(raw.content, UnreadableEvent):
            self._findings.add(position, Problem(raw.content.rule, "", raw.content.message))
            return
        try:
            body = parse_json(raw.content) if isinstance(raw.content, bytes) else raw.content
        except MalformedJson as error:
            self._findings.add(position, Problem(NOT_JSON, "", str(error)))
            return
        self._findings.events += 1
        if isinstance(body, dict):
            try:
                self._check_event(body, raw)
            except MalformedJson as error:  # parsed by a caller whose parser accepts more than the strict one
                self._findings.add(position, Problem(NOT_JSON, "", str(error)))
        else:
            found = "an array" if isinstance(body, list) else repr(body)
            self._findings.add(position, Problem(NOT_AN_EVENT, "", f"an event is a JSON object, not {found:.60}"))

    def finish(self, source: str) -> Findings:
        """Check the runs that have not ended, and return all findings."""
        for position, problem in self._runs.finish():
            self._findings.add(position, problem)
        if not self._findings.events and not len(self._findings):
            self._findings.add(EventPosition(source, 0), Problem(NO_EVENTS, "", "contains no event"))
        self._findings.runs = len(self._runs)
        return self._findings

    def _check_event(self, body: JsonObject, raw: RawEvent) -> None:
        event, refusal = self._canonical_event(body)
        job, run = _joined_text(event, "job", "namespace", "name"), _joined_text(event, "run", "runId")
        position = EventPosition(raw.source, raw.line, job, run)
        if job:
            self._findings.jobs.add(job)
        problems = [*conformance_problems(event, self._specification), *naming_problems(event)]
        if refusal is not None and not any(problem.rule.severity is Severity.ERROR for problem in problems):
            problems.append(Problem(REFUSED, refusal.field, str(refusal).removeprefix(f"{refusal.field}: ")))
        for dataset in referenced_datasets(event):
            for message in self._variants.add(dataset.id):
                problems.append(Problem(TWO_SPELLINGS, dataset.path, message))
        for problem in problems:
            self._findings.add(position, problem)
        self._check_lineage(event, position)

    def _check_lineage(self, event: JsonObject, position: EventPosition) -> None:
        """Check the event against earlier ones of its run; the event of a job without a run by itself."""
        if position.run and position.job:
            for where, problem in self._runs.add(event, position):
                self._findings.add(where, problem)
        elif position.job and "run" not in event:
            columns = ColumnSources()
            columns.add(event)
            for problem in columns.finish():
                self._findings.add(position, problem)

    def _canonical_event(self, body: JsonObject) -> tuple[JsonObject, InvalidEvent | None]:
        """Return the event with canonical names; if the service rejects it, the unchanged event and the error."""
        try:
            validate_event(body)
            return canonical_event(body, Names(self._rules)), None
        except InvalidEvent as error:
            return body, error
        except EventError as error:
            return body, InvalidEvent("", str(error))


def _joined_text(event: JsonObject, part: str, *keys: str) -> str:
    """Join strings of a part of an event by slashes; empty if one of them is not a string."""
    owner = event.get(part)
    values = [owner.get(key) for key in keys] if isinstance(owner, dict) else [None]
    return "/".join(map(str, values)) if all(isinstance(value, str) for value in values) else ""
