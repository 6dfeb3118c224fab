# SPDX-License-Identifier: Apache-2.0
"""The page's own tests and types, what its lock file must not hold, and what must not reach the browser."""

import json
import re
import subprocess

from infra.toolchain.facade import PAGE
from tests.bench.page import FIRST_LOAD, first_load

IMPORTED = re.compile(r"""(?:from|import)\s*\(?["']([^."'][^"']*)["']""")


def test_types_and_unit_tests_of_the_page_hold(project):
    done = subprocess.run(["npm", "run", "check"], cwd=project, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_lock_file_has_a_hash_of_every_package_and_no_registry():
    packages = json.loads((PAGE / "package-lock.json").read_text())["packages"]
    fetched = {name: package for name, package in packages.items() if name}
    assert fetched
    assert [name for name, package in fetched.items() if not package.get("integrity")] == []
    assert [name for name, package in packages.items() if "resolved" in package] == []


def test_the_page_is_made_of_its_two_dependencies_alone():
    known = json.loads((PAGE / "package.json").read_text())["dependencies"].keys()
    named = {name for path in (PAGE / "src").rglob("*.ts*") for name in IMPORTED.findall(path.read_text())}
    packages = {"/".join(name.split("/")[: 2 if name.startswith("@") else 1]) for name in named}
    assert packages == known == {"preact", "@preact/signals"}


def test_the_first_load_is_as_small_as_it_should_be(site):
    assert FIRST_LOAD.holds(first_load(site) / 1000)
