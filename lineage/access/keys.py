# SPDX-License-Identifier: Apache-2.0
"""API keys: kept as hashes, compared in constant time.

Keys are random and long, so a plain SHA-256 protects them at rest: there is nothing to guess. `generate_key` makes
them; a given key must have `MIN_LENGTH` characters.

    python -m lineage.access.keys KEYS_FILE NAME SCOPE...    add a key, and print it once
"""

import argparse
import hashlib
import hmac
import json
import os
import secrets
import stat
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lineage.access.scopes import Scope

MIN_LENGTH = 16
"""Characters of a given key."""

ADMIN_TOKEN_FILE = "admin-token"
"""File of the data directory with the generated admin key."""

KEY_VARIABLES = {
    "LINEAGE_ADMIN_KEY": ("admin", frozenset(Scope)),
    "LINEAGE_INGEST_KEY": ("emitters", frozenset({Scope.INGEST})),
    "LINEAGE_READ_KEY": ("readers", frozenset({Scope.READ})),
}
"""Environment variables with keys: name in the audit log, and scopes."""


class KeysError(ValueError):
    """Keys cannot be used; the message gives the cause and the remedy."""


@dataclass(frozen=True, slots=True)
class ApiKey:
    """Name for the audit log, scopes, and SHA-256 of a key."""

    name: str
    scopes: frozenset[Scope]
    digest: bytes


class KeyRing:
    """Keys of the service. With `required`, reading and sending events require a key; administration always does."""

    def __init__(self, keys: Iterable[ApiKey], required: bool) -> None:
        self._keys = tuple(keys)
        self.required = required

    def find(self, presented: str) -> ApiKey | None:
        """Return the key that was presented; the time taken does not depend on it."""
        digest = _digest(presented)
        found = None
        for key in self._keys:
            if hmac.compare_digest(key.digest, digest):
                found = key
        return found


def open_keys(data: Path, keys_file: Path | None, required: bool, environment: Mapping[str, str]) -> KeyRing:
    """Return the keys of the keys file and of the environment.

    Without a key for administration, one is generated and written to `ADMIN_TOKEN_FILE` in the data directory.

    Raises:
        KeysError: a file cannot be used, or a key is too short.
    """
    keys = [*(read_keys(keys_file) if keys_file else ()), *_keys_of_environment(environment)]
    if not any(Scope.ADMIN in key.scopes for key in keys):
        keys.append(ApiKey("admin-token", frozenset(Scope), _digest(_admin_token(data / ADMIN_TOKEN_FILE))))
    return KeyRing(keys, required or keys_file is not None)


def read_keys(path: Path) -> list[ApiKey]:
    """Read `{"keys": [{"name", "scopes": ["ingest" | "read" | "admin"], "sha256": hexadecimal}]}`.

    Raises:
        KeysError: the file has another shape, or cannot be read.
    """
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))["keys"]
        return [
            ApiKey(str(row["name"]), frozenset(map(Scope, row["scopes"])), _hexadecimal(row["sha256"])) for row in rows
        ]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise KeysError(
            f"--keys {path}: {error!r}; `python -m lineage.access.keys FILE NAME SCOPE` adds keys"
        ) from error


def add_key(path: Path, name: str, scopes: Iterable[Scope]) -> str:
    """Add a generated key to a keys file, which is created with mode 0600 if it is missing; return the key.

    Raises:
        KeysError: the file cannot be used, or has a key of that name.
    """
    known = read_keys(path) if path.exists() else []
    if any(key.name == name for key in known):
        raise KeysError(f"{path} has a key {name!r}; choose another name, or remove it from the file first")
    key = generate_key()
    rows = [*known, ApiKey(name, frozenset(scopes), _digest(key))]
    content = {"keys": [{"name": row.name, "scopes": sorted(row.scopes), "sha256": row.digest.hex()} for row in rows]}
    try:
        _write_private(path, json.dumps(content, indent=2) + "\n")
    except OSError as error:
        raise KeysError(f"cannot write {path}: {error.strerror}") from error
    return key


def generate_key() -> str:
    """Return a key of 256 random bits."""
    return secrets.token_urlsafe(32)


def _keys_of_environment(environment: Mapping[str, str]) -> list[ApiKey]:
    keys = []
    for variable, (name, scopes) in KEY_VARIABLES.items():
        if value := environment.get(variable):
            if len(value) < MIN_LENGTH:
                raise KeysError(f"{variable} must have {MIN_LENGTH} characters or more, not {len(value)}")
            keys.append(ApiKey(name, scopes, _digest(value)))
    return keys


def _admin_token(path: Path) -> str:
    """Return the token of the file, which is created if it is missing.

    Raises:
        KeysError: the file cannot be read or written, or other users may read it.
    """
    try:
        if not path.exists():
            _write_private(path, generate_key() + "\n")
        if stat.S_IMODE(path.stat().st_mode) & 0o077:
            raise KeysError(f"{path} is readable by other users: remove it, and a new token is generated")
        token = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise KeysError(f"cannot use the admin token in {path}: {error}") from error
    if len(token) < MIN_LENGTH:
        raise KeysError(f"{path} is empty or damaged: remove it, and a new token is generated")
    return token


def _write_private(path: Path, text: str) -> None:
    """Write a file atomically with mode 0600."""
    temporary = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
    temporary.replace(path)


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "surrogateescape")).digest()


def _hexadecimal(text: str) -> bytes:
    digest = bytes.fromhex(text)
    if len(digest) != hashlib.sha256().digest_size:
        raise ValueError(f"sha256 {text[:8]!r}... does not have 64 hexadecimal digits")
    return digest


def main(arguments: Sequence[str]) -> int:
    """Add a key; returns the exit code: 0, or 2 with a one-line error."""
    parser = argparse.ArgumentParser(prog="python -m lineage.access.keys", description="Add a key to a keys file.")
    parser.add_argument("file", type=Path)
    parser.add_argument("name")
    parser.add_argument("scopes", nargs="+", type=Scope, metavar="SCOPE", help="ingest, read or admin")
    given = parser.parse_args(arguments)
    try:
        print(add_key(given.file, given.name, given.scopes))
    except KeysError as error:
        print(f"lineage: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
