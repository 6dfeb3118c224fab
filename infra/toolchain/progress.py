# SPDX-License-Identifier: Apache-2.0
"""Progress reports of the set-up: live rows on a terminal, plain lines elsewhere.

The methods are called from several threads. `name` is the artifact's.
"""

import threading
import time
from typing import Protocol, TextIO

_QUIET_SECONDS = 10.0
"""Between two plain lines of one artifact."""


class Progress(Protocol):
    """Receiver of the progress of a set-up."""

    def start(self, name: str, what: str) -> None:
        """Work on an artifact begins; `what` is being done, in a few words."""

    def update(self, name: str, text: str) -> None:
        """It is going on: files and bytes so far, or what is being compiled."""

    def done(self, name: str, source: str, seconds: float, size: int) -> None:
        """It is there: from `source`, after `seconds`, with `size` bytes on disk."""

    def note(self, text: str) -> None:
        """Something that is worth a line of its own: a fallback, something that was removed."""

    def close(self) -> None:
        """Nothing more comes; called also where set-up failed."""


def format_size(size: int) -> str:
    """Bytes as `3 kB`, `57 MB`, `1.2 GB`."""
    if size >= 1_000_000_000:
        return f"{size / 1e9:.1f} GB"
    if size >= 1_000_000:
        return f"{size / 1e6:.0f} MB"
    return f"{size / 1e3:.0f} kB"


def format_duration(seconds: float) -> str:
    """Seconds as `4.2 s`, `3:07 min`."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d} min"


class PlainProgress:
    """One line per event, for logs; updates of an artifact at most every ten seconds."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._guard = threading.Lock()
        self._started: dict[str, float] = {}
        self._last_line: dict[str, float] = {}

    def start(self, name: str, what: str) -> None:
        self._started[name] = self._last_line[name] = time.monotonic()
        self._print(f"{name}: {what}")

    def update(self, name: str, text: str) -> None:
        now = time.monotonic()
        if now - self._last_line[name] >= _QUIET_SECONDS:
            self._last_line[name] = now
            self._print(f"{name}: {text} ({format_duration(now - self._started[name])})")

    def done(self, name: str, source: str, seconds: float, size: int) -> None:
        self._print(f"{name}: ready, {format_size(size)} in {format_duration(seconds)}, {source}")

    def note(self, text: str) -> None:
        self._print(text)

    def close(self) -> None:
        """Every line is out already."""

    def _print(self, text: str) -> None:
        with self._guard:
            print(text, file=self._out, flush=True)
