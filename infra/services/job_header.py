# SPDX-License-Identifier: Apache-2.0
"""The first lines of a job's own file, which say what it is: `# lab: task`, or in SQL `-- lab: service`.

Only comments and blank lines may come before; the header ends with the first line that is no comment. A file without
the line that begins with `lab` is no job of the user's.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from infra.errors import LabError

MARK = "lab"


@dataclass(frozen=True)
class Entry:
    """A line of a header: its number in the file, counted from 1, and its value."""

    line: int
    value: str


@dataclass(frozen=True)
class Format:
    """How the headers of one kind of file are written.

    Attributes:
        folder: where the files are, for messages.
        comment: what a comment begins with.
        keys: what may be in a header.
        error: what is raised.
    """

    folder: str
    comment: str
    keys: tuple[str, ...]
    error: type[LabError]

    def read(self, file: str, text: str) -> dict[str, Entry] | None:
        """The header's lines by key; None where there is none.

        Raises:
            LabError: of the type `error`, naming file and line.
        """
        comments = list(self._comments(text))
        begin = next((at for at, (_, line) in enumerate(comments) if self._marks(line)), None)
        if begin is None:
            return None
        header: dict[str, Entry] = {}
        for number, line in comments[begin:]:
            found = re.fullmatch(rf"{self.comment}\s*([A-Za-z_]+)\s*:\s*(.*?)\s*", line)
            if not found:
                shape = f"`{self.comment} key: value`"
                raise self.refusal(file, number, f"{line!r} is no {shape}; leave a line blank after the header")
            key, value = found.groups()
            if key not in self.keys:
                known = f"Known are {', '.join(self.keys)}"
                raise self.refusal(file, number, f"{key} is not understood here{guess(key, self.keys)} {known}")
            if key in header:
                raise self.refusal(file, number, f"{key} is there more than once")
            header[key] = Entry(number, value)
        return header

    def choice(self, file: str, header: Mapping[str, Entry], key: str, known: tuple[str, ...]) -> str:
        """The value of a key that is there, which is one of those that are known.

        Raises:
            LabError: it is another one.
        """
        entry = header[key]
        if entry.value not in known:
            raise self.refusal(file, entry.line, f"{key}: {' or '.join(known)} is expected, not {entry.value!r}")
        return entry.value

    def needs(self, file: str, header: Mapping[str, Entry], parts: Collection[str]) -> tuple[str, ...]:
        """The keys of parts that a header asks for; none where it has no such line.

        Raises:
            LabError: the lab has no such part.
        """
        entry = header.get("needs")
        wanted = tuple(part.strip() for part in entry.value.split(",")) if entry else ()
        for part in wanted:
            if entry and part not in parts:
                known = f"It has {', '.join(sorted(parts))}"
                raise self.refusal(file, entry.line, f"needs: the lab has no {part!r}{guess(part, parts)} {known}")
        return wanted

    def refusal(self, file: str, line: int, why: str) -> LabError:
        """The error that says why a line cannot be used."""
        return self.error(f"{self.folder}/{file}, line {line}: {why}")

    def _marks(self, line: str) -> bool:
        return re.match(rf"{self.comment}\s*{MARK}\b", line, re.IGNORECASE) is not None

    def _comments(self, text: str) -> Iterator[tuple[int, str]]:
        """The comment lines at the beginning of a file; after the mark of a header, up to the first other line."""
        begun = False
        for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), 1):
            if line.startswith(self.comment):
                begun = begun or self._marks(line)
                yield number, line
            elif begun or line.strip():
                return


def guess(word: str, known: Collection[str]) -> str:
    """What was meant, as the end of a sentence."""
    near = get_close_matches(word, known, n=1)
    return f"; did you mean {near[0]}?" if near else "."
