# SPDX-License-Identifier: Apache-2.0
"""Classification of a backend's responses to an event."""

import time
from email.utils import parsedate_to_datetime
from enum import StrEnum
from typing import NamedTuple

import httpx

MAX_RETRY_AFTER = 3600.0
MAX_TEXT = 300
"""Characters of a response kept as the cause of a rejection."""

_CLIENT_ERRORS = range(400, 500)
_NOT_EVENT_RELATED = frozenset({401, 403, 404, 405, 407, 408, 421, 425, 426, 429, 451})
"""Client errors caused by the URL, credentials or temporary state, not by the event. Treated as permanent, a wrong
URL would turn the entire log into dead letters."""


class AttemptStatus(StrEnum):
    """Outcome of one request."""

    ACCEPTED = "accepted"
    REFUSED = "refused"
    """Permanent rejection of this event."""

    FAILED = "failed"
    """Server error, timeout or lost connection: caused by the backend or by this event."""

    UNAVAILABLE = "unavailable"
    """The backend accepts no events now; no event is the cause."""


class AttemptResult(NamedTuple):
    """Result of one request; `text` is for people, `retry_after` in seconds if the backend sets it."""

    status: AttemptStatus
    text: str
    retry_after: float | None = None


def classify_response(response: httpx.Response) -> AttemptResult:
    """Return the result of a request that was answered.

    A redirect is not followed: the credentials are for the configured host, and most clients turn a redirected POST
    into a GET, whose 200 would count as acceptance.
    """
    status = response.status_code
    text = f"HTTP {status} {response.text[:MAX_TEXT]}".strip()
    if response.is_success:
        return AttemptResult(AttemptStatus.ACCEPTED, text)
    if response.is_redirect:
        target = response.headers.get("location")
        return AttemptResult(AttemptStatus.UNAVAILABLE, f"HTTP {status} redirects to {target}; forward to that URL")
    if status in _CLIENT_ERRORS and status not in _NOT_EVENT_RELATED:
        return AttemptResult(AttemptStatus.REFUSED, text)
    retry_after = _retry_after_seconds(response.headers.get("retry-after"))
    if status >= 500 and retry_after is None:
        return AttemptResult(AttemptStatus.FAILED, text)
    return AttemptResult(AttemptStatus.UNAVAILABLE, text, retry_after)


def _retry_after_seconds(retry_after: str | None) -> float | None:
    """Return the seconds of a Retry-After header, a number or a date; None if it is invalid."""
    if retry_after is None:
        return None
    if retry_after.strip().isdecimal():
        wanted = float(retry_after)
    else:
        try:
            wanted = parsedate_to_datetime(retry_after).timestamp() - time.time()
        except ValueError:
            return None
    return min(max(wanted, 0.0), MAX_RETRY_AFTER)
