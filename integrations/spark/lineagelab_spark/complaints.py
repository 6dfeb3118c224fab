# SPDX-License-Identifier: Apache-2.0
"""What lineage has to complain of: said once, since it happens in every batch, and never raised."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

MOST = 50
"""Kinds of complaints. Data decide about some of them, so that there might be any number."""

log = logging.getLogger(__name__)


class Complaints:
    """The complaints about one query, or about one driver."""

    def __init__(self, about: str) -> None:
        self._about = about
        self._said: set[str] = set()

    def say(self, what: str, *, error: BaseException | None = None) -> None:
        """Says what is wrong, unless that was said before."""
        if what in self._said or len(self._said) >= MOST:
            return
        self._said.add(what)
        log.warning("lineage of %s: %s", self._about, what, exc_info=error)

    @contextmanager
    def survived(self, what: str) -> Iterator[None]:
        """Whatever is raised within is a complaint: data matter more than their lineage."""
        try:
            yield
        except Exception as error:
            self.say(what, error=error)
