# SPDX-License-Identifier: Apache-2.0
"""Event times as nanoseconds since the epoch.

Flink reports nanoseconds; `datetime` would drop the last three digits and with them the order of events.
"""

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache

_PATTERN = re.compile(r"(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2}:\d{2})(?:[.,](\d+))?([Zz]|[+-]\d{2}:?\d{2})?", re.ASCII)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NAIVE_EPOCH = _EPOCH.replace(tzinfo=None)
_SECOND = 10**9
_MAX = 2**63 - 1


@lru_cache(maxsize=256)  # an event's time is read when its shape is checked, and again for its order
def parse_time(text: str) -> int:
    """Return the nanoseconds since the epoch of an RFC 3339 time.

    A time without zone is rejected: interpreted as UTC, the events of an emitter that writes local time would be
    ordered hours before or after those of other emitters, and the graph depends on that order.

    Raises:
        ValueError: no RFC 3339 time, no zone, or outside the years 1970 to 2262 that 64 bits hold.
    """
    match = _PATTERN.fullmatch(text)
    if match is None:
        raise ValueError(f"{text[:40]!r} is not an RFC 3339 time; write it as 2026-01-31T12:00:00.123Z")
    date, clock, fraction, zone = match.groups()
    if zone is None:
        raise ValueError(f"{text!r} has no time zone; add Z or an offset such as +02:00")
    try:
        moment = datetime.fromisoformat(f"{date}T{clock}{'+00:00' if zone in 'Zz' else zone}")
        seconds = (moment - _EPOCH) // timedelta(seconds=1)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"{text!r} is not an RFC 3339 time: {error}") from error
    value = seconds * _SECOND + int((fraction or "0")[:9].ljust(9, "0"))
    if not 0 <= value <= _MAX:
        raise ValueError(f"{text!r} is outside the years 1970 to 2262")
    return value


def format_time(nanos: int) -> str:
    """Format a time as RFC 3339 in UTC with microseconds, as Marquez does."""
    return (_NAIVE_EPOCH + timedelta(microseconds=nanos // 1000)).isoformat(timespec="microseconds") + "Z"
