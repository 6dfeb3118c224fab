# SPDX-License-Identifier: Apache-2.0
"""Reading logs that are files: their end, and what is appended to them."""

import os
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

from infra.targets.runtime import indented

_END = 64 * 1024


def log_tail(log: Path, lines: int = 25) -> str:
    """The last lines of a log, each indented by two; says so where there are none."""
    try:
        return indented(last_lines(log, lines), f"{log} is empty")
    except FileNotFoundError:
        return f"  ({log} does not exist: it never started)"


def last_lines(log: Path, lines: int) -> list[str]:
    """The last lines of a log, blank ones left out."""
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - _END))
        text = file.read().decode("utf-8", "replace")
    return [line for line in text.splitlines() if line.strip()][-lines:]


class Follower:
    """Reads what is appended to a file from now on, whether it is there yet or not.

    The file is held open: what is written before it is rotated or removed is read all the same.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = self._opened()
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
        """The lines that were finished since the last call."""
        if self._file:
            yield from self._read(self._file)
        present = self._opened()
        if present and not (self._file and os.path.sameopenfile(present.fileno(), self._file.fileno())):
            if self._file:
                self._file.close()
            self._file = present
            yield from self._read(present)
        elif present:
            present.close()

    def _opened(self) -> BinaryIO | None:
        try:
            return self._path.open("rb")
        except FileNotFoundError:
            return None  # not yet, or just being rotated

    def _read(self, file: BinaryIO) -> Iterator[str]:
        *whole, self._rest = (self._rest + file.read()).split(b"\n")
        for line in whole:
            yield line.decode("utf-8", "replace")
