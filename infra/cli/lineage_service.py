# SPDX-License-Identifier: Apache-2.0
"""What the commands about lineage read: answers of a lineage service, and graphs from wherever they are."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import httpx

from infra.errors import LabError
from lineage.checks.http_client import client_for
from lineage.events import MalformedJson, parse_json
from lineage.events.timestamps import format_time, parse_time

GRAPH = "/api/v1/graph"
_AGO = re.compile(r"-(\d+)([smhd])")
_UNIT = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


def ask(service: str, path: str, **parameters: str) -> dict[str, Any]:
    """A service's answer, a JSON object.

    Raises:
        LabError: no URL, no answer, an error (with the service's own words), or something else than an object.
    """
    url = f"{service.rstrip('/')}{path}"
    try:
        with client_for(service) as client:
            answer = client.get(url, params=parameters)
            content = parse_json(answer.content)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise LabError(
            f"the lineage service at {service} does not answer ({error}); see: lab status, lab logs lineage"
        ) from error
    except MalformedJson as error:
        raise LabError(f"{url} answers with something else than JSON ({error}); is it a lineage service?") from error
    except ValueError as error:
        raise LabError(f"{error}; write the service as http://host:port") from error
    if answer.is_error or not isinstance(content, dict):
        raise LabError(f"{url} answers {answer.status_code}: {_reason(content)}")
    return content


def _reason(content: object) -> str:
    error = content.get("error") if isinstance(content, dict) else None
    return str(error.get("message")) if isinstance(error, dict) else "no graph, but something else"


def graph_of(word: str, service: Callable[[], str], now: datetime | None = None) -> dict[str, Any]:
    """The graph that a word means: a file, a service (URL), or a time of `service`.

    A time is `now`, `-90s`, `-10m`, `-2h`, `-1d`, or RFC 3339 (`2026-01-31T12:00:00Z`).

    Raises:
        LabError: it is none of these, or cannot be read.
    """
    if word.startswith(("http://", "https://")):
        parts = urlsplit(word)
        base = urlunsplit((parts.scheme, parts.netloc, parts.path.rstrip("/").removesuffix(GRAPH), "", ""))
        pairs = dict(pair.split("=", 1) for pair in parts.query.split("&") if "=" in pair)
        return ask(base, GRAPH, **pairs)
    path = Path(word)
    if path.exists():
        return _graph_in(path)
    time = moment(word, now or datetime.now(UTC))
    return ask(service(), GRAPH) if time is None else ask(service(), GRAPH, asOf=time)


def moment(word: str, now: datetime) -> str | None:
    """A time in RFC 3339; None for `now`.

    Raises:
        LabError: it is no time.
    """
    if word == "now":
        return None
    try:
        if match := _AGO.fullmatch(word):
            then = now - timedelta(**{_UNIT[match[2]]: int(match[1])})
            return then.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        return format_time(parse_time(word))
    except (ValueError, OverflowError) as error:
        raise LabError(
            f"{word!r} is no file, no URL and no time ({error}); write a graph's file, http://host:port,"
            " 2026-01-31T12:00:00Z, -10m or now"
        ) from error


def _graph_in(path: Path) -> dict[str, Any]:
    try:
        content = parse_json(path.read_bytes())
    except OSError as error:
        raise LabError(f"cannot read the graph in {path}: {error.strerror}") from error
    except MalformedJson as error:
        raise LabError(f"{path} is no graph export: {error}; take one: curl URL{GRAPH} > graph.json") from error
    if not isinstance(content, dict):
        raise LabError(f"{path} is no graph export; take one: curl URL{GRAPH} > graph.json")
    return content
