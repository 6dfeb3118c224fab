# SPDX-License-Identifier: Apache-2.0
"""The check itself: events in, findings out."""

from collections.abc import Iterable

from lineage.checks.events.check_rules import (
    NO_EVENTS,
    NOT_AN_EVENT,
    NOT_JSON,
    REFUSED,
    SPECIFICATION,
    TWO_SPELLINGS,
    Severity,
)
from lineage.checks.events.column_sources import ColumnSources
from lineage.checks.events.findings import Findings, Place
from lineage.checks.events.name_variants import Spellings
from lineage.checks.events.naming import judge_names, named_datasets
from lineage.checks.events.raw_event import Item, Unreadable
from lineage.checks.events.run_lifecycle import Sequence
from lineage.checks.events.specification import Specification
from lineage.checks.events.standard import judge_by_standard
from lineage.events import EventError, InvalidEvent, JsonObject, MalformedJson, check_shape, parse_json
from lineage.rules import Names, Rules, canonical_event
from lineage.rules.event_reader import NOWHERE


def check_events(
    items: Iterable[Item],
    rules: Rules | None = None,
    specification: Specification | None = None,
    source: str = "events",
) -> Findings:
    """Judge events in the order in which they arrived.

    `rules` are the service's: names are judged as the service would know them. `specification` are the
    standard's JSON schemas, which are asked too where they are given. `source` is what has no event where there is
    none. Memory is bounded by runs, jobs and
    datasets, not by events.
    """
    checker = _Checker(rules or Rules(), specification)
    for item in items:
        checker.join(item)
    return checker.finish(source)


class _Checker:
    """Goes through the events one by one."""

    def __init__(self, rules: Rules, specification: Specification | None) -> None:
        self._findings = Findings()
        self._rules = rules
        self._specification = specification
        self._sequence = Sequence()
        self._spellings = Spellings()

    def join(self, item: Item) -> None:
        """Judge one more event."""
        place = Place(item.source, item.line)
        if isinstance(item.content, Unreadable):
            self._findings.add(item.content.rule, place, "", item.content.message)
            return
        try:
            body = parse_json(item.content) if isinstance(item.content, bytes) else item.content
        except MalformedJson as error:
            self._findings.add(NOT_JSON, place, "", str(error))
            return
        self._findings.events += 1
        if isinstance(body, dict):
            try:
                self._judge(body, item)
            except MalformedJson as error:  # parsed elsewhere, from JSON that the strict reader would refuse
                self._findings.add(NOT_JSON, place, "", str(error))
        else:
            found = "an array" if isinstance(body, list) else repr(body)
            self._findings.add(NOT_AN_EVENT, place, "", f"an event is a JSON object, not {found:.60}")

    def finish(self, source: str) -> Findings:
        """Judge what is left open, and return all findings."""
        for place, problem in self._sequence.finish():
            self._findings.add(problem.rule, place, problem.path, problem.message)
        if not self._findings.events and not len(self._findings):
            self._findings.add(NO_EVENTS, Place(source, 0), "", "there is no event in it")
        self._findings.runs = len(self._sequence)
        return self._findings

    def _judge(self, body: JsonObject, item: Item) -> None:
        event, refusal = self._canonical(body)
        job, run = _text(event, "job", "namespace", "name"), _text(event, "run", "runId")
        place = Place(item.source, item.line, job, run)
        if job:
            self._findings.jobs.add(job)
        errors = False
        for problem in (*judge_by_standard(event), *judge_names(event)):
            errors |= problem.rule.severity is Severity.ERROR
            self._findings.add(problem.rule, place, problem.path, problem.message)
        if refusal is not None and not errors:
            self._findings.add(REFUSED, place, refusal.field, str(refusal).removeprefix(f"{refusal.field}: "))
        for named in named_datasets(event):
            for message in self._spellings.join(named):
                self._findings.add(TWO_SPELLINGS, place, named.path, message)
        if self._specification is not None:
            for path, message in self._specification.errors(event):
                self._findings.add(SPECIFICATION, place, path, message)
        self._sequences(event, place)

    def _sequences(self, event: JsonObject, place: Place) -> None:
        if place.run and place.job:
            for where, problem in self._sequence.join(event, place):
                self._findings.add(problem.rule, where, problem.path, problem.message)
        elif place.job and "run" not in event:
            columns = ColumnSources()
            columns.join(event)
            for problem in columns.close():
                self._findings.add(problem.rule, place, problem.path, problem.message)

    def _canonical(self, body: JsonObject) -> tuple[JsonObject, InvalidEvent | None]:
        """The event under canonical names, and why the service refuses it; as it came where it does."""
        try:
            check_shape(body)
            return canonical_event(body, Names(self._rules, NOWHERE)), None
        except InvalidEvent as error:
            return body, error
        except EventError as error:
            return body, InvalidEvent("", str(error))


def _text(event: JsonObject, part: str, *keys: str) -> str:
    """Texts of a part of an event, joined by a slash; empty where one of them is no text."""
    owner = event.get(part)
    values = [owner.get(key) for key in keys] if isinstance(owner, dict) else [None]
    return "/".join(map(str, values)) if all(isinstance(value, str) for value in values) else ""
