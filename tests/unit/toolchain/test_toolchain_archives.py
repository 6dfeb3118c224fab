# SPDX-License-Identifier: Apache-2.0
import io
import os
import tarfile
import zipfile
from pathlib import Path

import pytest

from infra.toolchain import Artifacts, installers, pins
from infra.toolchain import artifacts as artifacts_module
from infra.toolchain import lock as locks
from infra.toolchain.archives import check_builds, jars_of_all_platforms, platform_jar, unpack, unpack_kept
from infra.toolchain.cache import Cache
from infra.toolchain.errors import ArtifactError
from infra.toolchain.manifest import sha256_of
from infra.toolchain.maven import Maven, ResolvedJars
from infra.toolchain.process import Runner


def member(
    name: str, content: bytes = b"", mode: int = 0o644, link: str = "", hard: bool = False
) -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.size, info.mode = len(content), mode
    if link:
        info.type, info.linkname = tarfile.LNKTYPE if hard else tarfile.SYMTYPE, link
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


def tar_of(path: Path, *members: tuple[tarfile.TarInfo, bytes]) -> Path:
    with tarfile.open(path, "w:gz") as tar:
        for info, content in members:
            tar.addfile(info, io.BytesIO(content))
    return path


def test_unpack_keeps_executable_modes_and_symbolic_links(tmp_path: Path) -> None:
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


def test_unpack_extracts_all_files_of_a_tar_gz(tmp_path: Path) -> None:
    unpack(tar_of(tmp_path / "p.tar.gz", member("app/run.jar", b"jar"), member("lib/a.jar", b"a")), tmp_path / "out")
    assert (tmp_path / "out/app/run.jar").read_bytes() == b"jar"
    assert (tmp_path / "out/lib/a.jar").read_bytes() == b"a"


def test_hard_links_are_extracted_if_their_file_is(tmp_path: Path) -> None:
    linked = member("app/b.jar", link="lib/a.jar", hard=True)
    unpack(tar_of(tmp_path / "p.tar.gz", member("lib/a.jar", b"a"), linked), tmp_path / "out")
    assert (tmp_path / "out/app/b.jar").read_bytes() == b"a"
    with pytest.raises(ArtifactError, match=r"b\.jar is a link to a file that is not extracted"):
        unpack(tar_of(tmp_path / "q.tar.gz", linked), tmp_path / "other")


def test_kept_folders_have_the_files_that_they_link_to(tmp_path: Path) -> None:
    archive = tar_of(
        tmp_path / "p.tar.gz",
        member("server-1/plugin/other/a.jar", b"a"),
        member("server-1/plugin/kept/a.jar", link="server-1/plugin/other/a.jar", hard=True),
        member("server-1/lib/b.jar", b"b"),
        member("server-1/README", b"text"),
    )
    unpack_kept(archive, ("lib", "plugin/kept"), tmp_path / "aside", tmp_path / "out")
    found = {path.relative_to(tmp_path / "out").as_posix() for path in (tmp_path / "out").rglob("*") if path.is_file()}
    assert found == {"lib/b.jar", "plugin/kept/a.jar"}
    assert (tmp_path / "out/plugin/kept/a.jar").read_bytes() == b"a"
    with pytest.raises(ArtifactError, match="contains 0 folders missing"):
        unpack_kept(archive, ("missing",), tmp_path / "aside2", tmp_path / "out2")


def test_unpack_reports_an_invalid_or_truncated_tar_gz(tmp_path: Path) -> None:
    whole = tar_of(tmp_path / "p.tar.gz", member("a", os.urandom(100_000))).read_bytes()
    for broken in (b"text", whole[: len(whole) // 2], whole[:200] + b"\0" * 100 + whole[300:]):
        (tmp_path / "broken.tar.gz").write_bytes(broken)
        with pytest.raises(ArtifactError, match=r"Unpacking broken\.tar\.gz"):
            unpack(tmp_path / "broken.tar.gz", tmp_path / "out")


@pytest.mark.parametrize(
    "bad",
    [
        member("../out.txt", b"x"),
        member("/tmp/out.txt", b"x"),
        member("lib/a", link="../../x"),
        member("a", link="/x"),
        member("a", link="../x", hard=True),
        member("a", link="/etc/hostname", hard=True),
    ],
)
def test_unpack_rejects_paths_outside_the_target_folder(tmp_path: Path, bad: tuple[tarfile.TarInfo, bytes]) -> None:
    with pytest.raises(ArtifactError, match="is outside the target folder"):
        unpack(jar_of(tmp_path / "p.jar", bad), tmp_path / "out")
    with pytest.raises(ArtifactError, match="is outside the target folder"):
        unpack(tar_of(tmp_path / "p.tar.gz", bad), tmp_path / "out")
    assert not (tmp_path / "out.txt").exists()


def test_unpack_reports_an_invalid_jar_or_one_with_two_archives(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match=r"Unpacking p\.jar: the jar contains 2 archives"):
        unpack(jar_of(tmp_path / "p.jar", archives=2), tmp_path / "out")
    (tmp_path / "text.jar").write_text("text")
    with pytest.raises(ArtifactError, match=r"Unpacking text\.jar"):
        unpack(tmp_path / "text.jar", tmp_path / "out")


def test_platform_independent_archive_is_available_on_every_platform() -> None:
    for platform in ("linux-x86_64", "linux-riscv64"):
        (coordinate,) = platform_jar(pins.DEBEZIUM_POSTGRES, platform).coordinates
        assert coordinate.endswith(":plugin:tar.gz")


def test_error_on_an_unsupported_platform_lists_the_pinned_ones() -> None:
    for platform in pins.POSTGRES.coordinates:
        (coordinate,) = platform_jar(pins.POSTGRES, platform).coordinates
        assert coordinate in jars_of_all_platforms(pins.POSTGRES).coordinates
    with pytest.raises(ArtifactError, match=r"postgres for linux-riscv64: builds are pinned for .*linux-x86_64"):
        platform_jar(pins.POSTGRES, "linux-riscv64")


def test_missing_platform_build_fails_only_its_own_setup(
    cache: Cache, progress, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (artifacts_module, installers):
        monkeypatch.setattr(module, "platform_tag", lambda: "linux-riscv64")
    monkeypatch.setenv("LINEAGE_LAB_IGNORE_SPACE", "1")
    artifacts = Artifacts(cache)
    assert not artifacts.has("postgres")
    assert artifacts.verify() == []
    with pytest.raises(ArtifactError, match="linux-riscv64"):
        artifacts.setup({"postgres"}, progress)


def test_verify_compares_only_the_jar_of_this_platform(cache: Cache, runner: Runner) -> None:
    lock = locks.parse(locks.lock_path("postgres").read_text())
    coordinate = next(iter(lock))
    jar = cache.maven / coordinate.folder / coordinate.file_name
    jar.parent.mkdir(parents=True)
    jar.write_bytes(b"another build")
    with pytest.raises(ArtifactError, match=rf"{coordinate} has sha256 {sha256_of(jar)} instead of {lock[coordinate]}"):
        Maven(cache, runner).verify("postgres", ResolvedJars((jar,)))
    assert not jar.exists()


@pytest.mark.parametrize("platform", ["linux-aarch64", "darwin-arm64"])
def test_a_machine_without_a_build_is_an_error(platform: str) -> None:
    check_builds({"kafka", "marquez"}, platform)
    check_builds({"kafka", "postgres", "unknown"}, "linux-x86_64")
    with pytest.raises(ArtifactError, match=rf"Setting up postgres for {platform}: .* linux-x86_64 only"):
        check_builds({"kafka", "postgres"}, platform)
