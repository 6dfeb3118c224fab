# SPDX-License-Identifier: Apache-2.0
"""Source roots of the checkout: the tools search the same folders as the lab's processes and commands."""

import tomllib

from infra.project import COMMAND_ROOTS, PROJECT, SOURCE_ROOTS

HELPERS = "tests/unit/lineage"
"""Folder with helpers of the lineage tests, which those of Spark use too, also when they run alone."""


def test_pytest_ruff_and_mypy_search_the_source_roots():
    tool = tomllib.loads((PROJECT / "pyproject.toml").read_text())["tool"]
    roots = [*SOURCE_ROOTS, *COMMAND_ROOTS]
    assert tool["pytest"]["ini_options"]["pythonpath"] == [*roots, HELPERS]
    assert tool["ruff"]["src"] == roots
    assert [path.removeprefix("$MYPY_CONFIG_FILE_DIR").strip("/") or "." for path in tool["mypy"]["mypy_path"]] == roots
