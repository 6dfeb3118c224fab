# SPDX-License-Identifier: Apache-2.0
"""Where events are read from: files, folders, standard input."""

import sys
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from lineage.checks.events.check_rules import NOT_JSON, TOO_LARGE
from lineage.checks.events.raw_event import Item, Unreadable
from lineage.checks.events.service_source import by_time, events_of_service
from lineage.events import MalformedJson, parse_json

MIB = 2**20
MAX_LINE = 16 * MIB
"""Bytes of one event; four times what the lineage service takes."""
MAX_DOCUMENT = 256 * MIB
"""Bytes of a file that is one JSON document: it has to be in memory as a whole, other than lines."""
STDIN = "-"
ENDINGS = (".ndjson", ".jsonl", ".json")


class SourceError(ValueError):
    """The source cannot be read at all; the message says what was attempted and what to do."""


def events_of(source: str) -> Iterator[Item]:
    """The events of a file, a folder, standard input (`-`) or a lineage service (URL).

    A file holds one event a line, a JSON array of events, one event, or an answer of `/api/v1/events/lineage`.
    A folder's files are read by name, those below it included.

    Raises:
        SourceError: while it is read: it is not there, may not be read, or does not answer.
    """
    if source == STDIN:
        yield from read_stream(sys.stdin.buffer, "stdin")
        return
    if source.startswith(("http://", "https://")):
        try:
            yield from events_of_service(source)
        except (OSError, ValueError) as error:
            raise SourceError(f"cannot read the events of {source}: {error}; is the service up?") from error
        return
    for path in _files(Path(source)):
        try:
            with path.open("rb") as stream:
                yield from read_stream(stream, str(path))
        except OSError as error:
            raise SourceError(f"cannot read events from {path}: {error.strerror}") from error


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        if not path.exists():
            raise SourceError(f"cannot read events from {path}: there is no such file; give a file, folder, URL or -")
        return [path]
    files = sorted(file for file in path.rglob("*") if file.suffix in ENDINGS and file.is_file())
    if not files:
        raise SourceError(f"cannot read events from folder {path}: it has no file that ends in {', '.join(ENDINGS)}")
    return files


def read_stream(stream: BinaryIO, name: str) -> Iterator[Item]:
    """The events of a binary stream; only a document in several lines is held in memory as a whole."""
    first = b""
    start = 0
    while not first.strip():
        first = stream.readline(MAX_LINE + 1)
        start += 1
        if not first:
            return
    if b"\0" in first:
        yield Item(name, 1, Unreadable(NOT_JSON, "holds bytes that are no text; unpack it first if it is packed"))
    elif _is_whole(first):
        yield from _lines(first, stream, name, start)
    else:
        yield from _document(first, stream, name, start)


def _is_whole(line: bytes) -> bool:
    """Whether a first line is JSON by itself, and so one of many."""
    try:
        parse_json(line)
    except MalformedJson:
        # `[` and `{` alone begin a document in several lines; a line that ends like an event is a broken event.
        text = line.strip()
        return text[:1] not in b"[{" or (text[:1] == b"{" and text[-1:] == b"}")
    return True


def _lines(first: bytes, stream: BinaryIO, name: str, start: int) -> Iterator[Item]:
    number, line = start, first
    while line:
        if len(line) > MAX_LINE:
            yield Item(name, number, Unreadable(TOO_LARGE, f"the line has more than {MAX_LINE // MIB} MiB"))
            while line and not line.endswith(b"\n"):
                line = stream.readline(MAX_LINE)
        elif line.strip():
            yield from _unfolded(name, number, line)
        line = stream.readline(MAX_LINE + 1)
        number += 1


def _document(first: bytes, stream: BinaryIO, name: str, start: int) -> Iterator[Item]:
    data = first + stream.read(MAX_DOCUMENT - len(first) + 1)
    if len(data) > MAX_DOCUMENT:
        message = f"a JSON document of more than {MAX_DOCUMENT // MIB} MiB; make it lines (jq -c '.[]')"
        yield Item(name, start, Unreadable(TOO_LARGE, message))
        return
    try:
        value = parse_json(data)
    except MalformedJson as error:
        rest = BytesIO(data)
        line = rest.readline()
        if first.lstrip()[:1] == b"[" or not _has_event(data):
            yield Item(name, start, Unreadable(NOT_JSON, str(error)))
        else:  # lines after all, of which the first is broken
            yield from _lines(line, rest, name, start)
        return
    yield from _members(name, start, value)


def _has_event(data: bytes) -> bool:
    """Whether any line of a broken document is JSON of its own."""
    return any(_is_object(line) for line in data.splitlines() if line.startswith(b"{"))


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(parse_json(line), dict)
    except MalformedJson:
        return False


def _unfolded(name: str, number: int, line: bytes) -> Iterator[Item]:
    """One line: an event, or, where a whole document is one line, all of its events."""
    if line.lstrip()[:1] == b"[" or (b'"events"' in line and b'"eventTime"' not in line.split(b'"events"', 1)[0]):
        try:
            value = parse_json(line)
        except MalformedJson as error:
            yield Item(name, number, Unreadable(NOT_JSON, str(error)))
            return
        yield from _members(name, number, value)
    else:
        yield Item(name, number, line)


def _members(name: str, number: int, value: object) -> Iterator[Item]:
    """The events of a document, numbered by their place in it; a single event stands in line `number`."""
    if isinstance(value, dict) and isinstance(value.get("events"), list) and "eventTime" not in value:
        yield from (Item(name, i, event) for i, event in by_time(value["events"]))
    elif isinstance(value, list):
        yield from (Item(name, i, event) for i, event in enumerate(value, 1))
    else:
        yield Item(name, number, value)
