# SPDX-License-Identifier: Apache-2.0
"""Hashes of what a process runs and no artifact's path names: it restarts when they change."""

import hashlib
from collections.abc import Iterable
from pathlib import Path

from infra.model import Java, Python, Run
from infra.paths import user_path

LENGTH = 16


def revision(project: Path, run: Run) -> str:
    """Of the kit's own Python packages, or of a jar that the user brought; empty where the path says it all."""
    match run:
        case Python():
            return source_revision(project, (run.module, *run.uses))
        case Java() if run.jar:
            with user_path(project, run.jar).open("rb") as jar:
                return hashlib.file_digest(jar, "sha256").hexdigest()[:LENGTH]
        case _:
            return ""


def source_revision(project: Path, modules: Iterable[str]) -> str:
    """A hash of the sources of packages and modules."""
    digest = hashlib.sha256()
    for module in modules:
        place = project.joinpath(*module.split("."))
        files = [path for path in sorted(place.rglob("*")) if path.suffix in {".py", ".avsc"}]
        for path in files or [place.with_suffix(".py")]:
            digest.update(str(path.relative_to(project)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:LENGTH]
