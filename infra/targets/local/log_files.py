# SPDX-License-Identifier: Apache-2.0
"""Tail and follow log files."""

import os
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

from infra.targets.runtime import indent_log_lines

_END = 64 * 1024

BACKUPS = 2
"""Rotated logs of a program: `log.1`, the newest, and `log.2`, as supervisord names them."""


def rotate(log: Path) -> None:
    """Make a log the newest of its backups, and delete the oldest one; does nothing if it is missing or empty."""
    if not log.exists() or not log.stat().st_size:
        return
    names = [log, *(log.with_name(f"{log.name}.{number}") for number in range(1, BACKUPS + 1))]
    for older, newer in zip(reversed(names), reversed(names[:-1]), strict=False):
        if newer.exists():
            newer.replace(older)


def log_tail(log: Path, lines: int = 25) -> str:
    """Return the last lines of a log, indented by two spaces, or a note that it is empty or missing."""
    try:
        return indent_log_lines(last_lines(log, lines), f"{log} is empty")
    except FileNotFoundError:
        return f"  ({log} does not exist: the program never started)"


def last_lines(log: Path, lines: int) -> list[str]:
    """Return the last lines of a log without blank ones."""
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - _END))
        text = file.read().decode("utf-8", "replace")
    return [line for line in text.splitlines() if line.strip()][-lines:]


class Follower:
    """Reads lines appended to a file, which may not exist yet.

    The file is kept open, so that lines written before a rotation or removal are read.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = self._open()
        self._rest = b""
        if self._file:
            self._file.seek(0, os.SEEK_END)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file:
            self._file.close()

    def new_lines(self) -> Iterator[str]:
        """Yield the lines completed since the last call."""
        if self._file:
            yield from self._read(self._file)
        present = self._open()
        if present and not (self._file and os.path.sameopenfile(present.fileno(), self._file.fileno())):
            if self._file:
                self._file.close()
            self._file = present
            yield from self._read(present)
        elif present:
            present.close()

    def _open(self) -> BinaryIO | None:
        try:
            return self._path.open("rb")
        except FileNotFoundError:
            return None  # not created yet, or being rotated

    def _read(self, file: BinaryIO) -> Iterator[str]:
        *complete, self._rest = (self._rest + file.read()).split(b"\n")
        for line in complete:
            yield line.decode("utf-8", "replace")
