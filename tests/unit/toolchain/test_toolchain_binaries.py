# SPDX-License-Identifier: Apache-2.0
import dataclasses
import hashlib
import io
import os
import tarfile
from pathlib import Path

import pytest

from infra.toolchain import pins
from infra.toolchain.binaries import BINARIES, MINIO, PULUMI, download_release, find_on_path, manifest_of_path_binary
from infra.toolchain.cache import Cache, platform_tag
from infra.toolchain.golang import GoModule, GoToolchain, go_environment, required_version
from infra.toolchain.prerequisites import parse_version
from infra.toolchain.process import Runner


def tool(folder: Path, name: str, output: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\necho {output}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def staged(tmp_path: Path) -> Path:
    folder = tmp_path / "work" / "staged"
    folder.mkdir(parents=True)
    return folder


def downloadable(binary, url: str, content: bytes):
    vendor = pins.VendorFile("1.2.3", (url,), hashlib.sha256(content).hexdigest())
    return dataclasses.replace(binary, downloads={platform_tag(): vendor})


def archive(**files: bytes) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return out.getvalue()


def test_recent_pulumi_with_language_host_is_used_from_path(
    cache: Cache, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pulumi = tool(tmp_path / "bin", "pulumi", "v99.0.0")
    tool(tmp_path / "bin", "pulumi-language-python", "x")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    found = find_on_path(PULUMI, cache)
    assert found == (pulumi, (99, 0, 0))
    manifest = manifest_of_path_binary(PULUMI, *found)
    assert manifest.location == str(tmp_path / "bin")
    assert {record.path for record in manifest.files} == {"pulumi", "pulumi-language-python"}


@pytest.mark.parametrize(("version", "host"), [("v3.100.0", True), ("v99.0.0", False), ("nonsense", True)])
def test_pulumi_on_path_is_ignored_if_old_broken_or_without_language_host(
    cache: Cache, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, version: str, host: bool
) -> None:
    tool(tmp_path / "bin", "pulumi", version)
    if host:
        tool(tmp_path / "bin", "pulumi-language-python", "x")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    assert find_on_path(PULUMI, cache) is None


def test_binaries_of_the_cache_on_path_are_ignored(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = cache.root / "binaries" / "pulumi-key"
    tool(folder, "pulumi", "v99.0.0")
    tool(folder, "pulumi-language-python", "x")
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    assert find_on_path(PULUMI, cache) is None


def test_downloaded_single_file_is_executable(site, runner: Runner, staged: Path) -> None:
    site.files["minio"] = b"#!/bin/sh\n"
    binary = downloadable(MINIO, f"{site.url}/minio", site.files["minio"])
    notes: list[str] = []
    assert download_release(binary, staged, runner, lambda text: None, notes.append) is not None
    assert os.access(staged / "minio", os.X_OK)
    assert [path.name for path in staged.iterdir()] == ["minio"]
    assert notes == []


def test_download_extracts_only_wanted_files_and_ignores_paths_in_the_archive(
    site, runner: Runner, staged: Path
) -> None:
    site.files["p.tgz"] = archive(
        **{"pulumi/pulumi": b"cli", "../../pulumi-language-python": b"host", "pulumi/pulumi-watch": b"?"}
    )
    binary = downloadable(PULUMI, f"{site.url}/p.tgz", site.files["p.tgz"])
    assert download_release(binary, staged, runner, lambda text: None, lambda text: None) is not None
    assert {p.name: p.read_bytes() for p in staged.iterdir()} == {
        "pulumi": b"cli",
        "pulumi-language-python": b"host",
    }
    assert [path.name for path in staged.parent.iterdir()] == ["staged"]


def test_download_with_another_hash_leaves_a_note_and_no_file(site, runner: Runner, staged: Path) -> None:
    site.files["minio"] = b"something else"
    binary = downloadable(MINIO, f"{site.url}/minio", b"the release")
    notes: list[str] = []
    assert download_release(binary, staged, runner, lambda text: None, notes.append) is None
    assert list(staged.iterdir()) == []
    assert len(notes) == 1
    assert "minio: no release" in notes[0]
    assert "instead of" in notes[0]


@pytest.mark.parametrize("name", sorted(BINARIES))
def test_pinned_downloads_are_well_formed(name: str) -> None:
    for platform, vendor in BINARIES[name].downloads.items():
        assert platform.split("-")[0] in {"linux", "darwin"}
        assert len(bytes.fromhex(vendor.sha256)) == 32
        assert all(url.startswith("https://") for url in vendor.urls)


def test_pulumi_version_in_go_mod_equals_the_python_sdks() -> None:
    text = (PULUMI.module.directory / "go.mod").read_text()
    version = required_version(text, PULUMI.module.version_of)
    kit = Path(__file__).parents[3] / "requirements" / "kit.txt"
    assert f"pulumi=={version.removeprefix('v')} " in kit.read_text()
    with pytest.raises(ValueError, match="does not require"):
        required_version(text, "example.org/none")


def test_go_writes_only_inside_the_cache(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", "/users/config")
    settings = go_environment(cache)
    inside = ("GOMODCACHE", "GOCACHE", "GOPATH", "XDG_CONFIG_HOME")
    assert all(Path(settings[name]).is_relative_to(cache.root) for name in inside)
    assert settings["GOENV"] == "/users/config/go/env"


def test_go_build_arguments_and_progress(cache: Cache, runner: Runner, tmp_path: Path) -> None:
    fake = tmp_path / "go"
    fake.write_text(
        '#!/bin/sh\necho "go: downloading a v1"\necho b/c\n'
        f'echo "$PWD $GOFLAGS $@" > {tmp_path}/call\ntouch "$(echo "$@" | sed \'s/.*-o //; s/ .*//\')out"\n'
    )
    fake.chmod(0o755)
    module = GoModule("minio", ("example.org/minio",), tags="t")
    texts: list[str] = []
    (tmp_path / "bin").mkdir()
    toolchain = GoToolchain(cache, runner, fake)
    toolchain.build(module, tmp_path / "bin", texts.append)
    assert (tmp_path / "bin" / "out").exists()
    assert texts == ["1 modules downloaded, a v1", "1 packages compiled, b/c"]
    call = (tmp_path / "call").read_text()
    assert call.startswith(str(module.directory))
    assert "-mod=readonly" in call
    assert "-tags t" in call
    toolchain.purge()
    assert not cache.go.exists()


@pytest.mark.parametrize("name", sorted(BINARIES))
def test_minimum_go_satisfies_every_module(name: str) -> None:
    lines = (BINARIES[name].module.directory / "go.mod").read_text().splitlines()
    wanted = next(line.removeprefix("go ") for line in lines if line.startswith("go "))
    assert parse_version(wanted) <= pins.MINIMUM_GO
