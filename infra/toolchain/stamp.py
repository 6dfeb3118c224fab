# SPDX-License-Identifier: Apache-2.0
"""Stamps: the record, written last, that an artifact is whole, and of every file that it consists of.

A folder without a stamp is unfinished. With one, a look at sizes and modification times tells in
milliseconds whether anything was touched since; hashing tells it for certain.
"""

import hashlib
import json
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

STAMP_FILE = ".stamp.json"
_FORMAT = 1
_UNSTAMPED_FOLDERS = {"__pycache__"}
"""Python rewrites its byte code whenever it likes; it says nothing of the artifact."""


@dataclass(frozen=True)
class FileRecord:
    """One file. `path` is relative; `sha256` is of the content, for a symbolic link of its target's text."""

    path: str
    size: int
    mtime_ns: int
    sha256: str


@dataclass(frozen=True)
class Problem:
    """A file of an artifact that is not what it was when the artifact arrived."""

    artifact: str
    path: Path
    what: str

    def __str__(self) -> str:
        return f"{self.artifact}: {self.path} {self.what}"


@dataclass(frozen=True)
class Stamp:
    """What an artifact consists of.

    `source` says in words where it came from. `location` is set where the artifact lies outside the cache
    (a tool that was on PATH); the stamp's own folder then holds nothing else.
    """

    key: str
    source: str
    files: tuple[FileRecord, ...]
    location: str | None = None

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(record.size for record in self.files)

    def root(self, folder: Path) -> Path:
        """Where the files are, for a stamp that was found in `folder`."""
        return Path(self.location) if self.location else folder


def sha256_of(path: Path) -> str:
    """Hex digest of a file's content, or of a symbolic link's target."""
    if path.is_symlink():
        return hashlib.sha256(os.readlink(path).encode()).hexdigest()
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def take(root: Path, key: str, source: str) -> Stamp:
    """Hash everything below `root`."""
    files = tuple(_record(root, path) for path in sorted(_files(root)))
    return Stamp(key=key, source=source, files=files)


def take_outside(files: list[Path], key: str, source: str) -> Stamp:
    """A stamp for `files` of one folder that is not the cache's."""
    location = files[0].parent
    records = tuple(_record(location, path) for path in files)
    return Stamp(key=key, source=source, files=records, location=str(location))


def save(stamp: Stamp, folder: Path) -> None:
    """Write the stamp into `folder`; a reader sees none or all of it."""
    beside = folder / f"{STAMP_FILE}.new"
    rows = [[r.path, r.size, r.mtime_ns, r.sha256] for r in stamp.files]
    document = {
        "format": _FORMAT,
        "key": stamp.key,
        "source": stamp.source,
        "location": stamp.location,
        "files": rows,
    }
    beside.write_text(json.dumps(document, separators=(",", ":")), encoding="utf-8")
    beside.replace(folder / STAMP_FILE)


def load(folder: Path) -> Stamp | None:
    """The stamp in `folder`; None where there is none, or none that this version can read."""
    try:
        document = json.loads((folder / STAMP_FILE).read_bytes())
        if document["format"] != _FORMAT:
            return None
        files = tuple(FileRecord(*row) for row in document["files"])
        return Stamp(document["key"], document["source"], files, document["location"])
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError):  # a damaged stamp vouches for nothing
        return None


def touched(stamp: Stamp, name: str, folder: Path) -> list[Problem]:
    """Files that are gone or have another size or time than when they were stamped. Reads no content."""
    root = stamp.root(folder)
    problems = []
    for record in stamp.files:
        path = os.path.join(root, record.path)
        try:
            found = os.lstat(path)
        except (FileNotFoundError, NotADirectoryError):
            problems.append(Problem(name, Path(path), "is missing"))
            continue
        if found.st_size != record.size:
            problems.append(Problem(name, Path(path), f"has {found.st_size} bytes instead of {record.size}"))
        elif found.st_mtime_ns != record.mtime_ns:
            problems.append(Problem(name, Path(path), "was modified after it had been verified"))
    return problems


def corrupted(stamp: Stamp, name: str, folder: Path, *, closed: bool) -> list[Problem]:
    """Files that are gone or whose content differs; with `closed`, also files that nobody put there."""
    root = stamp.root(folder)
    problems = []
    for record in stamp.files:
        path = root / record.path
        if not os.path.lexists(path):
            problems.append(Problem(name, path, "is missing"))
        elif (actual := sha256_of(path)) != record.sha256:
            problems.append(Problem(name, path, f"has sha256 {actual} instead of {record.sha256}"))
    if closed:
        known = {root / record.path for record in stamp.files}
        strangers = sorted(set(_files(root)) - known)
        problems += [Problem(name, path, "does not belong to it") for path in strangers]
    return problems


def _record(root: Path, path: Path) -> FileRecord:
    found = path.lstat()
    return FileRecord(str(path.relative_to(root)), found.st_size, found.st_mtime_ns, sha256_of(path))


def _files(root: Path) -> Iterator[Path]:
    with os.scandir(root) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if entry.name not in _UNSTAMPED_FOLDERS:
                    yield from _files(Path(entry.path))
            elif entry.name != STAMP_FILE and not stat.S_ISSOCK(entry.stat(follow_symlinks=False).st_mode):
                yield Path(entry.path)
