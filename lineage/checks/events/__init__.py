# SPDX-License-Identifier: Apache-2.0
"""Check of OpenLineage events: conformance with the standard, life cycle of each run, naming.

    findings = check_events(events_of("events.ndjson"), specification=Specification.open())
    print(render_text(findings))

`check_events` is pure; `events_of` reads files, folders, standard input and lineage services, and
`Specification.open` the JSON schemas of the standard. `check_rules` lists every rule.
"""

from lineage.checks.events.check_rules import RULES, Rule, Severity
from lineage.checks.events.checker import check_events
from lineage.checks.events.findings import EventPosition, Finding, Findings
from lineage.checks.events.raw_event import RawEvent, raw_events
from lineage.checks.events.report import render_json, render_junit, render_text
from lineage.checks.events.sources import SourceError, events_of
from lineage.checks.events.specification import Specification, SpecificationError

__all__ = [
    "RULES",
    "EventPosition",
    "Finding",
    "Findings",
    "RawEvent",
    "Rule",
    "Severity",
    "SourceError",
    "Specification",
    "SpecificationError",
    "check_events",
    "events_of",
    "raw_events",
    "render_json",
    "render_junit",
    "render_text",
]
