# SPDX-License-Identifier: Apache-2.0
import os
from pathlib import Path

import pytest

from infra.toolchain import manifest as manifests


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "a.jar").write_bytes(b"alpha")
    (tmp_path / "lib" / "b.jar").write_bytes(b"beta")
    (tmp_path / "link").symlink_to("lib/a.jar")
    manifests.save(manifests.create(tmp_path, "key", "a test"), tmp_path)
    return tmp_path


def loaded(folder: Path) -> manifests.Manifest:
    manifest = manifests.load(folder)
    assert manifest is not None
    return manifest


def test_unmodified_folder_has_no_problems(folder: Path) -> None:
    manifest = loaded(folder)
    assert manifests.modified_files(manifest, "x", folder) == []
    assert manifests.corrupted_files(manifest, "x", folder, reject_unlisted=True) == []
    assert manifest.size == len("alpha") + len("beta") + len("lib/a.jar")


def test_moved_folder_has_no_problems(folder: Path, tmp_path: Path) -> None:
    moved = folder.rename(tmp_path.parent / "moved")
    assert manifests.modified_files(loaded(moved), "x", moved) == []


def test_modified_files_detects_a_changed_size(folder: Path) -> None:
    (folder / "lib" / "a.jar").write_bytes(b"alph")
    [problem] = manifests.modified_files(loaded(folder), "kafka jars", folder)
    assert str(problem) == f"kafka jars: {folder}/lib/a.jar has 4 bytes instead of 5"


def test_modified_files_detects_a_changed_modification_time(folder: Path) -> None:
    (folder / "lib" / "a.jar").write_bytes(b"ALPHA")
    os.utime(folder / "lib" / "a.jar", ns=(1, 1))
    [problem] = manifests.modified_files(loaded(folder), "x", folder)
    assert problem.path == folder / "lib" / "a.jar"
    assert "modified" in problem.description


def test_corrupted_files_detects_a_change_of_equal_size_and_time(folder: Path) -> None:
    path = folder / "lib" / "b.jar"
    before = path.stat()
    path.write_bytes(b"BETA")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert manifests.modified_files(loaded(folder), "x", folder) == []
    [problem] = manifests.corrupted_files(loaded(folder), "x", folder, reject_unlisted=False)
    assert problem.path == path
    assert "sha256" in problem.description


def test_corrupted_files_detects_a_missing_file_and_a_changed_link(folder: Path) -> None:
    (folder / "lib" / "b.jar").unlink()
    (folder / "link").unlink()
    (folder / "link").symlink_to("lib/z.jar")
    found = manifests.corrupted_files(loaded(folder), "x", folder, reject_unlisted=False)
    assert [(p.path.name, p.description.split()[0]) for p in found] == [("b.jar", "is"), ("link", "has")]
    assert manifests.modified_files(loaded(folder), "x", folder)[0].description == "is missing"


def test_unlisted_file_is_a_problem_only_with_reject_unlisted(folder: Path) -> None:
    (folder / "lib" / "evil.jar").write_bytes(b"")
    assert manifests.corrupted_files(loaded(folder), "x", folder, reject_unlisted=False) == []
    [problem] = manifests.corrupted_files(loaded(folder), "x", folder, reject_unlisted=True)
    assert problem.path.name == "evil.jar"


def test_byte_code_is_ignored(folder: Path) -> None:
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "m.pyc").write_bytes(b"code")
    assert manifests.corrupted_files(loaded(folder), "x", folder, reject_unlisted=True) == []


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"format": 99}', '{"format": 1, "files": [[1]]}'])
def test_damaged_manifest_counts_as_missing(tmp_path: Path, text: str) -> None:
    (tmp_path / manifests.MANIFEST_FILE).write_text(text)
    assert manifests.load(tmp_path) is None


def test_external_manifest_refers_to_files_outside_its_folder(tmp_path: Path) -> None:
    tool = tmp_path / "bin" / "tool"
    tool.parent.mkdir()
    tool.write_bytes(b"x")
    own = tmp_path / "own"
    own.mkdir()
    manifests.save(manifests.create_external([tool], "key", "PATH"), own)
    assert loaded(own).root(own) == tool.parent
    tool.unlink()
    assert [p.path for p in manifests.modified_files(loaded(own), "tool", own)] == [tool]
