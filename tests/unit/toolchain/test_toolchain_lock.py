# SPDX-License-Identifier: Apache-2.0
from pathlib import Path, PurePosixPath

import pytest

from infra.toolchain import lock as locks
from infra.toolchain import pins
from infra.toolchain.lock import Coordinate
from infra.toolchain.maven import is_locked
from infra.toolchain.venvs import ALONE

A, B = "a" * 64, "b" * 64
LOG4J = Coordinate("org.apache.logging.log4j", "log4j-core", "2.25.4")


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("g:a:1:jar", "g/a/1/a-1.jar"),
        ("org.apache.iceberg:iceberg-core:1.11.0:tests:jar",
         "org/apache/iceberg/iceberg-core/1.11.0/iceberg-core-1.11.0-tests.jar"),
        ("io.x:y:3.0:all:tar.gz", "io/x/y/3.0/y-3.0-all.tar.gz"),
    ],
)  # fmt: skip
def test_coordinate_converts_to_repository_path_and_back(text: str, path: str) -> None:
    coordinate = Coordinate.parse(text)
    assert str(coordinate) == text
    assert coordinate.folder / coordinate.file_name == PurePosixPath(path)
    assert Coordinate.from_path(PurePosixPath(path)) == coordinate


@pytest.mark.parametrize("text", ["", "a:b", "a:b:c", "::1:jar", "a:b:c:d:e:f"])
def test_parse_rejects_an_invalid_coordinate(text: str) -> None:
    with pytest.raises(ValueError, match="is not group:artifact:version"):
        Coordinate.parse(text)


@pytest.mark.parametrize("path", ["a.jar", "g/a/1/b-1.jar", "g/a/1/a-2.jar"])
def test_from_path_rejects_a_path_outside_the_repository_layout(path: str) -> None:
    with pytest.raises(ValueError, match="not a path"):
        Coordinate.from_path(PurePosixPath(path))


def test_lock_file_round_trip() -> None:
    lock = {LOG4J: A, Coordinate("a", "b", "1", "tests"): B}
    assert locks.parse(locks.render(lock)) == lock
    assert locks.render(lock).splitlines()[1] == f"{B}  a:b:1:tests:jar"


@pytest.mark.parametrize("text", [f"{A} g:a:1:jar", "xyz  g:a:1:jar", f"{A}  g:a", f"{A}  g:a:1:jar\n{B}  g:a:1:jar"])
def test_parse_rejects_a_damaged_lock(text: str) -> None:
    with pytest.raises(ValueError, match=r"line \d|is not group"):
        locks.parse(text)


def test_compare_reports_missing_unlocked_and_changed_files() -> None:
    gone, new, kept = (Coordinate("g", name, "1") for name in ("gone", "new", "kept"))
    lock = {gone: A, LOG4J: A, kept: A}
    resolved = {new: A, LOG4J: B, kept: A}
    assert [str(difference) for difference in locks.compare(lock, resolved)] == [
        "g:gone:1:jar is locked but was not resolved",
        "g:new:1:jar was resolved but is not in the lock",
        f"{LOG4J} has sha256 {B} instead of {A}",
    ]


@pytest.mark.parametrize("name", sorted(name for name in pins.COMPONENTS if is_locked(name)))
def test_committed_locks_contain_the_pinned_coordinates(name: str) -> None:
    lock = locks.parse(locks.lock_path(name).read_text())
    component = pins.COMPONENTS[name]
    if isinstance(component, pins.MavenComponent):
        locked = {":".join((c.group, c.artifact, c.version)) for c in lock}
        assert set(component.coordinates) <= locked
        assert component.transitive or len(lock) == len(component.coordinates)
    if isinstance(component, pins.ArchiveComponent):
        coordinates = component.coordinates.values()
        pinned = {text.replace("::", ":") if text.count(":") == 4 else f"{text}:jar" for text in coordinates}
        assert {str(coordinate) for coordinate in lock} == pinned
    if isinstance(component, pins.DistributionComponent):
        assert {f"{text}:jar" for text in component.jars.coordinates} == {str(coordinate) for coordinate in lock}
    assert len({coordinate.file_name for coordinate in lock}) == len(lock)


def test_requirement_locks_have_consistent_versions_and_no_urls() -> None:
    folder = Path(__file__).parents[3] / "requirements"
    pinned: dict[str, str] = {}
    alone = {f"{environment.name}.txt" for environment in ALONE}
    for path in folder.glob("*.txt"):
        text = path.read_text()
        assert "://" not in text
        assert "index-url" not in text
        if path.name in alone:
            continue
        for line in text.splitlines():
            if "==" in line:
                name, version = line.split()[0].split("==")
                assert pinned.setdefault(name, version) == version, f"{name} differs in {path.name}"
    assert {"pulumi", "pyspark", "pytest"} <= pinned.keys()
