# SPDX-License-Identifier: Apache-2.0
"""Record of the identifiers of built images in the download cache, readable without a daemon."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from infra.toolchain.cache import Cache

FILE = "images.json"


@dataclass(frozen=True)
class ImageRecord:
    """File with the daemon's identifier (`sha256:...`) of each image by reference."""

    path: Path

    @classmethod
    def in_cache(cls, cache: Cache) -> "ImageRecord":
        """Return the record in a download cache."""
        return cls(cache.root / FILE)

    def identifiers(self) -> Mapping[str, str]:
        """Return the identifiers by reference; empty if the file is missing or damaged."""
        try:
            found = json.loads(self.path.read_bytes())
        except (FileNotFoundError, ValueError):  # the next build writes it again
            return {}
        return {str(name): str(value) for name, value in found.items()} if isinstance(found, dict) else {}

    def write(self, identifiers: Mapping[str, str]) -> None:
        """Replace the file atomically."""
        new = self.path.with_name(f"{FILE}.new")
        new.write_text(json.dumps(dict(sorted(identifiers.items())), indent=1) + "\n", encoding="utf-8")
        new.replace(self.path)
