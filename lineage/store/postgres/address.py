# SPDX-License-Identifier: Apache-2.0
"""Address of the Postgres database that holds the log."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

from lineage.store.errors import StoreUnusable

PASSWORD = "LINEAGE_STORE_PASSWORD"
"""Environment variable with the password of the role."""

SCHEMES = ("postgresql", "postgres")


@dataclass(frozen=True, slots=True)
class PostgresAddress:
    """Database, as `postgresql://USER@HOST:PORT/DATABASE?sslmode=...`; the password is in no text of it."""

    url: str
    password: str | None = field(default=None, repr=False)

    def __str__(self) -> str:
        return self.url


def check_url(text: str) -> str:
    """Return the URL of a database, without a trailing slash.

    Raises:
        ValueError: it is none, or has a password.
    """
    example = "postgresql://lineage@db.example.org:5432/lineage"
    try:
        parts = urlsplit(text)
        complete = parts.scheme in SCHEMES and parts.username and parts.hostname and parts.path.strip("/")
        has_password = parts.password is not None or "password" in dict(parse_qsl(parts.query))
        _ = parts.port
    except ValueError as error:
        raise ValueError(f"the store is no URL of a Postgres database ({error}); write it as {example}") from error
    if has_password:
        raise ValueError(f"the URL of the store has a password, which others can see; set {PASSWORD} instead")
    if not complete:
        raise ValueError(f"{text!r} is no URL of a Postgres database; write it as {example}")
    return text


def read_password(file: Path | None, environment: Mapping[str, str]) -> str | None:
    """Return the password: the content of the file if there is one, else the environment variable, else None.

    Raises:
        StoreUnusable: the file cannot be read.
    """
    if file is None:
        return environment.get(PASSWORD) or None
    try:
        return file.read_text(encoding="utf-8").strip()
    except (OSError, ValueError) as error:
        raise StoreUnusable(f"cannot read the password of the store from {file}: {error}") from error
