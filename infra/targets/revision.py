# SPDX-License-Identifier: Apache-2.0
"""Hashes of what a process runs and no artifact's path names: it restarts when they change."""

import ast
import functools
import hashlib
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from infra.model import Java, Python, Run
from infra.project import SOURCE_ROOTS, user_path

LENGTH = 16

_STATEMENT = re.compile(
    rb"^[ \t]*(?:from[ \t]+([A-Za-z_][\w.]*)[ \t]+import[ \t]+(?:\(([\w\s,]*)\)|([\w \t,*]+))|import[ \t]+([\w. \t,]+))"
    rb"[ \t]*(?:#.*)?$",
    re.MULTILINE,
)
"""An import on lines of its own, without a comment among its names: the form of nearly all."""

_WORD = re.compile(rb"\bimport\b")


def revision(project: Path, run: Run) -> str:
    """Of the kit's own Python packages, or of a jar that the user brought; empty where the path says it all."""
    match run:
        case Python():
            return source_revision(project, (run.module, *run.uses), run.reads)
        case Java() if run.jar:
            with user_path(project, run.jar).open("rb") as jar:
                return hashlib.file_digest(jar, "sha256").hexdigest()[:LENGTH]
        case _:
            return ""


def source_revision(project: Path, modules: Iterable[str], files: Iterable[str] = ()) -> str:
    """A hash of the sources of packages and modules, of those of the project that they import, and of files."""
    digest = hashlib.sha256()
    for path in sources(project, modules, files):
        digest.update(str(path.relative_to(project)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:LENGTH]


def sources(project: Path, modules: Iterable[str], files: Iterable[str] = ()) -> list[Path]:
    """The files of packages and modules, those of the project that they import, and `files`, in order.

    Raises:
        FileNotFoundError: there is no such module.
    """
    return sorted(_with_imports(project, modules) | {project / file for file in files})


def _with_imports(project: Path, modules: Iterable[str]) -> set[Path]:
    """The files of modules and of all that they import of the project; of a package, every file.

    Raises:
        FileNotFoundError: there is no such module.
    """
    found: set[Path] = set()
    known: set[str] = set()
    left = [path for module in modules for path in _files(project, module) or [_module(project, module)]]
    while left:
        path = left.pop()
        if path not in found:
            found.add(path)
            names = set(_names(path.read_bytes())) - known if path.suffix == ".py" else set()
            known |= names
            left += _of_project(project, names)
    return found


def _of_project(project: Path, names: Iterable[str]) -> Iterator[Path]:
    """The project's files among what is imported by these names, packages of them as their `__init__.py`."""
    for name in names:
        for root in SOURCE_ROOTS:
            place = os.path.join(project / root, *name.split("."))
            yield from (Path(path) for path in (f"{place}.py", f"{place}/__init__.py") if os.path.isfile(path))


@functools.cache
def _names(source: bytes) -> tuple[str, ...]:
    """What a source imports, at least: what reads as a statement counts in a text of several lines, too.

    To parse takes fifteen times as long, and most of the parts of a lab share most of their sources.
    """
    statements = list(_STATEMENT.finditer(source))
    if len(statements) != len(_WORD.findall(source)):
        return _parsed_names(source)  # one of another form, or the word in a comment
    found: list[str] = []
    for statement in statements:
        module, *lists = (group.decode() if group else "" for group in statement.groups())
        names = [part.split()[0] for part in "".join(lists).split(",") if part.strip()]
        found += [module, *(f"{module}.{name}" for name in names)] if module else names
    return tuple(found)


def _parsed_names(source: bytes) -> tuple[str, ...]:
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return ()  # it will say so itself when it runs
    found: list[str] = []
    for node in _imports(tree):
        names = [alias.name for alias in node.names]
        if isinstance(node, ast.ImportFrom):
            names = [str(node.module), *(f"{node.module}.{name}" for name in names)]
        found += names
    return tuple(found)


def _imports(node: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """At whatever depth. An expression holds none, and most of a tree is in expressions."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child
        elif not isinstance(child, ast.expr):
            yield from _imports(child)


def _files(project: Path, package: str) -> list[Path]:
    folders = (project.joinpath(root, *package.split(".")) for root in SOURCE_ROOTS)
    return [path for folder in folders for path in folder.rglob("*") if path.suffix in {".py", ".avsc"}]


def _module(project: Path, name: str) -> Path:
    """The file of a module; where no source root has it, the path at which it is missed."""
    places = [project.joinpath(root, *name.split(".")).with_suffix(".py") for root in SOURCE_ROOTS]
    return next((place for place in places if place.is_file()), places[0])
