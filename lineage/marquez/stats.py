# SPDX-License-Identifier: Apache-2.0
"""Counts over the last day or week for Marquez's start page."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta, tzinfo
from enum import StrEnum
from itertools import pairwise
from typing import NamedTuple

from lineage.events import JsonObject
from lineage.events.event import Order
from lineage.events.timestamps import format_time
from lineage.graph.job_record import JobRecord
from lineage.graph.job_runs import RunArchive
from lineage.graph.mergeable import Span

_HOURS = 24
_DAYS = 7
_TYPES = ("fail", "start", "complete", "abort")


class Period(StrEnum):
    """A day in hours, or a week in days."""

    DAY = "DAY"
    WEEK = "WEEK"


class Intervals(NamedTuple):
    """Consecutive intervals of time. `times` are their limits in nanoseconds: one more than there are intervals."""

    times: list[int]

    def index_of(self, time: int) -> int | None:
        """Return the index of the interval that contains a time, or None."""
        at = bisect_right(self.times, time) - 1
        return at if 0 <= at < len(self.times) - 1 else None

    def rows(self) -> list[JsonObject]:
        """Return the intervals in Marquez's shape."""
        starts = [format_time(time) for time in self.times]
        return [{"startInterval": start, "endInterval": end} for start, end in pairwise(starts)]


def intervals_of(period: Period, zone: tzinfo, now: int) -> Intervals:
    """Return the last 24 hours, or the last seven days in `zone`, including the current one; `now` in ns."""
    moment = datetime.fromtimestamp(now / 1e9, UTC)
    if period is Period.DAY:
        hour = moment.replace(minute=0, second=0, microsecond=0)
        ends = [hour + timedelta(hours=i) for i in range(1 - _HOURS, 2)]
    else:
        # Calendar days: one with a change to or from daylight saving time has 23 or 25 hours.
        today = moment.astimezone(zone).replace(tzinfo=None, hour=0, minute=0, second=0, microsecond=0)
        ends = [(today + timedelta(days=i)).replace(tzinfo=zone) for i in range(1 - _DAYS, 2)]
    return Intervals([int(end.timestamp()) * 10**9 for end in ends])


class EventCounts:
    """START events and ended runs per interval. A run with several terminal events counts once."""

    def __init__(self, within: Intervals) -> None:
        self._within = within
        self._rows: list[JsonObject] = [{**row, **dict.fromkeys(_TYPES, 0)} for row in within.rows()]

    def add(self, job: JobRecord) -> None:
        """Count the runs of one job that are in memory."""
        first, last = self._within.times[0], self._within.times[-1]
        if job.span.last.time < first:
            return
        for order, uuid in job.starts[bisect_left(job.starts, (Order(first, b""), "")) :]:
            if uuid in job.runs.loaded:
                self._count_event("start", order.time)
        for run in job.runs.loaded.values():
            if run.terminal is not None and first <= run.terminal[1].time < last:
                self._count_event(run.terminal[2].lower(), run.terminal[1].time)

    def add_archived(self, archive: RunArchive) -> None:
        """Count the archived runs of all jobs."""
        bounds = self._within.times[0], self._within.times[-1]
        for time in archive.starts_between(*bounds):
            self._count_event("start", time)
        for time, event_type in archive.ends_between(*bounds):
            self._count_event(event_type.lower(), time)

    def rows(self) -> list[JsonObject]:
        """Return the counts in Marquez's shape."""
        return self._rows

    def _count_event(self, event_type: str, time: int) -> None:
        index = self._within.index_of(time)
        if index is not None:
            self._rows[index][event_type] += 1


class Growth:
    """Number of nodes at the end of each interval."""

    def __init__(self, within: Intervals) -> None:
        self._within = within
        self._new = [0] * (len(within.times) - 1)

    def add(self, spans: Iterable[Span]) -> None:
        """Count nodes by their first event."""
        for span in spans:
            at = max(0, bisect_right(self._within.times, span.first.time) - 1)
            if at < len(self._new):
                self._new[at] += 1

    def rows(self) -> list[JsonObject]:
        """Return the counts in Marquez's shape."""
        total = 0
        rows = []
        for row, new in zip(self._within.rows(), self._new, strict=True):
            total += new
            rows.append({**row, "count": total})
        return rows
