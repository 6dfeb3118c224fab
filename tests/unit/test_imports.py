# SPDX-License-Identifier: Apache-2.0
"""Dependency rules of the packages: no import cycle, and no import against the arrows of the architecture."""

import ast
from functools import cache
from pathlib import Path

import pytest

from infra.project import COMMAND_ROOTS, PROJECT, SOURCE_ROOTS

INTEGRATIONS = (
    *("lineagelab_catalog", "lineagelab_common", "lineagelab_flink", "lineagelab_great_expectations"),
    *("lineagelab_scikit_learn", "lineagelab_spark", "lineagelab_sql"),
)
ROOM_FOLDERS = ("infra", "jobs", "lineage", *INTEGRATIONS)

FORBIDDEN = {
    "infra": ("jobs",),
    "infra.namespaces": ("infra", "jobs", "lineage", "lineagelab"),
    "infra.model": ("pulumi", "infra.services", "infra.targets", "infra.provider", "infra.cli", "infra.toolchain"),
    "infra.services": ("pulumi", "infra.targets", "infra.provider", "infra.cli", "infra.toolchain"),
    "infra.targets": (
        *(f"infra.services.{name}" for name in ("kafka", "connect", "flink", "spark", "postgres", "marquez")),
        *("infra.services.object_store", "infra.cli"),
    ),
    "infra.provider": ("infra.settings", "infra.targets", "infra.services", "infra.catalog", "infra.cli"),
    "infra.toolchain": ("infra.services", "infra.targets", "infra.provider", "infra.cli", "infra.catalog"),
    "lineage": ("infra", "jobs", "lineagelab"),
    "lineagelab_spark": ("infra", "jobs", "lineage", "lineagelab_flink", "lineagelab_sql"),
    "lineagelab_flink": ("infra", "jobs", "lineage", "lineagelab_spark", "lineagelab_sql"),
    "lineagelab_catalog": (
        "infra",
        "jobs",
        "lineage",
        *(f"lineagelab_{n}" for n in ("common", "flink", "spark", "sql")),
    ),
    "lineagelab_great_expectations": ("infra", "jobs", "lineage", "lineagelab_flink", "lineagelab_spark"),
    "lineagelab_scikit_learn": ("infra", "jobs", "lineage", "lineagelab_flink", "lineagelab_spark", "lineagelab_sql"),
    "lineagelab_sql": ("infra", "jobs", "lineage", "lineagelab_flink", "lineagelab_spark"),
}
"""Package -> packages that it must not import; a name ends at a dot or matches as a prefix of a distribution."""

STANDARD_LIBRARY_ONLY = ("infra.namespaces",)


@cache
def modules():
    """Return the module names of the project -> the files."""
    found = {}
    for root in (*SOURCE_ROOTS, *COMMAND_ROOTS):
        for room in ROOM_FOLDERS:
            for path in (PROJECT / root / room).rglob("*.py"):
                parts = path.relative_to(PROJECT / root).with_suffix("").parts
                found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def type_checking_only(tree):
    return {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }


@cache
def imports(module):
    """Return the names of everything that a module imports at run time, at any depth of its code."""
    tree = ast.parse(modules()[module].read_text(encoding="utf-8"))
    skipped = type_checking_only(tree)
    found = set()
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module} has a relative import"
            for alias in node.names:
                submodule = f"{node.module}.{alias.name}"
                found.add(submodule if submodule in modules() else str(node.module))
    return frozenset(found)


def is_below(name, package):
    return name == package or name.startswith(f"{package}.") or (package == "lineagelab" and name.startswith(package))


@pytest.mark.parametrize("package", FORBIDDEN)
def test_package_imports_nothing_against_its_arrow(package):
    checked = [module for module in modules() if is_below(module, package)]
    assert checked, f"{package} has no modules"
    wrong = {
        f"{module} imports {name}"
        for module in checked
        for name in imports(module)
        for other in FORBIDDEN[package]
        if is_below(name, other)
    }
    assert wrong == set()


def test_no_import_cycles():
    """Depth-first search over run-time imports; a cycle is shown as the path that closes it."""
    done, path = set(), []

    def visit(module):
        if module in path:
            raise AssertionError(" -> ".join([*path[path.index(module) :], module]))
        if module in done:
            return
        path.append(module)
        for name in sorted(imports(module) & modules().keys() - {module}):
            visit(name)
        path.pop()
        done.add(module)

    for module in sorted(modules()):
        visit(module)
    assert len(done) == len(modules()) > 300


def test_a_loose_module_stays_an_exception():
    """At most 8 modules lie directly in `infra` and in `lineage`; everything else has a package."""
    for package in ("infra", "lineage"):
        loose = {path.stem for path in (PROJECT / package).glob("*.py")} - {"__init__", "__main__"}
        assert len(loose) <= 8, f"{package}: {sorted(loose)}"
    assert Path(modules()["infra.namespaces"]).exists()
