# SPDX-License-Identifier: Apache-2.0
"""Set-up of artefacts, with binaries from an HTTP server on loopback."""

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
    """Artefacts in an empty cache; MinIO is downloaded from `site`."""
    site.files["minio"] = RELEASE
    vendor = pins.VendorFile("1", (f"{site.url}/minio",), hashlib.sha256(RELEASE).hexdigest())
    minio = dataclasses.replace(binaries.MINIO, downloads={platform_tag(): vendor})
    monkeypatch.setitem(binaries.BINARIES, "minio", minio)
    monkeypatch.setenv("LINEAGE_LAB_IGNORE_SPACE", "1")
    return Artifacts(cache)


def test_second_setup_installs_nothing_and_needs_no_network(artifacts: Artifacts, progress, site) -> None:
    report = artifacts.setup({"minio"}, progress)
    assert [result.label for result in report.installed] == ["minio"]
    assert report.size == len(RELEASE)
    assert artifacts.binary("minio").read_bytes() == RELEASE
    assert os.access(artifacts.binary("minio"), os.X_OK)
    assert progress.closed
    site.files.clear()
    assert artifacts.setup({"minio"}, progress).installed == ()
    assert artifacts.verify() == []


def test_path_of_a_missing_artifact_raises_an_error_with_the_setup_command(artifacts: Artifacts) -> None:
    for path_of in (
        lambda: artifacts.binary("minio"),
        lambda: artifacts.component("kafka"),
        lambda: artifacts.python("spark"),
        lambda: artifacts.java(21),
    ):
        with pytest.raises(ArtifactError, match="bin/lab setup"):
            path_of()


def test_setup_of_an_unknown_name_lists_the_known_ones(artifacts: Artifacts, progress) -> None:
    with pytest.raises(ArtifactError, match=r"unknown names: kafak.*\n.*kafka"):
        artifacts.setup({"kafak"}, progress)


def test_verify_removes_a_corrupted_artifact_and_setup_reinstalls_it(artifacts: Artifacts, progress) -> None:
    artifacts.setup({"minio"}, progress)
    path = artifacts.binary("minio")
    before = path.stat()
    path.write_bytes(RELEASE.replace(b"echo", b"ohce"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    [problem] = artifacts.verify()
    assert problem.path == path
    assert not path.exists()
    assert len(artifacts.setup({"minio"}, progress).installed) == 1
    assert path.read_bytes() == RELEASE
    assert artifacts.verify() == []


def test_setup_reinstalls_an_artifact_with_a_modified_file(artifacts: Artifacts, progress) -> None:
    artifacts.setup({"minio"}, progress)
    artifacts.binary("minio").write_bytes(b"cut")
    artifacts.setup({"minio"}, progress)
    assert "minio has 3 bytes instead of" in progress.notes[0]
    assert artifacts.binary("minio").read_bytes() == RELEASE


def test_folder_without_manifest_counts_as_missing(artifacts: Artifacts, progress) -> None:
    artifacts.setup({"minio"}, progress)
    (artifacts.binary_dir("minio") / MANIFEST_FILE).unlink()
    with pytest.raises(ArtifactError):
        artifacts.binary("minio")
    assert len(artifacts.setup({"minio"}, progress).installed) == 1


def test_setup_reports_leftovers_of_an_interrupted_one(artifacts: Artifacts, progress) -> None:
    (artifacts.cache.tmp / "minio").mkdir()
    artifacts.setup({"minio"}, progress)
    assert progress.notes == ["removed minio, left by an interrupted set-up"]


def test_error_without_release_and_go_names_go_and_its_purpose(
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


def test_binary_from_path_is_never_deleted(
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
    [again] = artifacts.setup({"pulumi"}, progress).installed
    assert again.source.startswith("99.1.0")


def test_setup_checks_disk_space_before_any_download(
    artifacts: Artifacts, progress, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LINEAGE_LAB_IGNORE_SPACE")
    usage = shutil.disk_usage(artifacts.cache.root)._replace(free=10**9)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
    with pytest.raises(ArtifactError) as raised:
        artifacts.setup({"minio"}, progress)
    assert "1.0 GB left" in str(raised.value)
    assert "LINEAGE_LAB_CACHE" in str(raised.value)
