# SPDX-License-Identifier: Apache-2.0
"""Spark jobs of the user's own: a PySpark file in `jobs/spark` whose first lines say what it is.

    # lab: task                              or service
    # needs: topic/orders, schema_registry   optional: what must be there first
    # memory: 1200 MiB                       optional: what it takes, a driver's default if not given
    # lineage: agent                         optional: agent, both, own or off (`infra.services.spark_job.Driver`)

Only comments and blank lines may come before; the header ends with the first line that is no comment. A file without
the first line is a module like any other.
"""

import keyword
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal

from infra.errors import LabError
from infra.services.spark_job import BESIDE_HEAP_MIB, Driver
from infra.settings import Settings

FOLDER = "jobs/spark"
SUFFIX = ".py"

LEAST_HEAP_MIB = 512
LEAST_MEMORY_MIB = LEAST_HEAP_MIB + BESIDE_HEAP_MIB
"""Spark itself refuses a smaller heap."""

KINDS = ("task", "service")
SPEAKERS: Mapping[str, Literal["agent", "both", "own", "off"]] = {
    "agent": "agent",
    "both": "both",
    "own": "own",
    "off": "off",
}
KEYS = ("lab", "needs", "memory", "lineage")

_LINE = re.compile(r"#\s*([A-Za-z_]+)\s*:\s*(.*?)\s*")
_MARK = re.compile(r"#\s*lab\b", re.IGNORECASE)
_MEMORY = re.compile(r"(\d+) MiB")


class SparkJobFileError(LabError):
    """A Spark job's file cannot be used."""


@dataclass(frozen=True)
class OwnJob:
    """What a file's header says."""

    driver: Driver
    stays: bool


@dataclass(frozen=True)
class _Entry:
    """A line of a header: its number in the file, counted from 1, and its value."""

    line: int
    value: str


def own_jobs(
    files: Mapping[str, str], settings: Settings, taken: Collection[str], parts: Collection[str]
) -> tuple[OwnJob, ...]:
    """The jobs that files describe.

    Args:
        files: a file's name, `NAME.py`, -> its text. Those without a header are passed over.
        settings: the stack's.
        taken: names that services and tasks of the lab have.
        parts: keys of everything that a job may need.

    Raises:
        SparkJobFileError: naming the file, and the line where it is about one.
    """
    headers = {file: _header(file, files[file]) for file in sorted(files)}
    return tuple(
        _own_job(file, header, settings, taken, parts) for file, header in headers.items() if header is not None
    )


def _header(file: str, text: str) -> dict[str, _Entry] | None:
    """The header's lines by key; None where there is none."""
    comments = list(_comments(text))
    begin = next((at for at, (_, line) in enumerate(comments) if _MARK.match(line)), None)
    if begin is None:
        return None
    header: dict[str, _Entry] = {}
    for number, line in comments[begin:]:
        found = _LINE.fullmatch(line)
        if not found:
            raise _error(file, number, f"{line!r} is no `# key: value`; leave a line blank after the header")
        key, value = found.groups()
        if key not in KEYS:
            raise _error(file, number, f"{key} is not understood here{_guess(key, KEYS)} Known are {', '.join(KEYS)}")
        if key in header:
            raise _error(file, number, f"{key} is there more than once")
        header[key] = _Entry(number, value)
    return header


def _comments(text: str) -> Iterator[tuple[int, str]]:
    """The comment lines at the beginning of a file; after the mark of a header, up to the first other line."""
    begun = False
    for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), 1):
        if line.startswith("#"):
            begun = begun or bool(_MARK.match(line))
            yield number, line
        elif begun or line.strip():
            return


def _own_job(
    file: str, header: Mapping[str, _Entry], settings: Settings, taken: Collection[str], parts: Collection[str]
) -> OwnJob:
    name = file.removesuffix(SUFFIX)
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or keyword.iskeyword(name):
        raise SparkJobFileError(
            f"{FOLDER}/{file}: the file's name is the job's, and a module's: a small letter, then small letters, "
            "digits and '_', and no word of Python's"
        )
    if name in taken:
        raise SparkJobFileError(f"{FOLDER}/{file}: the lab has a {name} already: give the file another name")
    kind = _choice(file, "lab", header["lab"], KINDS)
    stays = kind == "service"
    speaker = _choice(file, "lineage", header["lineage"], tuple(SPEAKERS)) if "lineage" in header else ""
    driver = Driver(
        name,
        _heap_mib(file, header.get("memory"), settings),
        streaming=stays,
        needs=_needs(file, header.get("needs"), parts),
        lineage=SPEAKERS[speaker] if speaker else ("own" if stays else "agent"),
    )
    return OwnJob(driver, stays)


def _choice(file: str, key: str, entry: _Entry, known: tuple[str, ...]) -> str:
    if entry.value not in known:
        raise _error(file, entry.line, f"{key}: {' or '.join(known)} is expected, not {entry.value!r}")
    return entry.value


def _heap_mib(file: str, entry: _Entry | None, settings: Settings) -> int:
    if entry is None:
        return settings.spark_heap_mib
    found = _MEMORY.fullmatch(entry.value)
    if not found or int(found[1]) < LEAST_MEMORY_MIB:
        raise _error(file, entry.line, f"memory: {LEAST_MEMORY_MIB} MiB or more is expected, not {entry.value!r}")
    return int(found[1]) - BESIDE_HEAP_MIB


def _needs(file: str, entry: _Entry | None, parts: Collection[str]) -> tuple[str, ...]:
    if entry is None:
        return ()
    wanted = tuple(part.strip() for part in entry.value.split(","))
    for part in wanted:
        if part not in parts:
            known = ", ".join(sorted(parts))
            raise _error(file, entry.line, f"needs: the lab has no {part!r}{_guess(part, parts)} It has {known}")
    return wanted


def _guess(word: str, known: Collection[str]) -> str:
    near = get_close_matches(word, known, n=1)
    return f"; did you mean {near[0]}?" if near else "."


def _error(file: str, line: int, why: str) -> SparkJobFileError:
    return SparkJobFileError(f"{FOLDER}/{file}, line {line}: {why}")
