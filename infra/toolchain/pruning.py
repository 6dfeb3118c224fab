# SPDX-License-Identifier: Apache-2.0
"""Artefacts in the cache that neither this checkout nor a running process uses."""

from collections.abc import Collection, Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import psutil

from infra.toolchain import class_data, page
from infra.toolchain.cache import folder_size

KINDS = ("binaries", "components", "venvs", class_data.NAME, page.NAME)
"""Folders of the cache whose entries are keyed by pins or sources: each change leaves the former entry behind."""


class Unused(NamedTuple):
    """Folder of an artefact, and its size in bytes."""

    folder: Path
    size: int


def unused_artifacts(root: Path, kept: Collection[Path]) -> list[Unused]:
    """Return the artefacts in the cache `root` that are not `kept` and that no running process names.

    Labs of other checkouts may be running: the command lines of their processes name what they use.
    """
    folders = [folder for kind in KINDS for folder in _folders(root / kind) if folder not in kept]
    words = _command_lines() if folders else ""
    return [Unused(folder, folder_size(folder)) for folder in folders if str(folder) not in words]


def _folders(kind: Path) -> Iterable[Path]:
    return sorted(path for path in kind.iterdir() if path.is_dir()) if kind.is_dir() else ()


def _command_lines() -> str:
    """Return the arguments of all processes that this user may see."""
    lines = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            lines.append("\n".join(process.cmdline()))
    return "\n".join(lines)
