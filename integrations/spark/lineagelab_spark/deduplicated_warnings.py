# SPDX-License-Identifier: Apache-2.0
"""Lineage warnings, deduplicated: a problem that recurs in every batch is logged once and never raised."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

MAX_WARNINGS = 50
"""Limit of distinct warnings per log: some texts depend on data, so their number is otherwise unbounded."""

log = logging.getLogger(__name__)


class DeduplicatedWarnings:
    """Warnings about one query or one driver.

    Args:
        about: the query or driver, for the log line.
    """

    def __init__(self, about: str) -> None:
        self._about = about
        self._logged: set[str] = set()

    def warn(self, message: str, *, error: BaseException | None = None) -> None:
        """Log a warning, unless it was logged before."""
        if message in self._logged or len(self._logged) >= MAX_WARNINGS:
            return
        self._logged.add(message)
        log.warning("lineage of %s: %s", self._about, message, exc_info=error)

    @contextmanager
    def log_exceptions(self, message: str) -> Iterator[None]:
        """Log exceptions of the block as a warning: a lineage error must not fail the job."""
        try:
            yield
        except Exception as error:
            self.warn(message, error=error)
