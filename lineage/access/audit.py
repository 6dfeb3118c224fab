# SPDX-License-Identifier: Apache-2.0
"""Audit log: one JSON line for each administrative and each refused request, in rotated files of bounded size.

Refused requests have files of their own, and a bounded rate, so that a flood of them neither fills the disk nor
displaces the record of administration.
"""

import json
import logging
import time
from logging.handlers import RotatingFileHandler
from pathlib import Path

from lineage.events.timestamps import format_time

MAX_FILE_BYTES = 4 * 2**20
BACKUPS = 4
"""Rotated files that are kept of each kind, beside the current one."""

REFUSALS_PER_SECOND = 20
"""Refused requests that are logged within a second; further ones are only counted, in the next line."""

_MAX_TEXT = 300
"""Characters of a value that a client sends."""

logger = logging.getLogger(__name__)


class AuditLog:
    """Audit log of a data directory: `audit/administration.jsonl` and `audit/refusals.jsonl`."""

    def __init__(self, data: Path) -> None:
        folder = data / "audit"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._administration = _open_file(folder / "administration.jsonl")
        self._refusals = _open_file(folder / "refusals.jsonl")
        self._second = 0
        self._logged = 0
        self._suppressed = 0
        self._closed = False

    def administration(self, caller: str, address: str, action: str, status: int, result: str = "") -> None:
        """Record an administrative request: key name, client address, method and path, status, error."""
        self._write(self._administration, _record(caller, address, action, status, result))

    def refusal(self, caller: str, address: str, action: str, status: int, result: str) -> None:
        """Record a refused request, if fewer than `REFUSALS_PER_SECOND` were recorded in this second."""
        second = int(time.monotonic())
        if second != self._second:
            self._second, self._logged = second, 0
        if self._logged >= REFUSALS_PER_SECOND:
            self._suppressed += 1
            return
        self._logged += 1
        record = _record(caller, address, action, status, result)
        if self._suppressed:
            record["suppressed"], self._suppressed = self._suppressed, 0
        self._write(self._refusals, record)

    def close(self) -> None:
        """Close the files; later requests, which shutdown refuses, are in the log of the service only."""
        self._closed = True
        for handler in (self._administration, self._refusals):
            handler.close()

    def _write(self, handler: RotatingFileHandler, record: dict[str, object]) -> None:
        line = json.dumps(record)
        if self._closed:
            # A handler would open its file again.
            logger.warning("request after the audit log was closed: %s", line)
            return
        handler.handle(logging.LogRecord("audit", logging.INFO, "", 0, line, None, None))


class _AuditFile(RotatingFileHandler):
    """Rotated file; a full disk is reported in the service's log, and does not fail the request."""

    def handleError(self, record: logging.LogRecord) -> None:
        """Report a line that could not be written."""
        logger.error("cannot write to the audit log %s: %s", self.baseFilename, record.getMessage())


def _open_file(path: Path) -> RotatingFileHandler:
    path.touch(mode=0o600)
    handler = _AuditFile(path, maxBytes=MAX_FILE_BYTES, backupCount=BACKUPS, encoding="utf-8", delay=True)
    handler.setFormatter(logging.Formatter("%(message)s"))
    return handler


def _record(caller: str, address: str, action: str, status: int, result: str) -> dict[str, object]:
    return {
        "time": format_time(time.time_ns()),
        "caller": caller,
        "address": address,
        "action": action[:_MAX_TEXT],
        "status": status,
        "result": result[:_MAX_TEXT],
    }
