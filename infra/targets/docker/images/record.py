# SPDX-License-Identifier: Apache-2.0
"""What the daemon called the images that were built: a note in the download cache, to be read without a daemon."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from infra.toolchain.cache import Cache

FILE = "images.json"


@dataclass(frozen=True)
class Record:
    """Reference of an image -> the daemon's identifier of it, `sha256:...`."""

    path: Path

    @classmethod
    def of(cls, cache: Cache) -> "Record":
        """That of a cache."""
        return cls(cache.root / FILE)

    def identifiers(self) -> Mapping[str, str]:
        """Everything that was built and not removed; empty where the note is missing or damaged."""
        try:
            found = json.loads(self.path.read_bytes())
        except (FileNotFoundError, ValueError):  # the next build writes it anew
            return {}
        return {str(name): str(value) for name, value in found.items()} if isinstance(found, dict) else {}

    def write(self, identifiers: Mapping[str, str]) -> None:
        """Replaces the note; a reader sees the old one or the new one."""
        beside = self.path.with_name(f"{FILE}.new")
        beside.write_text(json.dumps(dict(sorted(identifiers.items())), indent=1) + "\n", encoding="utf-8")
        beside.replace(self.path)
