# SPDX-License-Identifier: Apache-2.0
"""Query of the run events of the log."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class EventQuery:
    """A page of run events: times in nanoseconds, `after` inclusive, `before` exclusive; `run` is the UUID of one."""

    after: int | None = None
    before: int | None = None
    newest_first: bool = True
    limit: int = 100
    offset: int = 0
    run: str | None = None
