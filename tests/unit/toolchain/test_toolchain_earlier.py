# SPDX-License-Identifier: Apache-2.0
"""Artefacts of earlier checkouts."""

import os
from pathlib import Path

import pytest

from infra.toolchain import Artifacts
from infra.toolchain.cache import Cache
from infra.toolchain.earlier import earlier_version
from infra.toolchain.errors import ArtifactError
from infra.toolchain.manifest import MANIFEST_FILE


def installed(folder: Path, age: int, complete: bool = True) -> Path:
    folder.mkdir(parents=True)
    if complete:
        (folder / MANIFEST_FILE).write_text("{}")
        os.utime(folder / MANIFEST_FILE, (1_700_000_000 - age, 1_700_000_000 - age))
    return folder


def test_the_newest_complete_one_of_the_same_name_is_chosen(tmp_path: Path) -> None:
    own = tmp_path / "spark-0000000000aa"
    assert earlier_version(own) is None
    installed(own, age=0)
    installed(tmp_path / "spark-3.5-0000000000bb", age=1)
    installed(tmp_path / "spark-0000000000cc", age=1, complete=False)
    assert earlier_version(own) is None
    installed(tmp_path / "spark-0000000000dd", age=3)
    newest = installed(tmp_path / "spark-0000000000ee", age=2)
    assert earlier_version(own) == newest


def test_only_commands_that_ask_for_it_get_an_earlier_one(cache: Cache) -> None:
    earlier = installed(cache.root / "venvs" / "kit-0123456789ab", age=1)
    assert Artifacts.open(cache.root, or_earlier=True).python("kit") == earlier / "bin" / "python"
    with pytest.raises(ArtifactError, match="not installed"):
        Artifacts.open(cache.root).python("kit")
