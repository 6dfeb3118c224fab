# SPDX-License-Identifier: Apache-2.0
"""Run events of a lineage service or Marquez, read page by page."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

import httpx

from lineage.checks.events.raw_event import RawEvent
from lineage.checks.http_client import KEY_REMEDY, REFUSED_KEY, client_for
from lineage.events import MalformedJson, parse_json
from lineage.events.timestamps import parse_time

PAGE_SIZE = 100
PATH = "/api/v1/events/lineage"
_RANK = {"START": 0, "COMPLETE": 2, "ABORT": 2, "FAIL": 2}


def events_of_service(url: str) -> Iterator[RawEvent]:
    """Read the run events of a service by event time; events of equal time in the order of a run's life cycle.

    The order of arrival is not part of the service's API.

    Raises:
        ValueError: the URL is not an http URL, or the response has another shape.
        OSError: the service does not respond, or responds with an error.
    """
    events = groupby(_event_pages(url), lambda event: event.get("eventTime") if isinstance(event, dict) else None)
    number = 0
    for _, group in events:
        for event in sorted(group, key=_lifecycle_rank):
            number += 1
            yield RawEvent(url, number, event)


def by_time(events: Sequence[object]) -> list[tuple[int, object]]:
    """Sort the events of one response by time and the order of a run's life cycle; each has its index (from 1).

    The order is unchanged if an event has no time.
    """
    numbered = list(enumerate(events, 1))
    try:
        return sorted(numbered, key=lambda item: (_event_time(item[1]), _lifecycle_rank(item[1])))
    except (KeyError, TypeError, ValueError, AttributeError):
        return numbered


def _event_time(event: Any) -> int:  # noqa: ANN401
    return parse_time(event["eventTime"])


def _lifecycle_rank(event: object) -> int:
    event_type = event.get("eventType") if isinstance(event, dict) else None
    return _RANK.get(event_type, 1) if isinstance(event_type, str) else 1


def _event_pages(url: str) -> Iterator[object]:
    base = url.rstrip("/").removesuffix(PATH).removesuffix("/api/v1")
    offset = 0
    with client_for(base) as client:
        while True:
            page = list(_fetch_page(client, f"{base}{PATH}", offset))
            if not page:  # a service may return fewer events than the page size before the last page
                return
            yield from page
            offset += len(page)


def _fetch_page(client: httpx.Client, url: str, offset: int) -> Iterable[object]:
    parameters: dict[str, str | int] = {
        "limit": PAGE_SIZE,
        "offset": offset,
        "sortDirection": "asc",
        "names": "canonical",
    }
    try:
        response = client.get(url, params=parameters)
        if response.status_code in REFUSED_KEY:
            raise PermissionError(f"it responded with {response.status_code}: {KEY_REMEDY}")
        content = parse_json(response.raise_for_status().content)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise OSError(str(error) or repr(error)) from error
    except MalformedJson as error:
        raise ValueError(f"the response of {url} is not JSON: {error}") from error
    events = content.get("events") if isinstance(content, dict) else None
    if not isinstance(events, list):
        raise ValueError(f"the response of {url} has no list of events; is it a lineage service?")
    return events
