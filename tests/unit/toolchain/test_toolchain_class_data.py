# SPDX-License-Identifier: Apache-2.0
"""Class data archive of Spark's drivers: creation, cache key, errors."""

from pathlib import Path

import pytest

from infra.toolchain import Artifacts, class_data, prerequisites
from infra.toolchain.errors import ArtifactError
from infra.toolchain.prerequisites import Tool

WRITE_ARCHIVE = """#!/bin/sh
archive=$(printf %s "$PYSPARK_SUBMIT_ARGS" | sed 's/.*ArchiveClassesAtExit=\\([^ ]*\\).*/\\1/')
echo "$1 $2" > "$archive"
test -d "$SPARK_CONF_DIR" && test -z "$(ls "$SPARK_CONF_DIR")"
"""


@pytest.fixture
def driver(tmp_path: Path):
    """Return a function that creates a training run whose Python is a shell script."""

    def make(text: str) -> class_data.TrainingRun:
        python = tmp_path / "python"
        python.write_text(text)
        python.chmod(0o755)
        return class_data.TrainingRun(tmp_path / "jars", python, Path("/jdk/bin/java"))

    return make


def create(cache, runner, training):
    folder = cache.root / "class-data" / "spark-1"
    return folder, class_data.create_archive(folder, "1", training, cache, runner, lambda text: None)


def test_archive_is_created_at_its_final_path_with_an_empty_configuration_folder(cache, runner, driver) -> None:
    folder, manifest = create(cache, runner, driver(WRITE_ARCHIVE))
    assert [record.path for record in manifest.files] == [class_data.ARCHIVE_FILE, class_data.STAT_FILE]
    assert (folder / class_data.ARCHIVE_FILE).read_text() == "-m jobs.spark.class_data_training\n"
    assert list((folder / class_data.CONFIGURATION_FOLDER).iterdir()) == []
    assert list(cache.tmp.iterdir()) == []


def test_create_archive_removes_an_unfinished_one(cache, runner, driver) -> None:
    folder = cache.root / "class-data" / "spark-1"
    (folder / class_data.CONFIGURATION_FOLDER).mkdir(parents=True)
    (folder / class_data.CONFIGURATION_FOLDER / "stranger").touch()
    create(cache, runner, driver(WRITE_ARCHIVE))
    assert list((folder / class_data.CONFIGURATION_FOLDER).iterdir()) == []


@pytest.mark.parametrize(
    ("text", "cause"), [("#!/bin/sh\necho too bad\nexit 3\n", "too bad"), ("#!/bin/sh\n", "the JVM wrote no ")]
)
def test_error_of_a_failed_training_run_states_that_jobs_run_without_archive(
    cache, runner, driver, text, cause
) -> None:
    with pytest.raises(ArtifactError) as raised:
        create(cache, runner, driver(text))
    assert cause in str(raised.value)
    assert "jobs run without it" in str(raised.value)
    assert not (cache.root / "class-data" / "spark-1" / ".stamp.json").exists()


def test_archive_key_depends_on_jdk_and_jars(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "release").write_text('JAVA_VERSION="17.0.1"')
    monkeypatch.setattr(prerequisites, "find_jdk", lambda: Tool("JDK", tmp_path / "bin/java", (17,), tmp_path))
    first = class_data.archive_key("jars", "python")
    assert class_data.archive_key("jars", "python") == first
    (tmp_path / "release").write_text('JAVA_VERSION="17.0.2"')
    assert len({first, class_data.archive_key("jars", "python"), class_data.archive_key("other", "python")}) == 3


def test_archive_path_is_available_before_creation_and_without_a_jdk(cache, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_jdk() -> Tool:
        raise ArtifactError("Looking for a JDK", "there is none", "install one")

    artifacts = Artifacts(cache)
    path = artifacts.class_data("spark")
    assert path.parent == cache.root / "class-data"
    monkeypatch.setattr(prerequisites, "find_jdk", no_jdk)
    assert artifacts.class_data("spark") != path
    assert artifacts.verify() == []
    with pytest.raises(KeyError):
        artifacts.class_data("kafka")
