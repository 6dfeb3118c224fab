# SPDX-License-Identifier: Apache-2.0
"""Judges OpenLineage events: by the standard, by the life of a run, by naming.

    findings = check_events(events_of("events.ndjson"))
    print(render_text(findings))

The core (`check_events`) is pure; `events_of` reads files, folders, standard input and lineage services, and
`Specification` the standard's own JSON schemas where somebody has them. Every rule is in `catalogue`.
"""

from lineage.checks.events.check_rules import RULES, Rule, Severity
from lineage.checks.events.checker import check_events
from lineage.checks.events.findings import Finding, Findings, Place
from lineage.checks.events.raw_event import Item, items_of
from lineage.checks.events.report import render_json, render_junit, render_text
from lineage.checks.events.sources import SourceError, events_of
from lineage.checks.events.specification import Specification, SpecificationError

__all__ = [
    "RULES",
    "Finding",
    "Findings",
    "Item",
    "Place",
    "Rule",
    "Severity",
    "SourceError",
    "Specification",
    "SpecificationError",
    "check_events",
    "events_of",
    "items_of",
    "render_json",
    "render_junit",
    "render_text",
]
