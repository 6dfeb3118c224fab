# SPDX-License-Identifier: Apache-2.0
"""Hashes of the code that a process runs, so that a changed source file or jar restarts the process."""

import ast
import functools
import hashlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from infra.model import Java, Python, Run
from infra.project import SOURCE_ROOTS, user_path

REVISION_LENGTH = 16
"""Hexadecimal digits of a revision."""


def revision(project: Path, run: Run) -> str:
    """Return the hash of the project's Python sources, of the user's jar, or of other files that `run` reads.

    Empty for pinned components: their path changes with their version.
    """
    match run:
        case Python():
            return source_revision(project, (run.module, *run.uses), run.reads)
        case Java() if run.jar:
            with user_path(project, run.jar).open("rb") as jar:
                return hashlib.file_digest(jar, "sha256").hexdigest()[:REVISION_LENGTH]
        case Java() if run.reads:
            return source_revision(project, (), run.reads)
        case _:
            return ""


def source_revision(project: Path, modules: Iterable[str], files: Iterable[str] = ()) -> str:
    """Return the hash of modules and packages, of the project files that they import, and of `files`."""
    digest = hashlib.sha256()
    for path in sources(project, modules, files):
        digest.update(str(path.relative_to(project)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:REVISION_LENGTH]


def sources(project: Path, modules: Iterable[str], files: Iterable[str] = ()) -> list[Path]:
    """Return the paths of modules and packages, of the project files that they import, and of `files`, sorted.

    Raises:
        FileNotFoundError: a module does not exist.
    """
    return sorted(with_imports(project, modules) | {project / file for file in files})


def with_imports(project: Path, modules: Iterable[str]) -> set[Path]:
    """Return the files of modules and, recursively, the project files that they import; of a package, all files.

    Raises:
        FileNotFoundError: a module does not exist.
    """
    pending = [
        path for module in modules for path in _package_files(project, module) or [_module_file(project, module)]
    ]
    visited: set[Path] = set()
    resolved: set[str] = set()
    pending = [
        path for module in modules for path in _package_files(project, module) or [_module_file(project, module)]
    ]
    while pending:
        path = pending.pop()
        if path not in visited:
            visited.add(path)
            names = set(_imported_names(path.read_bytes())) - resolved if path.suffix == ".py" else set()
            resolved |= names
            pending += _project_files(project, names)
    return visited


def _project_files(project: Path, names: Iterable[str]) -> Iterator[Path]:
    """Yield the project files behind imported names; of a package, its `__init__.py`."""
    for name in names:
        for root in SOURCE_ROOTS:
            stem = os.path.join(project / root, *name.split("."))
            yield from (Path(path) for path in (f"{stem}.py", f"{stem}/__init__.py") if os.path.isfile(path))


@functools.cache
def _imported_names(source: bytes) -> tuple[str, ...]:
    """Return the names that a source file imports anywhere, functions and `TYPE_CHECKING` blocks included.

    `from a import b` counts as `a` and `a.b`: `b` may be a module. Cached, as the processes of a lab share most of
    their sources: the 220 files of the default lab take 0.3 s of CPU time once per `up`.
    """
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return ()  # reported by the process itself when it runs
    found: list[str] = []
    for node in _imports(tree):
        names = [alias.name for alias in node.names]
        if isinstance(node, ast.ImportFrom):
            names = [str(node.module), *(f"{node.module}.{name}" for name in names)]
        found += names
    return tuple(found)


def _imports(node: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """Yield import statements at any depth. Expressions, which are most of a tree, contain none and are skipped."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child
        elif not isinstance(child, ast.expr):
            yield from _imports(child)


def _package_files(project: Path, package: str) -> list[Path]:
    folders = (project.joinpath(root, *package.split(".")) for root in SOURCE_ROOTS)
    return [path for folder in folders for path in folder.rglob("*") if path.suffix in {".py", ".avsc"}]


def _module_file(project: Path, name: str) -> Path:
    """Return the file of a module; where no source root contains it, a path that does not exist."""
    places = [project.joinpath(root, *name.split(".")).with_suffix(".py") for root in SOURCE_ROOTS]
    return next((place for place in places if place.is_file()), places[0])
