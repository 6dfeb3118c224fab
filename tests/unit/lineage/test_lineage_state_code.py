# SPDX-License-Identifier: Apache-2.0
"""Code that the state depends on: all that makes and reads it, and no more, so that few upgrades make it again."""

import ast
from functools import cache
from pathlib import Path

import lineage
from lineage.rules import Rules
from lineage.store import state_file
from lineage.store.state_code import OTHER_MODULES, state_code
from lineage.store.state_file import state_digest

PACKAGE = Path(lineage.__file__).parent
ROOTS = ("lineage.store.projection", "lineage.store.state_file")
FOLDERS = ("events", "graph", "rules", "store")


def file_of(module):
    path = PACKAGE.parent / module.replace(".", "/")
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


@cache
def imports(module):
    """Return the modules that a module imports; what a package exports comes from the module that defines it."""
    found = set()
    for node in ast.walk(ast.parse(file_of(module).read_text())):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {defining_module(node.module, name.name) for name in node.names}
    return {name for name in found if name.split(".")[0] == "lineage"}


def defining_module(module, name):
    if file_of(f"{module}.{name}").exists():
        return f"{module}.{name}"
    if not (PACKAGE.parent / module.replace(".", "/")).is_dir():
        return module
    for node in ast.parse(file_of(module).read_text()).body:
        if isinstance(node, ast.ImportFrom) and name in {other.asname or other.name for other in node.names}:
            return defining_module(node.module, name)
    return module


def imported_by(roots):
    found, left = set(), list(roots)
    while left:
        module = left.pop()
        if module not in found:
            found.add(module)
            left += imports(module)
    return found


def test_the_state_depends_on_all_code_that_makes_or_reads_it():
    modules = {f"{folder}/{path.stem}" for folder in FOLDERS for path in (PACKAGE / folder).glob("*.py")}
    needed = {module.removeprefix("lineage.").replace(".", "/") for module in imported_by(ROOTS)}
    assert modules - needed == OTHER_MODULES
    # Exports alone.
    assert not needed & {f"{folder}/__init__" for folder in FOLDERS}
    assert {f"{path.parent.name}/{path.stem}" for path in state_code()} == modules & needed


def test_a_change_of_this_code_makes_the_state_again(tmp_path, monkeypatch):
    before = state_digest(Rules(), "")
    changed = tmp_path / "records.py"
    changed.write_text("# changed")
    monkeypatch.setattr(state_file, "state_code", lambda: [*list(state_code())[1:], changed])
    assert state_digest(Rules(), "") != before
