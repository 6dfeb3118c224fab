# SPDX-License-Identifier: Apache-2.0
"""One event by the standard, without its JSON schemas: classes of the Python client, URLs, unknown facets."""

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

from openlineage.client.event_v2 import DatasetEvent, JobEvent, RunEvent
from openlineage.client.facet_v2 import BaseFacet
from openlineage.client.generated.base import BaseEvent

from lineage.checks.events import facets
from lineage.checks.events.check_rules import (
    FACET_SCHEMA,
    FACET_UNKNOWN,
    MISSING_KEY,
    NO_EVENT_TYPE,
    NO_URI,
    NOT_AN_EVENT,
    SCHEMA_OUTDATED,
    WRONG_VALUE,
)
from lineage.checks.events.classes import Problem, problems
from lineage.checks.events.facets import Facet, facets_of
from lineage.events import JsonObject
from lineage.events.timestamps import parse_time

_URL = re.compile(r"https?://[^/]+/spec/(?:[\w-]+/)*?(?P<version>\d+-\d+-\d+)/(?P<file>\w+)\.json(?:#(?P<anchor>.*))?")
_PREFIXED = re.compile(r"[A-Za-z][A-Za-z0-9]*_\w+")

_EVENTS: tuple[tuple[frozenset[str], type[BaseEvent]], ...] = (
    (frozenset({"run", "job"}), RunEvent),
    (frozenset({"job"}), JobEvent),
    (frozenset({"dataset"}), DatasetEvent),
)


def judge_by_standard(event: JsonObject) -> Iterator[Problem]:
    """What the standard has against one event."""
    present = frozenset(key for key in ("run", "job", "dataset") if event.get(key) is not None)
    cls = next((cls for keys, cls in _EVENTS if keys == present), None)
    if cls is None:
        held = " and ".join(sorted(present)) or "none of run, job, dataset"
        yield Problem(NOT_AN_EVENT, "", f"an event has run and job, or job, or dataset; this one has {held}")
        return
    yield from problems(event, cls, "")
    yield from _uri(event, "producer", "producer")
    yield from _event_schema(event, cls)
    yield from _time(event)
    if cls is RunEvent and event.get("eventType") is None:
        yield Problem(NO_EVENT_TYPE, "eventType", "is missing")
    for facet in facets_of(event):
        yield from _facet(facet)


def _time(event: JsonObject) -> Iterator[Problem]:
    """A time that the client takes and that orders nothing: without zone, or before 1970."""
    time = event.get("eventTime")
    if isinstance(time, str):
        try:
            parse_time(time)
        except ValueError as error:
            yield Problem(WRONG_VALUE, "eventTime", str(error))


def _event_schema(event: JsonObject, cls: type[BaseEvent]) -> Iterator[Problem]:
    url = event.get("schemaURL")
    yield from _uri(event, "schemaURL", "schemaURL")
    if isinstance(url, str) and (found := _URL.fullmatch(url)) and found["file"] == "OpenLineage":
        yield from _version(url, cls._get_schema(), "schemaURL")


def _facet(facet: Facet) -> Iterator[Problem]:
    content = facet.content
    if not isinstance(content, dict):
        yield from problems(content, BaseFacet, facet.path)
        return
    yield from _uri(content, "_producer", f"{facet.path}._producer")
    yield from _uri(content, "_schemaURL", f"{facet.path}._schemaURL")
    if content.get("_deleted") is True:
        return
    cls = facets.CLASSES[facet.home].get(facet.key)
    if cls is not None:
        yield from problems(content, cls, facet.path)
        yield from _facet_schema(content.get("_schemaURL"), cls, facet.path)
    elif facet.key not in facets.REGISTERED:
        yield from _unknown(facet)


def _facet_schema(url: object, cls: type[BaseFacet], path: str) -> Iterator[Problem]:
    current = cls._get_schema()
    if not isinstance(url, str) or url == current:
        return
    wanted, found = _URL.fullmatch(current), _URL.fullmatch(url)
    if wanted is None:
        return
    if found is None or (found["file"], found["anchor"]) != (wanted["file"], wanted["anchor"]):
        yield Problem(FACET_SCHEMA, f"{path}._schemaURL", f"is {url!r:.120}; the facet's own is {current}")
    else:
        yield from _version(url, current, f"{path}._schemaURL")


def _version(url: str, current: str, path: str) -> Iterator[Problem]:
    """An older version than the classes'; a newer one is only newer than this check."""
    found, known = _URL.fullmatch(url), _URL.fullmatch(current)
    if found and known and _numbers(found["version"]) < _numbers(known["version"]):
        yield Problem(SCHEMA_OUTDATED, path, f"names version {found['version']}; {known['version']} is current")


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split("-")]


def _unknown(facet: Facet) -> Iterator[Problem]:
    homes = sorted(home for home, known in facets.CLASSES.items() if facet.key in known)
    if homes:
        where = " or ".join(homes)
        yield Problem(FACET_UNKNOWN, facet.path, f"the standard has {facet.key!r} as a facet of {where}, not here")
    elif facet.key not in facets.UNPREFIXED and not _PREFIXED.fullmatch(facet.key):
        yield Problem(FACET_UNKNOWN, facet.path, f"{facet.key!r} is no facet of the standard and has no prefix")


def _uri(owner: JsonObject, key: str, path: str) -> Iterator[Problem]:
    value = owner.get(key)
    if value is None:
        yield Problem(MISSING_KEY, path, "is missing; every event and facet says who made it and by which schema")
    elif not isinstance(value, str):
        yield Problem(WRONG_VALUE, path, "must be a string")
    elif not _is_uri(value):
        yield Problem(NO_URI, path, f"{value!r:.120} is no absolute URI")


def _is_uri(text: str) -> bool:
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return bool(parts.scheme) and bool(parts.netloc or parts.path) and not re.search(r"[\s<>\"{}|\\^`]", text)
