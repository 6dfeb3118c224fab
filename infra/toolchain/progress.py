# SPDX-License-Identifier: Apache-2.0
"""Progress of the set-up: live rows on a terminal, plain lines elsewhere.

The methods are called from several threads. `name` is the name of an artefact.
"""

import threading
import time
from typing import Protocol, TextIO

_UPDATE_INTERVAL_SECONDS = 10.0
"""Minimum time between two lines about one artefact, in seconds."""


class Progress(Protocol):
    """Receiver of the progress of a set-up."""

    def start(self, name: str, activity: str) -> None:
        """Report the start of an activity for an artefact."""

    def update(self, name: str, text: str) -> None:
        """Report progress: files and bytes downloaded, or the package that is compiled."""

    def done(self, name: str, source: str, seconds: float, size: int) -> None:
        """Report an installed artefact: its origin, the duration in seconds, its bytes on disk."""

    def note(self, text: str) -> None:
        """Report an event outside an artefact's progress: a fallback, a removed file."""

    def close(self) -> None:
        """End the report; also called after a failed set-up."""


def format_size(size: int) -> str:
    """Format bytes as `3 kB`, `57 MB`, `1.2 GB`."""
    if size >= 1_000_000_000:
        return f"{size / 1e9:.1f} GB"
    if size >= 1_000_000:
        return f"{size / 1e6:.0f} MB"
    return f"{size / 1e3:.0f} kB"


def format_duration(seconds: float) -> str:
    """Format seconds as `4.2 s`, `3:07 min`."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d} min"


class PlainProgress:
    """Progress as lines of text, for logs; updates of an artefact are limited to one per 10 s."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._lock = threading.Lock()
        self._started: dict[str, float] = {}
        self._last_line: dict[str, float] = {}

    def start(self, name: str, activity: str) -> None:
        self._started[name] = self._last_line[name] = time.monotonic()
        self._print(f"{name}: {activity}")

    def update(self, name: str, text: str) -> None:
        now = time.monotonic()
        if now - self._last_line[name] >= _UPDATE_INTERVAL_SECONDS:
            self._last_line[name] = now
            self._print(f"{name}: {text} ({format_duration(now - self._started[name])})")

    def done(self, name: str, source: str, seconds: float, size: int) -> None:
        self._print(f"{name}: ready, {format_size(size)} in {format_duration(seconds)}, {source}")

    def note(self, text: str) -> None:
        self._print(text)

    def close(self) -> None:
        """Do nothing: every line is flushed."""

    def _print(self, text: str) -> None:
        with self._lock:
            print(text, file=self._out, flush=True)
