# SPDX-License-Identifier: Apache-2.0
"""Set-up as a whole, with binaries that a loopback site serves."""

import dataclasses
import hashlib
import os
import shutil
from pathlib import Path

import pytest

from infra.toolchain import Artifacts, binaries, pins
from infra.toolchain.cache import Cache, platform_tag
from infra.toolchain.errors import ArtifactError
from infra.toolchain.manifest import MANIFEST_FILE

RELEASE = b"#!/bin/sh\necho minio\n"


@pytest.fixture
def artifacts(cache: Cache, site, monkeypatch: pytest.MonkeyPatch) -> Artifacts:
    """A cache whose MinIO comes from the loopback site."""
    site.files["minio"] = RELEASE
    vendor = pins.VendorFile("1", (f"{site.url}/minio",), hashlib.sha256(RELEASE).hexdigest())
    minio = dataclasses.replace(binaries.MINIO, downloads={platform_tag(): vendor})
    monkeypatch.setitem(binaries.BINARIES, "minio", minio)
    monkeypatch.setenv("LINEAGE_LAB_IGNORE_SPACE", "1")
    return Artifacts(cache)


def test_a_first_setup_brings_it_and_a_second_needs_nothing(artifacts: Artifacts, progress, site) -> None:
    report = artifacts.setup({"minio"}, progress)
    assert [result.label for result in report.made] == ["minio"]
    assert report.size == len(RELEASE)
    assert artifacts.binary("minio").read_bytes() == RELEASE
    assert os.access(artifacts.binary("minio"), os.X_OK)
    assert progress.closed
    site.files.clear()
    assert artifacts.setup({"minio"}, progress).made == ()
    assert artifacts.verify() == []


def test_before_setup_a_path_is_an_error_that_says_what_to_run(artifacts: Artifacts) -> None:
    for look in (
        lambda: artifacts.binary("minio"),
        lambda: artifacts.component("kafka"),
        lambda: artifacts.python("spark"),
        lambda: artifacts.java(21),
    ):
        with pytest.raises(ArtifactError, match="bin/lab setup"):
            look()


def test_an_unknown_name_is_refused_with_the_known_ones(artifacts: Artifacts, progress) -> None:
    with pytest.raises(ArtifactError, match=r"unknown: kafak.*\n.*kafka"):
        artifacts.setup({"kafak"}, progress)


def test_a_corrupted_file_is_named_removed_and_brought_again(artifacts: Artifacts, progress) -> None:
    artifacts.setup({"minio"}, progress)
    path = artifacts.binary("minio")
    before = path.stat()
    path.write_bytes(RELEASE.replace(b"echo", b"ohce"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    [problem] = artifacts.verify()
    assert problem.path == path
    assert not path.exists()
    assert len(artifacts.setup({"minio"}, progress).made) == 1
    assert path.read_bytes() == RELEASE
    assert artifacts.verify() == []


def test_a_touched_file_is_noticed_without_verify(artifacts: Artifacts, progress) -> None:
    artifacts.setup({"minio"}, progress)
    artifacts.binary("minio").write_bytes(b"cut")
    artifacts.setup({"minio"}, progress)
    assert "minio has 3 bytes instead of" in progress.notes[0]
    assert artifacts.binary("minio").read_bytes() == RELEASE


def test_a_folder_without_stamp_is_not_taken_for_whole(artifacts: Artifacts, progress) -> None:
    artifacts.setup({"minio"}, progress)
    (artifacts.binary_dir("minio") / MANIFEST_FILE).unlink()
    with pytest.raises(ArtifactError):
        artifacts.binary("minio")
    assert len(artifacts.setup({"minio"}, progress).made) == 1


def test_leftovers_of_an_interrupted_setup_are_named(artifacts: Artifacts, progress) -> None:
    (artifacts.cache.tmp / "minio").mkdir()
    artifacts.setup({"minio"}, progress)
    assert progress.notes == ["removed what an interrupted set-up left of minio"]


def test_without_release_and_go_the_error_says_what_is_needed(
    artifacts: Artifacts, progress, site, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    site.files["minio"] = b"something else"
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ArtifactError) as raised:
        artifacts.setup({"minio"}, progress)
    assert "Go (for building minio)" in str(raised.value)
    assert "removed" in progress.notes[0]
    assert not (artifacts.cache.root / "binaries").exists()
    assert list(artifacts.cache.tmp.iterdir()) == []


def test_a_binary_of_the_user_is_never_deleted(
    artifacts: Artifacts, progress, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("pulumi", "pulumi-language-python"):
        (tmp_path / name).write_text("#!/bin/sh\necho v99.0.0\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    artifacts.setup({"pulumi"}, progress)
    assert artifacts.binary("pulumi") == tmp_path / "pulumi"
    (tmp_path / "pulumi").write_text("#!/bin/sh\necho v99.1.0\n# newer\n")
    assert [problem.path for problem in artifacts.verify()] == [tmp_path / "pulumi"]
    assert (tmp_path / "pulumi").exists()
    [again] = artifacts.setup({"pulumi"}, progress).made
    assert again.source.startswith("99.1.0")


def test_too_little_space_is_told_before_anything_is_fetched(
    artifacts: Artifacts, progress, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LINEAGE_LAB_IGNORE_SPACE")
    usage = shutil.disk_usage(artifacts.cache.root)._replace(free=10**9)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
    with pytest.raises(ArtifactError) as raised:
        artifacts.setup({"minio"}, progress)
    assert "1.0 GB left" in str(raised.value)
    assert "LINEAGE_LAB_CACHE" in str(raised.value)
