# SPDX-License-Identifier: Apache-2.0
"""The `lab` script, run as a child process, and virtual environments."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from infra.toolchain import bootstrap, venvs
from infra.toolchain.cache import Cache
from infra.toolchain.errors import ArtifactError
from infra.toolchain.manifest import MANIFEST_FILE, load
from infra.toolchain.process import Runner

LAB = Path(__file__).parents[3] / "bin" / "lab"


@pytest.fixture
def empty(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> venvs.VirtualEnvironment:
    """Environment without packages."""
    (tmp_path / "requirements").mkdir()
    (tmp_path / "requirements" / "empty.txt").write_text("# nothing\n")
    monkeypatch.setattr(venvs, "REQUIREMENTS", tmp_path / "requirements")
    return venvs.VirtualEnvironment("empty")


@pytest.mark.parametrize("linked", [False, True])
def test_lab_script_executes_the_cli_in_the_kit_environment(cache: Cache, tmp_path: Path, linked: bool) -> None:
    script = LAB
    if linked:
        script = tmp_path / "lab"
        script.symlink_to(LAB)
    python = venvs.KIT.python(cache)
    python.parent.mkdir(parents=True)
    python.write_text('#!/bin/sh\necho "$PYTHONPATH|$@"\n')
    python.chmod(0o755)
    (python.parents[1] / MANIFEST_FILE).write_text("{}")
    done = subprocess.run(
        [sys.executable, script, "up", "--stack", "a b"],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
        env={**os.environ, "LINEAGE_LAB_CACHE": str(cache.root)},
    )
    modules = f"{LAB.parents[1]}{os.pathsep}{LAB.parents[1] / 'integrations' / 'common'}"
    assert done.stdout == f"{modules}|-P -m infra.cli up --stack a b\n"


@pytest.mark.parametrize(("command", "installs"), [("down", False), ("status", False), ("up", True), ("verify", True)])
def test_commands_on_a_running_lab_need_no_packages_of_an_updated_checkout(
    cache: Cache, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: str, installs: bool
) -> None:
    installed: list[Cache] = []
    monkeypatch.setattr(bootstrap, "_install", installed.append)
    kit = venvs.KIT.folder(cache)
    assert bootstrap._kit_folder(cache, [command]) == kit
    assert installed == [cache], "there is no earlier one"
    earlier = kit.with_name("kit-0123456789ab")
    earlier.mkdir(parents=True)
    (earlier / MANIFEST_FILE).write_text("{}")
    assert bootstrap._kit_folder(cache, [command, "--stack", "dev"]) == (kit if installs else earlier)
    assert installed == [cache] * (2 if installs else 1)
    assert (str(earlier) in capsys.readouterr().err) is not installs


def test_unwritable_cache_is_reported_without_a_traceback(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = subprocess.run(
        [sys.executable, LAB, "up"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "LINEAGE_LAB_CACHE": str(tmp_path / "file" / "x")},
    )
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "LINEAGE_LAB_CACHE" in done.stderr


@pytest.mark.slow
def test_create_venv_replaces_an_unfinished_one_and_includes_packages_of_others(
    empty: venvs.VirtualEnvironment, cache: Cache, runner: Runner, progress
) -> None:
    leftover = empty.folder(cache) / "lib" / "half"
    leftover.parent.mkdir(parents=True)
    leftover.write_text("")
    venvs.create_venv(empty, cache, runner, progress)
    assert not leftover.exists()
    manifest = load(empty.folder(cache))
    assert manifest is not None
    assert manifest.key == empty.key
    assert progress.notes == ["removed the unfinished empty venv of an interrupted set-up"]

    (venvs.site_packages(empty.folder(cache)) / "only_there.py").write_text("")
    (venvs.REQUIREMENTS / "above.txt").write_text("")
    above = venvs.VirtualEnvironment("above", includes=(empty,))
    venvs.create_venv(above, cache, runner, progress)
    subprocess.run([above.python(cache), "-c", "import only_there"], check=True)


@pytest.mark.slow
def test_failed_installation_leaves_no_manifest(
    empty: venvs.VirtualEnvironment, cache: Cache, runner: Runner, progress
) -> None:
    (venvs.REQUIREMENTS / "empty.txt").write_text("pip==0.0.0 --hash=sha256:00\n")
    with pytest.raises(ArtifactError, match=r"Creating the virtual environment empty from empty\.txt"):
        venvs.create_venv(empty, cache, runner, progress)
    assert load(empty.folder(cache)) is None


def test_environment_key_depends_on_its_lock_and_included_environments(empty: venvs.VirtualEnvironment) -> None:
    (venvs.REQUIREMENTS / "above.txt").write_text("")
    above = venvs.VirtualEnvironment("above", includes=(empty,))
    before = above.key
    (venvs.REQUIREMENTS / "empty.txt").write_text("# changed\n")
    assert above.key != before
