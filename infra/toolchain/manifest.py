# SPDX-License-Identifier: Apache-2.0
"""Manifests: the list of all files of an artefact, written last, which marks it as complete.

A folder without a manifest is unfinished. Comparing sizes and modification times with it detects most changes in
milliseconds; hashing detects all of them.
"""

import hashlib
import json
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

MANIFEST_FILE = ".stamp.json"
_FORMAT = 1
_IGNORED_FOLDERS = {"__pycache__"}
"""Folders of byte code, which Python rewrites at any time."""


@dataclass(frozen=True)
class FileEntry:
    """Entry of a file. `path` is relative; `sha256` is the hash of the content or of a symbolic link's target."""

    path: str
    size: int
    mtime_ns: int
    sha256: str


@dataclass(frozen=True)
class Problem:
    """Deviation of a file from the manifest of its artefact."""

    artifact: str
    path: Path
    description: str

    def __str__(self) -> str:
        return f"{self.artifact}: {self.path} {self.description}"


@dataclass(frozen=True)
class Manifest:
    """Files of an artefact and their origin.

    `source` describes the origin in words. `location` is the folder of an artefact outside the cache (a tool on PATH),
    whose folder in the cache contains only the manifest.
    """

    key: str
    source: str
    files: tuple[FileEntry, ...]
    location: str | None = None

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(entry.size for entry in self.files)

    def root(self, folder: Path) -> Path:
        """Return the folder of the files; `folder` is the folder of the manifest."""
        return Path(self.location) if self.location else folder


def sha256_of(path: Path) -> str:
    """Return the hex digest of a file's content, or of a symbolic link's target."""
    if path.is_symlink():
        return hashlib.sha256(os.readlink(path).encode()).hexdigest()
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def create(root: Path, key: str, source: str) -> Manifest:
    """Return the manifest of all files below `root`."""
    files = tuple(_file_entry(root, path) for path in sorted(_walk_files(root)))
    return Manifest(key=key, source=source, files=files)


def create_external(files: list[Path], key: str, source: str) -> Manifest:
    """Return the manifest of `files` in one folder outside the cache."""
    location = files[0].parent
    records = tuple(_file_entry(location, path) for path in files)
    return Manifest(key=key, source=source, files=records, location=str(location))


def save(manifest: Manifest, folder: Path) -> None:
    """Write the manifest into `folder`, atomically."""
    temporary = folder / f"{MANIFEST_FILE}.new"
    rows = [[r.path, r.size, r.mtime_ns, r.sha256] for r in manifest.files]
    document = {
        "format": _FORMAT,
        "key": manifest.key,
        "source": manifest.source,
        "location": manifest.location,
        "files": rows,
    }
    temporary.write_text(json.dumps(document, separators=(",", ":")), encoding="utf-8")
    temporary.replace(folder / MANIFEST_FILE)


def load(folder: Path) -> Manifest | None:
    """Read the manifest in `folder`; None if it is missing, damaged or of another format version."""
    try:
        document = json.loads((folder / MANIFEST_FILE).read_bytes())
        if document["format"] != _FORMAT:
            return None
        files = tuple(FileEntry(*row) for row in document["files"])
        return Manifest(document["key"], document["source"], files, document["location"])
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError):  # a damaged manifest counts as none
        return None


def modified_files(manifest: Manifest, name: str, folder: Path) -> list[Problem]:
    """Return files that are missing or have another size or modification time than listed; reads no content."""
    root = manifest.root(folder)
    problems = []
    for entry in manifest.files:
        path = os.path.join(root, entry.path)
        try:
            found = os.lstat(path)
        except (FileNotFoundError, NotADirectoryError):
            problems.append(Problem(name, Path(path), "is missing"))
            continue
        if found.st_size != entry.size:
            problems.append(Problem(name, Path(path), f"has {found.st_size} bytes instead of {entry.size}"))
        elif found.st_mtime_ns != entry.mtime_ns:
            problems.append(Problem(name, Path(path), "was modified after installation"))
    return problems


def corrupted_files(manifest: Manifest, name: str, folder: Path, *, reject_unlisted: bool) -> list[Problem]:
    """Return files that are missing or whose hash differs; with `reject_unlisted`, also files not in the manifest."""
    root = manifest.root(folder)
    problems = []
    for entry in manifest.files:
        path = root / entry.path
        if not os.path.lexists(path):
            problems.append(Problem(name, path, "is missing"))
        elif (actual := sha256_of(path)) != entry.sha256:
            problems.append(Problem(name, path, f"has sha256 {actual} instead of {entry.sha256}"))
    if reject_unlisted:
        known = {root / entry.path for entry in manifest.files}
        unlisted = sorted(set(_walk_files(root)) - known)
        problems += [Problem(name, path, "is not in the manifest") for path in unlisted]
    return problems


def _file_entry(root: Path, path: Path) -> FileEntry:
    found = path.lstat()
    return FileEntry(str(path.relative_to(root)), found.st_size, found.st_mtime_ns, sha256_of(path))


def _walk_files(root: Path) -> Iterator[Path]:
    with os.scandir(root) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if entry.name not in _IGNORED_FOLDERS:
                    yield from _walk_files(Path(entry.path))
            elif entry.name != MANIFEST_FILE and not stat.S_ISSOCK(entry.stat(follow_symlinks=False).st_mode):
                yield Path(entry.path)
