# SPDX-License-Identifier: Apache-2.0
"""Artefacts of earlier checkouts: a lab that was started before an update can be removed without the network."""

import re
from pathlib import Path

from infra.toolchain.manifest import MANIFEST_FILE

COMMANDS = frozenset({"down", "reset", "status", "stop", "logs"})
"""Commands on a running lab that artefacts of an earlier checkout suffice for."""

_KEY = r"-[0-9a-f]{12}"


def earlier_version(folder: Path) -> Path | None:
    """Return the newest complete artefact with the name of that in `folder` and another key; None if there is none.

    Args:
        folder: `NAME-KEY` in a folder of the cache; it need not exist.
    """
    name = re.sub(f"{_KEY}$", "", folder.name)
    others = folder.parent.iterdir() if folder.parent.is_dir() else ()
    complete = [
        each / MANIFEST_FILE
        for each in others
        if each != folder and re.fullmatch(re.escape(name) + _KEY, each.name) and (each / MANIFEST_FILE).exists()
    ]
    newest = max(complete, key=lambda manifest: manifest.stat().st_mtime_ns, default=None)
    return newest.parent if newest else None
