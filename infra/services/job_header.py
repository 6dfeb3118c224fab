# SPDX-License-Identifier: Apache-2.0
"""Parser of job headers, comments at the top of a job file: `# lab: task`, or in SQL `-- lab: service`.

Only comments and blank lines may precede the header, which ends at the first line that is not a comment. A file without
a `lab` line is not a job.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from infra.errors import LabError

MARK = "lab"
"""Key of the first line of a header."""


@dataclass(frozen=True)
class Entry:
    """Value of a header line and its line number, counted from 1."""

    line: int
    value: str


@dataclass(frozen=True)
class HeaderFormat:
    """Header syntax of one type of job file.

    Attributes:
        folder: folder of the files, for error messages.
        comment: prefix of a comment.
        keys: allowed keys.
        error: type of error to raise.
    """

    folder: str
    comment: str
    keys: tuple[str, ...]
    error: type[LabError]

    def marks(self, text: str) -> bool:
        """Return True if a file has a header, valid or not."""
        return any(self._is_mark(line) for _, line in self._comments(text))

    def read(self, file: str, text: str) -> dict[str, Entry] | None:
        """Return the header's lines by key; None if the file has no header.

        Raises:
            LabError: a line is invalid; an instance of `error`, which names file and line.
        """
        comments = list(self._comments(text))
        begin = next((at for at, (_, line) in enumerate(comments) if self._is_mark(line)), None)
        if begin is None:
            return None
        header: dict[str, Entry] = {}
        for number, line in comments[begin:]:
            found = re.fullmatch(rf"{self.comment}\s*([A-Za-z_]+)\s*:\s*(.*?)\s*", line)
            if not found:
                expected = f"`{self.comment} key: value`"
                raise self.invalid(file, number, f"expected {expected}, not {line!r}; end the header with a blank line")
            key, value = found.groups()
            if key not in self.keys:
                known = f"Known keys: {', '.join(self.keys)}"
                raise self.invalid(file, number, f"unknown key {key}{suggestion(key, self.keys)} {known}")
            if key in header:
                raise self.invalid(file, number, f"duplicate key {key}")
            header[key] = Entry(number, value)
        return header

    def choice(self, file: str, header: Mapping[str, Entry], key: str, known: tuple[str, ...]) -> str:
        """Return the value of an enumerated key.

        Raises:
            LabError: the value is not in `known`.
        """
        entry = header[key]
        if entry.value not in known:
            raise self.invalid(file, entry.line, f"{key}: expected {' or '.join(known)}, not {entry.value!r}")
        return entry.value

    def needs(self, file: str, header: Mapping[str, Entry], parts: Collection[str]) -> tuple[str, ...]:
        """Return the part keys in the `needs` line; empty if there is no such line.

        Raises:
            LabError: the lab does not contain a part.
        """
        entry = header.get("needs")
        required = tuple(part.strip() for part in entry.value.split(",")) if entry else ()
        for part in required:
            if entry and part not in parts:
                known = f"Known parts: {', '.join(sorted(parts))}"
                raise self.invalid(file, entry.line, f"needs: unknown part {part!r}{suggestion(part, parts)} {known}")
        return required

    def invalid(self, file: str, line: int, cause: str) -> LabError:
        """Return the error for an invalid line."""
        return self.error(f"{self.folder}/{file}, line {line}: {cause}")

    def _is_mark(self, line: str) -> bool:
        return re.match(rf"{self.comment}\s*{MARK}\b", line, re.IGNORECASE) is not None

    def _comments(self, text: str) -> Iterator[tuple[int, str]]:
        """Yield the comment lines at the top of a file, up to the first other line after the mark."""
        begun = False
        for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), 1):
            if line.startswith(self.comment):
                begun = begun or self._is_mark(line)
                yield number, line
            elif begun or line.strip():
                return


def suggestion(word: str, known: Collection[str]) -> str:
    """Return the end of an error message: the closest known word, or a full stop."""
    near = get_close_matches(word, known, n=1)
    return f"; did you mean {near[0]}?" if near else "."
