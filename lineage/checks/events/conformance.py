# SPDX-License-Identifier: Apache-2.0
"""Conformance of one event with the OpenLineage standard."""

import re
from collections.abc import Iterator

from lineage.checks.events.check_rules import (
    FACET_SCHEMA,
    FACET_UNKNOWN,
    NO_EVENT_TYPE,
    NOT_AN_EVENT,
    SCHEMA_OUTDATED,
    WRONG_VALUE,
)
from lineage.checks.events.facets import REGISTRY, UNPREFIXED, Facet, facets_of
from lineage.checks.events.problem import Problem
from lineage.checks.events.schema_problems import schema_problems
from lineage.checks.events.specification import Specification
from lineage.events import JsonObject
from lineage.events.timestamps import parse_time

_URL = re.compile(r"https?://[^/]+/spec/(?:[\w-]+/)*?(?P<version>\d+-\d+-\d+)/(?P<file>\w+)\.json(?:#(?P<anchor>.*))?")
_PREFIXED = re.compile(r"[A-Za-z][A-Za-z0-9]*_\w+")

_KINDS = {("job", "run"): "RunEvent", ("job",): "JobEvent", ("dataset",): "DatasetEvent"}
"""Kind of an event by the keys that it has."""


def conformance_problems(event: JsonObject, specification: Specification | None) -> Iterator[Problem]:
    """Return the problems of one event; without a specification, those that need no schema."""
    present = tuple(key for key in ("dataset", "job", "run") if event.get(key) is not None)
    kind = _KINDS.get(present)
    if kind is None:
        keys = " and ".join(present) or "none of run, job, dataset"
        yield Problem(NOT_AN_EVENT, "", f"an event has run and job, or job, or dataset; this one has {keys}")
        return
    problems = [*_event_problems(event, kind)]
    if specification is not None:
        problems += _schema_problems(event, kind, specification)
    # An event's schema covers the keys that all facets have, as each facet's own schema does; the latter names it.
    yield from {(problem.rule.code, problem.path): problem for problem in problems}.values()


def _event_problems(event: JsonObject, kind: str) -> Iterator[Problem]:
    time = event.get("eventTime")
    if isinstance(time, str):
        try:
            parse_time(time)
        except ValueError as error:
            yield Problem(WRONG_VALUE, "eventTime", str(error))
    if kind == "RunEvent" and event.get("eventType") is None:
        yield Problem(NO_EVENT_TYPE, "eventType", "is missing")


def _schema_problems(event: JsonObject, kind: str, specification: Specification) -> Iterator[Problem]:
    schema = specification.events[kind]
    yield from schema_problems(schema, event)
    yield from _version_problems(event.get("schemaURL"), schema.url, "schemaURL")
    for facet in facets_of(event):
        if isinstance(facet.content, dict) and facet.content.get("_deleted") is not True:
            yield from _facet_problems(facet, facet.content, specification)


def _facet_problems(facet: Facet, content: JsonObject, specification: Specification) -> Iterator[Problem]:
    schema = specification.facets.get((facet.owner, facet.key))
    if schema is None:
        yield from _custom_facet_problems(facet, specification)
        return
    yield from schema_problems(schema, content, facet.path)
    url, path = content.get("_schemaURL"), f"{facet.path}._schemaURL"
    if not isinstance(url, str) or facet.key in REGISTRY:
        return
    found, current = _URL.fullmatch(url), _URL.fullmatch(schema.url)
    if current and (found is None or (found["file"], found["anchor"]) != (current["file"], current["anchor"])):
        yield Problem(FACET_SCHEMA, path, f"is {url!r:.120}; the schema of this facet is {schema.url}")
    else:
        yield from _version_problems(url, schema.url, path)


def _version_problems(url: object, current: str, path: str) -> Iterator[Problem]:
    """Report a version older than the specification's; a newer one may come from a newer client."""
    found, known = _URL.fullmatch(url) if isinstance(url, str) else None, _URL.fullmatch(current)
    if found and known and found["file"] == known["file"] and _version_numbers(found) < _version_numbers(known):
        yield Problem(SCHEMA_OUTDATED, path, f"names version {found['version']}; {known['version']} is current")


def _version_numbers(url: re.Match[str]) -> list[int]:
    return [int(part) for part in url["version"].split("-")]


def _custom_facet_problems(facet: Facet, specification: Specification) -> Iterator[Problem]:
    owners = sorted(owner for owner, key in specification.facets if key == facet.key)
    if owners:
        message = f"{facet.key!r} is a facet of {' or '.join(owners)} in the standard, not of {facet.owner}"
        yield Problem(FACET_UNKNOWN, facet.path, message)
    elif facet.key not in UNPREFIXED and not _PREFIXED.fullmatch(facet.key):
        yield Problem(FACET_UNKNOWN, facet.path, f"{facet.key!r} is not a facet of the standard and has no prefix")
