# SPDX-License-Identifier: Apache-2.0
"""The page's own tests and types, and what its lock file must not hold."""

import json
import subprocess

from infra.artifacts.facade import PAGE


def test_types_and_unit_tests_of_the_page_hold(project):
    done = subprocess.run(["npm", "run", "check"], cwd=project, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_lock_has_a_hash_of_every_package_and_no_registry():
    packages = json.loads((PAGE / "package-lock.json").read_text())["packages"]
    fetched = {name: package for name, package in packages.items() if name}
    assert [name for name, package in fetched.items() if not package.get("integrity")] == []
    assert [name for name, package in packages.items() if "resolved" in package] == []
