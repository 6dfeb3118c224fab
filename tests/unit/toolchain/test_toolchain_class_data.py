# SPDX-License-Identifier: Apache-2.0
"""The archive of loaded classes: when it is made, when it is made anew, what is said where it cannot be made."""

import urllib.request
from pathlib import Path

import pytest

from infra.toolchain import Artifacts, class_data, prerequisites
from infra.toolchain.errors import ArtifactError
from infra.toolchain.prerequisites import Tool
from jobs.spark.launch_training_server import BUCKET, serving, unframed

WRITES = """#!/bin/sh
archive=$(printf %s "$PYSPARK_SUBMIT_ARGS" | sed 's/.*ArchiveClassesAtExit=\\([^ ]*\\).*/\\1/')
echo "$1 $2" > "$archive"
test -d "$SPARK_CONF_DIR" && test -z "$(ls "$SPARK_CONF_DIR")"
"""


@pytest.fixture
def driver(tmp_path: Path):
    """Makes what stands in for a driver's Python: a script."""

    def make(text: str) -> class_data.TrainingRun:
        python = tmp_path / "python"
        python.write_text(text)
        python.chmod(0o755)
        return class_data.TrainingRun(tmp_path / "jars", python, Path("/jdk/bin/java"))

    return make


def made(cache, runner, training):
    folder = cache.root / "class-data" / "spark-1"
    return folder, class_data.create_archive(folder, "1", training, cache, runner, lambda text: None)


def test_it_is_made_at_its_final_place_beside_an_empty_folder(cache, runner, driver) -> None:
    folder, manifest = made(cache, runner, driver(WRITES))
    assert [record.path for record in manifest.files] == [class_data.ARCHIVE, class_data.STAT]
    assert (folder / class_data.ARCHIVE).read_text() == "-m jobs.spark.launch_training\n"
    assert list((folder / class_data.CONFIGURATION).iterdir()) == []
    assert list(cache.tmp.iterdir()) == []


def test_what_an_interrupted_making_left_is_removed(cache, runner, driver) -> None:
    folder = cache.root / "class-data" / "spark-1"
    (folder / class_data.CONFIGURATION).mkdir(parents=True)
    (folder / class_data.CONFIGURATION / "stranger").touch()
    made(cache, runner, driver(WRITES))
    assert list((folder / class_data.CONFIGURATION).iterdir()) == []


@pytest.mark.parametrize(
    ("text", "said"), [("#!/bin/sh\necho too bad\nexit 3\n", "too bad"), ("#!/bin/sh\n", "the JVM wrote no ")]
)
def test_where_it_cannot_be_made_the_error_says_that_jobs_run_without(cache, runner, driver, text, said) -> None:
    with pytest.raises(ArtifactError) as raised:
        made(cache, runner, driver(text))
    assert said in str(raised.value)
    assert "jobs run without it" in str(raised.value)
    assert not (cache.root / "class-data" / "spark-1" / ".stamp.json").exists()


def test_another_jdk_or_other_jars_want_another_archive(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "release").write_text('JAVA_VERSION="17.0.1"')
    monkeypatch.setattr(prerequisites, "find_jdk", lambda: Tool("JDK", tmp_path / "bin/java", (17,), tmp_path))
    first = class_data.archive_key("jars", "python")
    assert class_data.archive_key("jars", "python") == first
    (tmp_path / "release").write_text('JAVA_VERSION="17.0.2"')
    assert len({first, class_data.archive_key("jars", "python"), class_data.archive_key("other", "python")}) == 3


def test_its_place_is_known_before_it_is_made_and_without_a_jdk(cache, monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> Tool:
        raise ArtifactError("Looking for a JDK", "there is none", "install one")

    artifacts = Artifacts(cache)
    place = artifacts.class_data("spark")
    assert place.parent == cache.root / "class-data"
    monkeypatch.setattr(prerequisites, "find_jdk", none)
    assert artifacts.class_data("spark") != place
    assert artifacts.verify() == []
    with pytest.raises(KeyError):
        artifacts.class_data("kafka")


def test_the_store_that_stands_in_keeps_what_it_is_given() -> None:
    with serving() as server:
        address = f"{server.url}/{BUCKET}/a/b"
        ask = urllib.request.build_opener(urllib.request.ProxyHandler({})).open
        ask(urllib.request.Request(address, b"0123456789", method="PUT")).close()
        with ask(address) as whole, ask(urllib.request.Request(address, headers={"Range": "bytes=2-4"})) as part:
            assert (whole.read(), part.read(), part.status) == (b"0123456789", b"234", 206)
        with ask(urllib.request.Request(address, headers={"Range": "bytes=-3"})) as end:
            assert end.read() == b"789"
        with ask(f"{server.url}/{BUCKET}?list-type=2&prefix=&delimiter=/") as listed:
            assert b"<CommonPrefixes><Prefix>a/</Prefix></CommonPrefixes>" in listed.read()


def test_bodies_in_chunks_are_put_together() -> None:
    framed = b"3;chunk-signature=x\r\nabc\r\n2\r\nde\r\n0\r\nx-amz-checksum-crc32:AAA=\r\n\r\n"
    assert unframed(framed) == b"abcde"
    assert unframed(b"0\r\n\r\n") == b""
