# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import pytest

from infra.targets.docker.images.contents import Contents
from infra.toolchain import Artifacts, prerequisites
from infra.toolchain.errors import ArtifactError
from infra.toolchain.prerequisites import parse_java_version, parse_version


def executable(path: Path, prints: str = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\ncat <<'END'\n{prints}\nEND\n")
    path.chmod(0o755)
    return path


def jdk(home: Path, version: str, *, compiler: bool = True) -> Path:
    executable(home / "bin" / "java", f'openjdk version "{version}"')
    if compiler:
        executable(home / "bin" / "javac")
    (home / "release").write_text(f'IMPLEMENTOR="Test"\nJAVA_VERSION="{version}"\n')
    return home


@pytest.mark.parametrize(
    ("text", "version"),
    [("go1.26.8", (1, 26, 8)), ("v3.259.0\n", (3, 259, 0)), ("3.8.7", (3, 8, 7)), ("21", (21,))],
)
def test_parse_version_reads_the_output_of_tools(text: str, version: tuple[int, ...]) -> None:
    assert parse_version(text) == version


def test_parse_version_rejects_text_without_a_number() -> None:
    with pytest.raises(ValueError, match="no version number"):
        parse_version("devel")


@pytest.mark.parametrize(
    ("text", "version"), [("17.0.15", (17, 0, 15)), ("1.8.0_372", (8, 0)), ("21", (21,)), ("24-ea", (24,))]
)
def test_parse_java_version_handles_releases_up_to_eight(text: str, version: tuple[int, ...]) -> None:
    assert parse_java_version(text) == version


def test_java_home_takes_precedence_over_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(jdk(tmp_path / "chosen", "21.0.2")))
    monkeypatch.setenv("PATH", str(jdk(tmp_path / "other", "17.0.1") / "bin"))
    tool = prerequisites.find_jdk()
    assert tool.home == tmp_path / "chosen"
    assert tool.version == (21, 0, 2)


def test_find_jdk_resolves_a_link_on_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    home = jdk(tmp_path / "lib" / "jvm", "17.0.1")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").symlink_to(home / "bin" / "java")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert prerequisites.find_jdk().home == home


def test_find_jdk_runs_java_if_the_release_file_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    home = jdk(tmp_path / "jvm", "17.0.9")
    (home / "release").unlink()
    monkeypatch.setenv("JAVA_HOME", str(home))
    assert prerequisites.find_jdk().version == (17, 0, 9)


def test_error_about_an_old_java_names_version_and_packages(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(jdk(tmp_path / "old", "11.0.2")))
    with pytest.raises(ArtifactError) as raised:
        prerequisites.find_jdk()
    text = str(raised.value)
    assert f"JAVA_HOME ({tmp_path / 'old'}) is Java 11.0.2" in text
    assert "17 or newer" in text
    assert "apt install" in text
    assert "dnf install" in text
    assert "brew install" in text


def test_errors_distinguish_missing_java_broken_java_home_and_runtime_without_compiler(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(ArtifactError, match="no java on PATH and JAVA_HOME is not set"):
        prerequisites.find_jdk()
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "gone"))
    with pytest.raises(ArtifactError, match="has no bin/java"):
        prerequisites.find_jdk()
    monkeypatch.setenv("JAVA_HOME", str(jdk(tmp_path / "jre", "17.0.1", compiler=False)))
    with pytest.raises(ArtifactError, match="without the compiler"):
        prerequisites.find_jdk()


@pytest.fixture
def jvm_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """JVM folder with JDKs of releases 17 and 25."""
    folder = tmp_path / "jvm"
    jdk(folder / "java-17-openjdk", "17.0.9")
    jdk(folder / "temurin-25", "25.0.1")
    (folder / "default").symlink_to("java-17-openjdk")
    monkeypatch.setattr(prerequisites, "JVM_FOLDER", folder)
    monkeypatch.delenv("LINEAGE_LAB_JAVA_25", raising=False)
    return folder


