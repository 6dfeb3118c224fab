# SPDX-License-Identifier: Apache-2.0
"""Client of a lineage service: JSON responses, maintenance, and graphs of a file, a service or a point in time."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote, urlsplit, urlunsplit

import httpx
import typer

from infra.errors import LabError
from infra.project import CREDENTIALS_FILE
from lineage.checks.http_client import KEY_REMEDY, REFUSED_KEY, TIMEOUT, client_for
from lineage.checks.node_lookup import Node, Unresolved, resolve
from lineage.events import MalformedJson, parse_json
from lineage.events.timestamps import format_time, parse_time

UrlOption = Annotated[str | None, typer.Option("--url", help="URL of a lineage service, instead of the stack's.")]

GRAPH_PATH = "/api/v1/graph"
SUMMARIES_PATH = "/api/v1/summaries"
_RELATIVE_TIME = re.compile(r"-(\d+)([smhd])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


def get_json(service: str, path: str, **parameters: str) -> dict[str, Any]:
    """Return the JSON object that a service responds with.

    Raises:
        LabError: the service is not a URL, does not respond, responds with an error, or not with a JSON object.
    """
    return _json_object(service, path, lambda client, url: client.get(url, params=parameters))


def dataset_path(namespace: str, name: str) -> str:
    """Return the path of a dataset in the API."""
    return f"/api/v1/namespaces/{quote(namespace, safe='')}/datasets/{quote(name, safe='')}"


def find_node(service: str, name: str, **parameters: str) -> Node:
    """Return the dataset or column of a name, from the graph of the service; `parameters` as of `GRAPH_PATH`.

    Raises:
        LabError: there is none, or several; or as of `get_json`.
    """
    try:
        return resolve(name, get_json(service, GRAPH_PATH, **parameters))
    except Unresolved as error:
        raise LabError(str(error)) from error


def post_json(service: str, key: str, path: str, **parameters: str) -> dict[str, Any]:
    """Request maintenance with an admin key, as of `administer`."""
    return administer("POST", service, key, path, **parameters)


def administer(
    method: str, service: str, key: str, path: str, content: object = None, **parameters: str
) -> dict[str, Any]:
    """Send a request with an admin key, and with JSON unless `content` is None; return the JSON object of the response.

    The response is awaited for as long as the work takes.

    Raises:
        LabError: as of `get_json`; or the key is missing or refused.
    """
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    unlimited = httpx.Timeout(TIMEOUT, read=None)

    def send(client: httpx.Client, url: str) -> httpx.Response:
        client.headers.pop("Authorization", None)  # the key that reads
        # httpx sends no body for None.
        return client.request(method, url, params=parameters, headers=headers, timeout=unlimited, json=content)

    return _json_object(service, path, send, by_admin=True)


def _json_object(
    service: str, path: str, exchange: Callable[[httpx.Client, str], httpx.Response], by_admin: bool = False
) -> dict[str, Any]:
    url = f"{service.rstrip('/')}{path}"
    try:
        with client_for(service) as client:
            response = exchange(client, url)
            content = parse_json(response.content)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise LabError(
            f"the lineage service at {service} does not respond ({error}); see: bin/lab status, bin/lab logs lineage"
        ) from error
    except MalformedJson as error:
        raise LabError(f"{url} did not respond with JSON ({error}); is it a lineage service?") from error
    except ValueError as error:
        raise LabError(f"{error}; write the service as http://host:port") from error
    if not by_admin and response.status_code in REFUSED_KEY:
        raise LabError(f"{url} responded with {response.status_code}: {_error_message(content)}; {KEY_REMEDY}")
    if response.status_code in REFUSED_KEY:
        raise LabError(
            f"{service} refused the admin key ({response.status_code}: {_error_message(content)}); that of a lab is"
            f" LINEAGE_ADMIN_KEY in .lab/STACK/{CREDENTIALS_FILE}, that of another service in admin-token of its data"
            " directory: set the environment variable LINEAGE_ADMIN_KEY to it"
        )
    if response.is_error or not isinstance(content, dict):
        raise LabError(f"{url} responded with {response.status_code}: {_error_message(content)}")
    return content


def _error_message(content: object) -> str:
    error = content.get("error") if isinstance(content, dict) else None
    return str(error.get("message")) if isinstance(error, dict) else "not a response of a lineage service"


def load_graph(source: str, service: Callable[[], str], now: datetime | None = None) -> dict[str, Any]:
    """Return the graph of a file, of a service (URL), or of the service `service` at a point in time.

    A time is `now`, `-90s`, `-10m`, `-2h`, `-1d`, or RFC 3339 (`2026-01-31T12:00:00Z`).

    Raises:
        LabError: `source` is none of these, or cannot be read.
    """
    if source.startswith(("http://", "https://")):
        parts = urlsplit(source)
        base = urlunsplit((parts.scheme, parts.netloc, parts.path.rstrip("/").removesuffix(GRAPH_PATH), "", ""))
        parameters = dict(pair.split("=", 1) for pair in parts.query.split("&") if "=" in pair)
        return get_json(base, GRAPH_PATH, **parameters)
    path = Path(source)
    if path.exists():
        return _read_graph_file(path)
    time = as_of_time(source, now or datetime.now(UTC))
    return get_json(service(), GRAPH_PATH) if time is None else get_json(service(), GRAPH_PATH, asOf=time)


def as_of_time(text: str, now: datetime) -> str | None:
    """Return a relative or absolute time in RFC 3339; None for `now`.

    Raises:
        LabError: the text is not a time.
    """
    if text == "now":
        return None
    try:
        return _rfc3339(text, now)
    except (ValueError, OverflowError) as error:
        raise LabError(
            f"{text!r} is not a file, a URL or a time ({error}); write the file of a graph, http://host:port,"
            " 2026-01-31T12:00:00Z, -10m or now"
        ) from error


def instant(text: str, now: datetime) -> str:
    """Return a time in RFC 3339: `now`, a relative one or an absolute one.

    Raises:
        LabError: the text is not a time.
    """
    try:
        return _rfc3339("-0s" if text == "now" else text, now)
    except (ValueError, OverflowError) as error:
        raise LabError(f"{text!r} is not a time ({error}); write 2026-01-31T12:00:00Z, -30d or now") from error


def _rfc3339(text: str, now: datetime) -> str:
    """Return a relative or absolute time; raises ValueError or OverflowError."""
    if match := _RELATIVE_TIME.fullmatch(text):
        time = now - timedelta(**{_UNITS[match[2]]: int(match[1])})
        return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return format_time(parse_time(text))


def _read_graph_file(path: Path) -> dict[str, Any]:
    try:
        content = parse_json(path.read_bytes())
        if not isinstance(content, dict):
            raise MalformedJson("not a JSON object")
    except OSError as error:
        raise LabError(f"cannot read the graph file {path}: {error.strerror}") from error
    except MalformedJson as error:
        raise LabError(f"{path} is not a graph export: {error}; get one: curl URL{GRAPH_PATH} > graph.json") from error
    return content
