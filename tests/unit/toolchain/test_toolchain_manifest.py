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


def test_an_untouched_folder_has_no_problems(folder: Path) -> None:
    manifest = loaded(folder)
    assert manifests.modified_files(manifest, "x", folder) == []
    assert manifests.corrupted_files(manifest, "x", folder, closed=True) == []
    assert manifest.size == len("alpha") + len("beta") + len("lib/a.jar")


def test_a_moved_folder_is_still_whole(folder: Path, tmp_path: Path) -> None:
    moved = folder.rename(tmp_path.parent / "moved")
    assert manifests.modified_files(loaded(moved), "x", moved) == []


def test_a_changed_size_is_seen_without_reading(folder: Path) -> None:
    (folder / "lib" / "a.jar").write_bytes(b"alph")
    [problem] = manifests.modified_files(loaded(folder), "kafka jars", folder)
    assert str(problem) == f"kafka jars: {folder}/lib/a.jar has 4 bytes instead of 5"


def test_a_rewritten_file_of_equal_size_is_seen_by_its_time(folder: Path) -> None:
    (folder / "lib" / "a.jar").write_bytes(b"ALPHA")
    os.utime(folder / "lib" / "a.jar", ns=(1, 1))
    [problem] = manifests.modified_files(loaded(folder), "x", folder)
    assert problem.path == folder / "lib" / "a.jar"
    assert "modified" in problem.what


def test_hashing_finds_a_change_that_kept_size_and_time(folder: Path) -> None:
    path = folder / "lib" / "b.jar"
    before = path.stat()
    path.write_bytes(b"BETA")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert manifests.modified_files(loaded(folder), "x", folder) == []
    [problem] = manifests.corrupted_files(loaded(folder), "x", folder, closed=False)
    assert problem.path == path
    assert "sha256" in problem.what


def test_a_missing_file_and_a_redirected_link_are_found(folder: Path) -> None:
    (folder / "lib" / "b.jar").unlink()
    (folder / "link").unlink()
    (folder / "link").symlink_to("lib/z.jar")
    found = manifests.corrupted_files(loaded(folder), "x", folder, closed=False)
    assert [(p.path.name, p.what.split()[0]) for p in found] == [("b.jar", "is"), ("link", "has")]
    assert manifests.modified_files(loaded(folder), "x", folder)[0].what == "is missing"


def test_a_stranger_counts_only_in_a_closed_folder(folder: Path) -> None:
    (folder / "lib" / "evil.jar").write_bytes(b"")
    assert manifests.corrupted_files(loaded(folder), "x", folder, closed=False) == []
    [problem] = manifests.corrupted_files(loaded(folder), "x", folder, closed=True)
    assert problem.path.name == "evil.jar"


def test_byte_code_does_not_count(folder: Path) -> None:
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "m.pyc").write_bytes(b"code")
    assert manifests.corrupted_files(loaded(folder), "x", folder, closed=True) == []


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"format": 99}', '{"format": 1, "files": [[1]]}'])
def test_a_damaged_stamp_vouches_for_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / manifests.MANIFEST_FILE).write_text(text)
    assert manifests.load(tmp_path) is None


def test_files_outside_are_stamped_where_they_are(tmp_path: Path) -> None:
    tool = tmp_path / "bin" / "tool"
    tool.parent.mkdir()
    tool.write_bytes(b"x")
    own = tmp_path / "own"
    own.mkdir()
    manifests.save(manifests.create_external([tool], "key", "PATH"), own)
    assert loaded(own).root(own) == tool.parent
    tool.unlink()
    assert [p.path for p in manifests.modified_files(loaded(own), "tool", own)] == [tool]