def test_java_release_is_found_among_installed_jdks(jvm_folder: Path) -> None:
    tool = prerequisites.find_java_release(25)
    assert (tool.executable, tool.version) == (jvm_folder / "temurin-25/bin/java", (25, 0, 1))


def test_java_release_variable_takes_precedence_over_installed_jdks(
    jvm_folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("LINEAGE_LAB_JAVA_25", str(jdk(tmp_path / "mine", "25.0.2", compiler=False)))
    assert prerequisites.find_java_release(25).home == tmp_path / "mine"


def test_missing_java_release_error_names_variable_and_folder(jvm_folder: Path) -> None:
    with pytest.raises(ArtifactError) as raised:
        prerequisites.find_java_release(24)
    assert "Looking for Java 24: no JDK 24" in str(raised.value)
    assert "LINEAGE_LAB_JAVA_24" in str(raised.value)
    assert str(jvm_folder) in str(raised.value)


def test_java_release_variable_of_wrong_release_or_broken_home_is_rejected(
    jvm_folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("LINEAGE_LAB_JAVA_25", str(jvm_folder / "java-17-openjdk"))
    with pytest.raises(ArtifactError, match=r"java-17-openjdk\) is Java 17"):
        prerequisites.find_java_release(25)
    monkeypatch.setenv("LINEAGE_LAB_JAVA_25", str(tmp_path / "missing"))
    with pytest.raises(ArtifactError, match="has no bin/java"):
        prerequisites.find_java_release(25)


def test_artifacts_resolve_each_java_release(jvm_folder: Path, cache, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(jvm_folder / "java-17-openjdk"))
    artifacts = Artifacts(cache)
    assert artifacts.java() == jvm_folder / "java-17-openjdk/bin/java"
    assert artifacts.java(25) == jvm_folder / "temurin-25/bin/java"
    for release in (21, 25):
        monkeypatch.setattr(prerequisites, "JVM_FOLDER", jvm_folder / "missing")
        with pytest.raises(ArtifactError, match="bin/lab setup"):
            artifacts.java(release)


def test_image_contains_a_portable_jdk_of_the_machine(jvm_folder: Path, cache, tmp_path: Path) -> None:
    contents = Contents(Artifacts(cache), tmp_path)
    content = contents.java(25)
    assert (content.destination, content.locate()) == ("java/25", jvm_folder / "temurin-25")
    (jvm_folder / "temurin-25" / "conf").symlink_to(tmp_path)
    with pytest.raises(ArtifactError, match=r"conf is a link to .*outside the JDK\nRemedy: set LINEAGE_LAB_JAVA_25"):
        contents.java(25)


def test_find_maven_checks_the_minimum_version(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    executable(tmp_path / "bin" / "mvn", "\x1b[1mApache Maven 3.8.7\x1b[m\nJava version: 17")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    assert prerequisites.find_maven().version == (3, 8, 7)
    assert prerequisites.find_maven().home == tmp_path
    executable(tmp_path / "bin" / "mvn", "Apache Maven 3.9.11 (3e54c93)\nMaven home: /opt/maven/libexec\n")
    assert prerequisites.find_maven().home == Path("/opt/maven/libexec")
    executable(tmp_path / "bin" / "mvn", "Apache Maven 3.6.3")
    with pytest.raises(ArtifactError, match=r"is 3\.6\.3"):
        prerequisites.find_maven()


def test_error_about_missing_go_names_purpose_and_alternative(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ArtifactError) as raised:
        prerequisites.find_go("building pulumi", {}, "put pulumi on PATH")
    assert "Go (for building pulumi): no go on PATH" in str(raised.value)
    assert str(raised.value).endswith("Or: put pulumi on PATH")


def test_find_go_rejects_an_old_release(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    executable(tmp_path / "go", "go1.22.2")
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(ArtifactError, match=r"is 1\.22\.2"):
        prerequisites.find_go("building minio", {}, "")
