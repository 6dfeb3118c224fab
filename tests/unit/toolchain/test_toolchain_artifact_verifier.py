# SPDX-License-Identifier: Apache-2.0
"""No file that is not locked is used by Maven: looked for with real Maven, its plugins and their dependencies."""

from pathlib import Path

import pytest

from infra.toolchain import lock as locks
from infra.toolchain import pins
from infra.toolchain.artifact_verifier import read_all_locks, render_locked
from infra.toolchain.cache import Cache
from infra.toolchain.errors import ArtifactError
from infra.toolchain.lock import Coordinate, Lock
from infra.toolchain.maven import Maven
from infra.toolchain.process import Runner

LIBRARY = Coordinate("org.slf4j", "slf4j-api", "2.0.17")
PLUGIN = Coordinate.parse(f"{pins.MAVEN_DEPENDENCY_PLUGIN}:jar")
COMPONENT = pins.MavenComponent("test", (str(LIBRARY).removesuffix(":jar"),), transitive=False)
RAN = "Wrote classpath file"
"""Output of the plugin."""


@pytest.fixture(scope="module")
def downloaded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Cache, Lock]:
    """A cache with all files of a resolution, and their hashes."""
    cache = Cache.open(tmp_path_factory.mktemp("downloaded") / "cache")
    collected: Lock = {}
    resolve(cache, collected)
    return cache, collected


@pytest.fixture
def locked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, downloaded: tuple[Cache, Lock]) -> Path:
    """A folder with one lock of all those files, which is the one that Maven is verified against."""
    folder = tmp_path / "locks"
    folder.mkdir()
    (folder / "test.lock").write_text(locks.render(downloaded[1]))
    monkeypatch.setattr(read_all_locks, "__defaults__", (folder,))
    return folder / "test.lock"


def resolve(cache: Cache, collected: Lock | None = None) -> list[Path]:
    return list(Maven(cache, Runner(cache.tmp), collected).resolve([COMPONENT], lambda text: None)["test"].jars)


def path_of(cache: Cache, coordinate: Coordinate) -> Path:
    return cache.maven / coordinate.folder / coordinate.file_name


def dependency_of_the_plugin(lock: Lock) -> Coordinate:
    return next(coordinate for coordinate in lock if coordinate.artifact == "maven-dependency-tree")


@pytest.mark.slow
def test_locked_files_are_used(downloaded: tuple[Cache, Lock], locked: Path) -> None:
    cache, collected = downloaded
    assert resolve(cache) == [path_of(cache, LIBRARY)]
    assert RAN in cache.log("maven").read_text()
    assert {LIBRARY, PLUGIN, dependency_of_the_plugin(collected)} <= collected.keys()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["plugin", "dependency of the plugin", "library"])
def test_changed_file_is_refused_before_it_is_used(downloaded: tuple[Cache, Lock], locked: Path, kind: str) -> None:
    cache, collected = downloaded
    changed = {"plugin": PLUGIN, "library": LIBRARY}.get(kind) or dependency_of_the_plugin(collected)
    path = path_of(cache, changed)
    content = path.read_bytes()
    # A hard link may lead to a file in the user's cache.
    path.unlink()
    path.write_bytes(content + b"\n")
    with pytest.raises(ArtifactError) as raised:
        resolve(cache)
    assert f"{changed} has sha256" in str(raised.value)
    assert f"instead of {collected[changed]} (removed" in str(raised.value)
    assert RAN not in cache.log("maven").read_text()
    assert not path.exists()
    assert resolve(cache) == [path_of(cache, LIBRARY)]
    assert path.read_bytes() == content


@pytest.mark.slow
def test_file_that_no_lock_names_is_refused(downloaded: tuple[Cache, Lock], locked: Path) -> None:
    cache, collected = downloaded
    added = dependency_of_the_plugin(collected)
    locked.write_text(locks.render({found: sha256 for found, sha256 in collected.items() if found != added}))
    with pytest.raises(ArtifactError, match=f"{added} was resolved but is not in the lock"):
        resolve(cache)
    assert RAN not in cache.log("maven").read_text()


@pytest.mark.slow
def test_component_without_lock_is_resolved_with_locked_plugins(
    downloaded: tuple[Cache, Lock], locked: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache, collected = downloaded
    monkeypatch.setattr("infra.toolchain.maven.is_locked", lambda name: False)
    locked.write_text(locks.render({PLUGIN: collected[PLUGIN]}))
    assert resolve(cache) == [path_of(cache, LIBRARY)]
    locked.write_text(locks.render({PLUGIN: "0" * 64}))
    with pytest.raises(ArtifactError, match=f"{PLUGIN} has sha256"):
        resolve(cache)


@pytest.mark.slow
def test_other_failures_of_maven_are_reported_as_they_are(downloaded: tuple[Cache, Lock], locked: Path) -> None:
    cache, _ = downloaded
    unknown = pins.MavenComponent("test", ("dev.lineagelab.nowhere:unknown:1",))
    with pytest.raises(ArtifactError, match="check the network") as raised:
        Maven(cache, Runner(cache.tmp)).resolve([unknown], lambda text: None)
    assert "dev.lineagelab.nowhere:unknown" in str(raised.value)


def test_locks_are_rendered_without_comments() -> None:
    found = {Path("one"): {LIBRARY: "a" * 64}, Path("two"): {PLUGIN: "b" * 64}}
    assert render_locked(found) == f"{'a' * 64}  {LIBRARY}\n{'b' * 64}  {PLUGIN}\n"


def test_damaged_lock_is_named(tmp_path: Path) -> None:
    (tmp_path / "maven.lock").write_text("nonsense\n")
    with pytest.raises(ArtifactError, match=r"maven\.lock.*line 1"):
        read_all_locks(tmp_path)


def test_every_committed_lock_is_read() -> None:
    found = read_all_locks()
    assert locks.lock_path("maven") in found
    assert PLUGIN in found[locks.lock_path("maven")]
