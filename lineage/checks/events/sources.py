# SPDX-License-Identifier: Apache-2.0
"""Sources of events: files, folders, standard input, lineage services."""

import sys
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from lineage.checks.events.check_rules import NOT_JSON, TOO_LARGE
from lineage.checks.events.raw_event import RawEvent, UnreadableEvent
from lineage.checks.events.service_source import by_time, events_of_service
from lineage.events import MalformedJson, parse_json

MIB = 2**20
MAX_LINE = 16 * MIB
"""Bytes of one event; four times the limit of the lineage service."""
MAX_DOCUMENT = 256 * MIB
"""Bytes of a file that is one JSON document, which is read into memory."""
STDIN = "-"
SUFFIXES = (".ndjson", ".jsonl", ".json")


class SourceError(ValueError):
    """The source cannot be read; the message names the source, the cause and the remedy."""


def events_of(source: str) -> Iterator[RawEvent]:
    """Read the events of a file, a folder, standard input (`-`) or a lineage service (URL).

    A file contains one event per line, a JSON array of events, one event, or a response of `/api/v1/events/lineage`.
    The files of a folder and those below it are read in the order of their names.

    Raises:
        SourceError: during iteration: the source does not exist, is not readable, or does not respond.
    """
    if source == STDIN:
        yield from read_stream(sys.stdin.buffer, "stdin")
        return
    if source.startswith(("http://", "https://")):
        try:
            yield from events_of_service(source)
        except PermissionError as error:
            raise SourceError(f"cannot read the events of {source}: {error}") from error
        except (OSError, ValueError) as error:
            raise SourceError(f"cannot read the events of {source}: {error}; is the service up?") from error
        return
    for path in _event_files(Path(source)):
        try:
            with path.open("rb") as stream:
                yield from read_stream(stream, str(path))
        except OSError as error:
            raise SourceError(f"cannot read events from {path}: {error.strerror}") from error


def _event_files(path: Path) -> list[Path]:
    if not path.is_dir():
        if not path.exists():
            raise SourceError(f"cannot read events from {path}: no such file; give a file, folder, URL or -")
        return [path]
    files = sorted(file for file in path.rglob("*") if file.suffix in SUFFIXES and file.is_file())
    if not files:
        raise SourceError(f"cannot read events from folder {path}: it has no file with suffix {', '.join(SUFFIXES)}")
    return files


def read_stream(stream: BinaryIO, name: str) -> Iterator[RawEvent]:
    """Read the events of a binary stream; only a document of several lines is read into memory completely."""
    first = b""
    start = 0
    while not first.strip():
        first = stream.readline(MAX_LINE + 1)
        start += 1
        if not first:
            return
    if b"\0" in first:
        yield RawEvent(name, 1, UnreadableEvent(NOT_JSON, "contains binary data; decompress it first"))
    elif _is_json_line(first):
        yield from _line_events(first, stream, name, start)
    else:
        yield from _document_events(first, stream, name, start)


def _is_json_line(line: bytes) -> bool:
    """Check that the first line is one event of many, rather than the beginning of a document of several lines."""
    try:
        parse_json(line)
    except MalformedJson:
        # `[` and `{` alone begin a document of several lines; a line that ends like an event is a malformed event.
        text = line.strip()
        return text[:1] not in b"[{" or (text[:1] == b"{" and text[-1:] == b"}")
    return True


def _line_events(first: bytes, stream: BinaryIO, name: str, start: int) -> Iterator[RawEvent]:
    number, line = start, first
    while line:
        if len(line) > MAX_LINE:
            yield RawEvent(name, number, UnreadableEvent(TOO_LARGE, f"the line exceeds {MAX_LINE // MIB} MiB"))
            while line and not line.endswith(b"\n"):
                line = stream.readline(MAX_LINE)
        elif line.strip():
            yield from _events_of_line(name, number, line)
        line = stream.readline(MAX_LINE + 1)
        number += 1


def _document_events(first: bytes, stream: BinaryIO, name: str, start: int) -> Iterator[RawEvent]:
    data = first + stream.read(MAX_DOCUMENT - len(first) + 1)
    if len(data) > MAX_DOCUMENT:
        message = f"the JSON document exceeds {MAX_DOCUMENT // MIB} MiB; convert it to lines (jq -c '.[]')"
        yield RawEvent(name, start, UnreadableEvent(TOO_LARGE, message))
        return
    try:
        value = parse_json(data)
    except MalformedJson as error:
        rest = BytesIO(data)
        line = rest.readline()
        if first.lstrip()[:1] == b"[" or not _has_event_line(data):
            yield RawEvent(name, start, UnreadableEvent(NOT_JSON, str(error)))
        else:  # one event per line, the first of which is malformed
            yield from _line_events(line, rest, name, start)
        return
    yield from _events_of_document(name, start, value)


def _has_event_line(data: bytes) -> bool:
    """Check that a line of a malformed document is a JSON object."""
    return any(_is_object(line) for line in data.splitlines() if line.startswith(b"{"))


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(parse_json(line), dict)
    except MalformedJson:
        return False


def _events_of_line(name: str, number: int, line: bytes) -> Iterator[RawEvent]:
    """Return the event of a line, or all events of a document that is one line."""
    if line.lstrip()[:1] == b"[" or (b'"events"' in line and b'"eventTime"' not in line.split(b'"events"', 1)[0]):
        try:
            value = parse_json(line)
        except MalformedJson as error:
            yield RawEvent(name, number, UnreadableEvent(NOT_JSON, str(error)))
            return
        yield from _events_of_document(name, number, value)
    else:
        yield RawEvent(name, number, line)


def _events_of_document(name: str, number: int, value: object) -> Iterator[RawEvent]:
    """Return the events of a document by their index, from 1; a single event has the line `number`."""
    if isinstance(value, dict) and isinstance(value.get("events"), list) and "eventTime" not in value:
        yield from (RawEvent(name, i, event) for i, event in by_time(value["events"]))
    elif isinstance(value, list):
        yield from (RawEvent(name, i, event) for i, event in enumerate(value, 1))
    else:
        yield RawEvent(name, number, value)
