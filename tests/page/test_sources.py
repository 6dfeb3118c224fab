# SPDX-License-Identifier: Apache-2.0
"""Unit tests and types of the page, its lock file, its dependencies and its download size."""

import json
import re
import subprocess

from infra.toolchain.artifacts import PAGE_PROJECT
from tests.bench.page import FIRST_LOAD, first_load

IMPORTED = re.compile(r"""(?:from\s+|import\s*\(?\s*)["']([^."'][^"']*)["']""")


def test_type_check_and_unit_tests_pass(project):
    done = subprocess.run(["npm", "run", "check"], cwd=project, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_lock_file_has_a_hash_of_every_package_and_no_registry():
    packages = json.loads((PAGE_PROJECT / "package-lock.json").read_text())["packages"]
    fetched = {name: package for name, package in packages.items() if name}
    assert fetched
    assert [name for name, package in fetched.items() if not package.get("integrity")] == []
    assert [name for name, package in packages.items() if "resolved" in package] == []


def test_the_page_imports_only_its_declared_dependencies():
    declared = json.loads((PAGE_PROJECT / "package.json").read_text())["dependencies"].keys()
    imported = {name for path in (PAGE_PROJECT / "src").rglob("*.ts*") for name in IMPORTED.findall(path.read_text())}
    packages = {"/".join(name.split("/")[: 2 if name.startswith("@") else 1]) for name in imported}
    assert packages == declared == {"preact", "@preact/signals"}


def test_the_first_load_is_within_its_size_limit(site):
    assert FIRST_LOAD.is_met(first_load(site) / 1000)
