# SPDX-License-Identifier: Apache-2.0
"""Lock files: the transitive closure of a Maven component, with the sha256 of every file."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from infra.toolchain.errors import ArtifactError

FOLDER = Path(__file__).parent / "locks"
UPDATE_COMMAND = "python -m infra.toolchain.update_locks"

_LINE = re.compile(r"(?P<sha256>[0-9a-f]{64})  (?P<coordinate>\S+)")


@dataclass(frozen=True, order=True)
class Coordinate:
    """One file of a Maven repository; written `group:artifact:version[:classifier]:extension`."""

    group: str
    artifact: str
    version: str
    classifier: str = ""
    extension: str = "jar"

    @classmethod
    def parse(cls, text: str) -> "Coordinate":
        """Parse a coordinate. Raises ValueError."""
        parts = text.split(":")
        if len(parts) == 4:
            parts.insert(3, "")
        if len(parts) != 5 or not all(parts[:3]) or not parts[4]:
            raise ValueError(f"{text!r} is not group:artifact:version[:classifier]:extension")
        return cls(*parts)

    @classmethod
    def from_path(cls, path: PurePosixPath) -> "Coordinate":
        """Return the coordinate of a file from its path inside a repository. Raises ValueError."""
        if len(path.parts) < 4:
            raise ValueError(f"{path} is not a path of a Maven repository")
        *group, artifact, version, name = path.parts
        prefix = f"{artifact}-{version}"
        rest = name.removeprefix(prefix)
        if rest == name or not (found := re.fullmatch(r"(?:-([^.]+))?\.(.+)", rest)):
            raise ValueError(f"{path} is not a path of a Maven repository")
        return cls(".".join(group), artifact, version, found.group(1) or "", found.group(2))

    @property
    def file_name(self) -> str:
        suffix = f"-{self.classifier}" if self.classifier else ""
        return f"{self.artifact}-{self.version}{suffix}.{self.extension}"

    @property
    def folder(self) -> PurePosixPath:
        """Folder of the file inside a repository."""
        return PurePosixPath(*self.group.split("."), self.artifact, self.version)

    def __str__(self) -> str:
        parts = (self.group, self.artifact, self.version, self.classifier, self.extension)
        return ":".join(part for part in parts if part)


Lock = dict[Coordinate, str]
"""Coordinate -> sha256."""


def parse(text: str) -> Lock:
    """Read a lock file; empty lines and `#` comments are skipped. Raises ValueError naming the line."""
    lock: Lock = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        if not (found := _LINE.fullmatch(line)):
            raise ValueError(f"line {number}: {line!r} is not `sha256  coordinate`")
        coordinate = Coordinate.parse(found["coordinate"])
        if coordinate in lock:
            raise ValueError(f"line {number}: duplicate coordinate {coordinate}")
        lock[coordinate] = found["sha256"]
    return lock


def read(path: Path) -> Lock:
    """Read a lock file. Raises ArtifactError."""
    try:
        return parse(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        remedy = f"restore the file, or regenerate it with `{UPDATE_COMMAND} {path.stem}`"
        raise ArtifactError(f"Reading the lock {path}", str(error), remedy) from error


def render(lock: Lock) -> str:
    """Return the text of a lock file, sorted by coordinate."""
    lines = ["# SPDX-License-Identifier: Apache-2.0"]
    lines += [f"{lock[coordinate]}  {coordinate}" for coordinate in sorted(lock)]
    return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class Difference:
    """Deviation of one resolved file from the lock."""

    coordinate: Coordinate
    description: str

    def __str__(self) -> str:
        return f"{self.coordinate} {self.description}"


def compare(lock: Lock, resolved: Mapping[Coordinate, str]) -> list[Difference]:
    """Return missing, unlocked and changed files, sorted by coordinate."""
    differences = []
    for coordinate in sorted(lock.keys() | resolved.keys()):
        expected, actual = lock.get(coordinate), resolved.get(coordinate)
        if actual is None:
            differences.append(Difference(coordinate, "is locked but was not resolved"))
        elif expected is None:
            differences.append(Difference(coordinate, "was resolved but is not in the lock"))
        elif actual != expected:
            differences.append(Difference(coordinate, f"has sha256 {actual} instead of {expected}"))
    return differences


def lock_path(component: str) -> Path:
    """Return the path of the lock file of a component."""
    return FOLDER / f"{component}.lock"
