# SPDX-License-Identifier: Apache-2.0
"""Credentials of a stack, generated or given by the user: a file of shell assignments with mode 0600.

Credentials never enter Pulumi's state, an argument list or a commit; programs read the file.
"""

import hashlib
import json
import os
import secrets
import shlex
from collections.abc import Collection, Mapping
from pathlib import Path

from infra.errors import LabError

S3_REGION = "us-east-1"
"""Region that S3 clients require; MinIO ignores it."""

S3_ACCESS_KEY = "S3_ACCESS_KEY"
S3_SECRET_KEY = "S3_SECRET_KEY"
POSTGRES_PASSWORD = "POSTGRES_PASSWORD"
LINEAGE_ADMIN_KEY = "LINEAGE_ADMIN_KEY"
LINEAGE_INGEST_KEY = "LINEAGE_INGEST_KEY"
LINEAGE_READ_KEY = "LINEAGE_READ_KEY"
AIRFLOW_PASSWORD = "AIRFLOW_PASSWORD"
KAFKA_ADMIN_PASSWORD = "KAFKA_ADMIN_PASSWORD"
KAFKA_CLIENT_PASSWORD = "KAFKA_CLIENT_PASSWORD"
KAFKA_CONNECT_PASSWORD = "KAFKA_CONNECT_PASSWORD"
KAFKA_FLINK_PASSWORD = "KAFKA_FLINK_PASSWORD"
KAFKA_LINEAGE_PASSWORD = "KAFKA_LINEAGE_PASSWORD"
KAFKA_SPARK_PASSWORD = "KAFKA_SPARK_PASSWORD"
LINEAGE_WEBHOOKS = "LINEAGE_WEBHOOKS"
"""Receivers of alerts: the content of a file of the user. It is never generated, so it is not in `NAMES`."""

FROM_FILES = frozenset({LINEAGE_WEBHOOKS})
"""Credentials of single services, which restart by themselves when the file changes."""

NAMES = (
    S3_ACCESS_KEY,
    S3_SECRET_KEY,
    POSTGRES_PASSWORD,
    LINEAGE_ADMIN_KEY,
    LINEAGE_INGEST_KEY,
    LINEAGE_READ_KEY,
    AIRFLOW_PASSWORD,
    KAFKA_ADMIN_PASSWORD,
    KAFKA_CLIENT_PASSWORD,
    KAFKA_CONNECT_PASSWORD,
    KAFKA_FLINK_PASSWORD,
    KAFKA_LINEAGE_PASSWORD,
    KAFKA_SPARK_PASSWORD,
)
S3_NAMES = frozenset({S3_ACCESS_KEY, S3_SECRET_KEY})

FINGERPRINT_KEY = "FINGERPRINT_KEY"
"""Random value in a file with given credentials, so that a fingerprint does not reveal a short password."""


def render(values: dict[str, str]) -> str:
    """Render credentials as text that a shell can source and `parse` reads."""
    return "".join(f"{name}={shlex.quote(value)}\n" for name, value in sorted(values.items()))


def parse(text: str) -> dict[str, str]:
    """Parse credentials; incomplete or malformed assignments are ignored."""
    words = (word for line in text.splitlines() for word in _shell_words(line))
    return dict(word.split("=", 1) for word in words if "=" in word)


def _shell_words(line: str) -> list[str]:
    try:
        return shlex.split(line, comments=True)
    except ValueError:  # unterminated quote, after a manual edit or a partial write
        return []


def read(path: Path) -> dict[str, str]:
    """Read the credentials from a file.

    Raises:
        LabError: the file is missing or not readable.
    """
    try:
        return parse(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise LabError(
            f"cannot read the lab's credentials: {error}. `pulumi up --refresh` creates them again"
        ) from error


def write(path: Path, text: str) -> None:
    """Write a file atomically, with mode 0600."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    temporary = path.with_name(path.name + ".new")
    temporary.unlink(missing_ok=True)
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    temporary.rename(path)


def variable(name: str) -> str:
    """Return the environment variable by which the user gives a credential: `LINEAGE_LAB_POSTGRES_PASSWORD`."""
    return f"LINEAGE_LAB_{name}"


def ensure(
    path: Path, given: Mapping[str, str] | None = None, further: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Return the credentials in a file.

    The `given` ones of existing services and `further` ones replace those in the file; missing ones are generated. All
    are written to the file.
    """
    before = parse(path.read_text(encoding="utf-8")) if path.exists() else {}
    values = {**before, **(given or {}), **(further or {})}
    wanted = NAMES if given is None else (*NAMES, FINGERPRINT_KEY)
    values |= {name: secrets.token_hex(16) for name in wanted if name not in values}
    if values != before:
        write(path, render(values))
    return values


def json_credential(path: Path) -> str:
    """Return the content of a JSON file as one line, which a shell can source.

    Raises:
        LabError: the file is missing or no JSON.
    """
    try:
        return json.dumps(json.loads(path.read_text(encoding="utf-8")), separators=(",", ":"))
    except (OSError, ValueError) as error:
        raise LabError(f"cannot read the credentials in {path}: {error}") from error


def file_revision(path: Path) -> str:
    """Return a hash of `json_credential`, which changes with the content of the file."""
    return hashlib.sha256(json_credential(path).encode()).hexdigest()[:16]


def remove(path: Path, names: Collection[str]) -> None:
    """Remove credentials from a file, so that `ensure` generates them."""
    values = read(path)
    if not values.keys().isdisjoint(names):
        write(path, render({name: value for name, value in values.items() if name not in names}))


def fingerprint(values: dict[str, str]) -> str:
    """Return a hash that changes with any credential but those of `FROM_FILES`.

    It reveals none, since at least one has 128 random bits.
    """
    shared = {name: value for name, value in values.items() if name not in FROM_FILES}
    return hashlib.sha256(render(shared).encode()).hexdigest()[:16]
