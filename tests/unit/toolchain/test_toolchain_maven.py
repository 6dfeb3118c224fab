# SPDX-License-Identifier: Apache-2.0
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from infra.toolchain import lock as locks
from infra.toolchain import maven as under_test
from infra.toolchain import pins
from infra.toolchain.cache import Cache
from infra.toolchain.errors import ArtifactError
from infra.toolchain.lock import Coordinate
from infra.toolchain.manifest import sha256_of
from infra.toolchain.maven import Maven, ResolvedJars, render_aggregator, render_pom
from infra.toolchain.process import Runner

NAMESPACE = {"m": "http://maven.apache.org/POM/4.0.0"}
ONE, TWO = Coordinate("g", "one", "1"), Coordinate("g", "two", "2", "tests")


@pytest.fixture
def maven(cache: Cache, runner: Runner) -> Maven:
    return Maven(cache, runner)


@pytest.fixture
def jars(cache: Cache) -> tuple[Path, ...]:
    """Two jars in the cache's Maven repository."""
    paths = tuple(cache.maven / c.folder / c.file_name for c in (ONE, TWO))
    for path in paths:
        path.parent.mkdir(parents=True)
        path.write_bytes(path.name.encode())
    return paths


@pytest.fixture
def locked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, jars: tuple[Path, ...]) -> Path:
    """Lock file of the component `test` with the hashes of the jars."""
    path = tmp_path / "test.lock"
    path.write_text(locks.render({c: sha256_of(jar) for c, jar in zip((ONE, TWO), jars, strict=True)}))
    monkeypatch.setattr(under_test.locks, "lock_path", lambda name: path)
    return path


def test_pom_contains_the_pinned_coordinates() -> None:
    root = ET.fromstring(render_pom(pins.KAFKA))
    found = [
        ":".join(d.findtext(f"m:{tag}", "", NAMESPACE) for tag in ("groupId", "artifactId", "version"))
        for d in root.findall("m:dependencies/m:dependency", NAMESPACE)
    ]
    assert tuple(found) == pins.KAFKA.coordinates
    excluded = root.findtext(".//m:exclusion/m:artifactId", "", NAMESPACE)
    assert excluded == "connect-runtime"


def test_pom_of_an_intransitive_component_excludes_all_dependencies() -> None:
    root = ET.fromstring(render_pom(pins.SPARK))
    dependencies = root.findall("m:dependencies/m:dependency", NAMESPACE)
    assert len(dependencies) == len(pins.SPARK.coordinates)
    for dependency in dependencies:
        assert dependency.findtext("m:exclusions/m:exclusion/m:groupId", "", NAMESPACE) == "*"


def test_pom_names_classifier_and_type_of_other_files_than_jars() -> None:
    root = ET.fromstring(render_pom(pins.MavenComponent("x", ("g:a:1:plugin:tar.gz",), transitive=False)))
    dependency = root.find("m:dependencies/m:dependency", NAMESPACE)
    assert dependency is not None
    found = [dependency.findtext(f"m:{tag}", "", NAMESPACE) for tag in ("artifactId", "version", "classifier", "type")]
    assert found == ["a", "1", "plugin", "tar.gz"]


def test_aggregator_lists_its_modules() -> None:
    root = ET.fromstring(render_aggregator(["kafka", "spark"]))
    assert [m.text for m in root.findall("m:modules/m:module", NAMESPACE)] == ["kafka", "spark"]


def test_assemble_links_verified_jars_and_the_built_one(
    maven: Maven, jars: tuple[Path, ...], locked: Path, tmp_path: Path
) -> None:
    built = tmp_path / "built-0.1.jar"
    built.write_bytes(b"built here")
    maven.assemble("test", ResolvedJars(jars, built), tmp_path / "lib")
    names = sorted(path.name for path in (tmp_path / "lib").iterdir())
    assert names == ["built-0.1.jar", "one-1.jar", "two-2-tests.jar"]


def test_corrupted_jar_is_reported_and_removed_from_the_repository(
    maven: Maven, jars: tuple[Path, ...], locked: Path, tmp_path: Path
) -> None:
    jars[1].write_bytes(b"corrupted")
    with pytest.raises(ArtifactError) as raised:
        maven.assemble("test", ResolvedJars(jars), tmp_path / "lib")
    assert "g:two:2:tests:jar has sha256" in str(raised.value)
    assert "one-1" not in str(raised.value)
    assert not jars[1].exists()
    assert jars[0].exists()
    assert not (tmp_path / "lib").exists()


def test_unlocked_jar_is_reported_and_removed(
    maven: Maven, jars: tuple[Path, ...], locked: Path, tmp_path: Path
) -> None:
    locked.write_text(locks.render({ONE: sha256_of(jars[0])}))
    with pytest.raises(ArtifactError, match="g:two:2:tests:jar was resolved but is not in the lock"):
        maven.assemble("test", ResolvedJars(jars), tmp_path / "lib")
    assert not jars[1].exists()


def test_corrupted_lock_is_reported_with_file_and_line(maven: Maven, locked: Path, tmp_path: Path) -> None:
    locked.write_text("nonsense\n")
    with pytest.raises(ArtifactError) as raised:
        maven.assemble("test", ResolvedJars(()), tmp_path / "lib")
    assert str(locked) in str(raised.value)
    assert "line 1" in str(raised.value)


def test_optional_component_is_verified_only_if_it_has_a_lock(
    maven: Maven, jars: tuple[Path, ...], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    lock = tmp_path / "marquez.lock"
    monkeypatch.setattr(under_test.locks, "lock_path", lambda name: lock)
    assert pins.MARQUEZ.optional
    maven.assemble("marquez", ResolvedJars(jars), tmp_path / "lib")
    assert len(list((tmp_path / "lib").iterdir())) == 2
    lock.write_text(locks.render({ONE: "0" * 64}))
    with pytest.raises(ArtifactError, match="g:one:1:jar has sha256"):
        maven.assemble("marquez", ResolvedJars(jars), tmp_path / "other")


def test_missing_lock_of_a_required_component_is_an_error(
    maven: Maven, jars: tuple[Path, ...], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(under_test.locks, "lock_path", lambda name: tmp_path / "gone.lock")
    with pytest.raises(ArtifactError, match="Reading the lock"):
        maven.assemble("kafka", ResolvedJars(jars), tmp_path / "lib")


def test_delete_from_repository_removes_only_named_files(maven: Maven, jars: tuple[Path, ...], locked: Path) -> None:
    maven.delete_from_repository(["two-2-tests.jar", "unknown.jar", "one"])  # the last is the name of a folder
    assert jars[0].exists()
    assert not jars[1].exists()
