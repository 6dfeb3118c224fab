# SPDX-License-Identifier: Apache-2.0
"""Requests of `lab lineage cause`, and the run events of a period."""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple, Self

from infra.cli.lineage_client import find_node, get_json
from infra.errors import LabError
from infra.settings import DURATION, duration_seconds
from lineage.events.timestamps import format_time, parse_time

EVENTS_PATH = "/api/v1/events/lineage"
CAUSE_PATH = "/api/v1/cause"
EVENTS_PER_PAGE = 1000


class Period(NamedTuple):
    """Period of a search, ns since 1970: from `since` to `until`, compared with the time from `first` to `since`."""

    first: int
    since: int
    until: int

    @classmethod
    def of(cls, since: str, until: str, baseline: str) -> Self:
        """Parse two times (RFC 3339) and a duration.

        Raises:
            LabError: `until` is not after `since`, or `baseline` is not a duration.
        """
        begin, end = parse_time(since), parse_time(until)
        if begin >= end:
            raise LabError(f"--since {since} is not before --until {until}: name a time at which the number was right")
        if not re.fullmatch(DURATION, baseline):
            raise LabError(f"--baseline {baseline!r} is not a duration; write 12h or 7d")
        return cls(max(0, begin - duration_seconds(baseline) * 10**9), begin, end)


def cause_of(service: str, node: str, period: Period) -> dict[str, Any]:
    """Return what changed upstream of a dataset or column in a period, as the service answers.

    Raises:
        LabError: there is no such node, or the service does not respond or refuses.
    """
    times = {"since": period.since, "until": period.until, "baseline": period.first}
    return get_json(
        service,
        CAUSE_PATH,
        nodeId=find_node(service, node).id,
        **{name: format_time(time) for name, time in times.items()},
    )


def run_events(service: str, after: str, before: str) -> Iterator[dict[str, Any]]:
    """Yield the run events of a period, oldest first, with canonical names."""
    offset, total = 0, 1
    while offset < total:
        page = get_json(
            service,
            EVENTS_PATH,
            after=after,
            before=before,
            names="canonical",
            sortDirection="asc",
            limit=str(EVENTS_PER_PAGE),
            offset=str(offset),
        )
        total = page["totalCount"]
        if not page["events"]:
            return  # the others were compacted in between
        offset += len(page["events"])
        yield from page["events"]
