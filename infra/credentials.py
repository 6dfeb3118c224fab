# SPDX-License-Identifier: Apache-2.0
"""The stack's generated credentials: one file of shell assignments, readable by its owner alone.

They are never in Pulumi's state, in an argument list or in a commit; whoever needs one reads the file.
"""

import hashlib
import os
import secrets
import shlex
from pathlib import Path

from infra.errors import LabError

S3_REGION = "us-east-1"
"""What S3 clients insist on being told; MinIO does not care."""

S3_ACCESS_KEY = "S3_ACCESS_KEY"
S3_SECRET_KEY = "S3_SECRET_KEY"
POSTGRES_PASSWORD = "POSTGRES_PASSWORD"
NAMES = (S3_ACCESS_KEY, S3_SECRET_KEY, POSTGRES_PASSWORD)
NAMES_OF_S3 = frozenset({S3_ACCESS_KEY, S3_SECRET_KEY})


def render(values: dict[str, str]) -> str:
    """The file's text, which a shell can source and `parse` reads back."""
    return "".join(f"{name}={shlex.quote(value)}\n" for name, value in sorted(values.items()))


def parse(text: str) -> dict[str, str]:
    """Names and values of the file's text; what is no whole assignment is passed over."""
    words = (word for line in text.splitlines() for word in _words(line))
    return dict(word.split("=", 1) for word in words if "=" in word)


def _words(line: str) -> list[str]:
    try:
        return shlex.split(line, comments=True)
    except ValueError:  # a quote that never ends: somebody's edit, or half a line
        return []


def read(path: Path) -> dict[str, str]:
    """The credentials in a file.

    Raises:
        LabError: there is no such file, or it cannot be read.
    """
    try:
        return parse(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise LabError(
            f"the lab's credentials cannot be read: {error}. `pulumi up --refresh` makes them anew"
        ) from error


def write(path: Path, text: str) -> None:
    """Writes a file that only its owner can read, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    beside = path.with_name(path.name + ".new")
    beside.unlink(missing_ok=True)
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    beside.rename(path)


def ensure(path: Path) -> dict[str, str]:
    """The credentials in a file, which is made, or completed, where they are missing."""
    values = parse(path.read_text(encoding="utf-8")) if path.exists() else {}
    missing = [name for name in NAMES if name not in values]
    if missing:
        values |= {name: secrets.token_hex(16) for name in missing}
        write(path, render(values))
    return values


def fingerprint(values: dict[str, str]) -> str:
    """Changes when a credential changes, and gives none of them away (each has 128 random bits)."""
    return hashlib.sha256(render(values).encode()).hexdigest()[:16]
