# SPDX-License-Identifier: Apache-2.0
"""Marquez as the lab runs it: a fake, and the real program where a jar is configured."""

import os
import shutil
import sys
import uuid
from pathlib import Path

import httpx
import pytest

from infra.catalog import LabSettings
from infra.cli import setup
from infra.cli.setup import install_lab_artifacts
from infra.cli.stack_file import stack_settings
from infra.errors import LabError
from infra.services.marquez import api as marquez
from infra.targets.local.supervisor import Supervisor
from infra.toolchain import Artifacts, pins
from infra.toolchain.cache import Cache
from infra.toolchain.errors import ArtifactError
from infra.toolchain.progress import PlainProgress
from tests.stack.fake_marquez import build_jar
from tests.stack.postgres_lab import PROGRAM

pytestmark = [pytest.mark.stack, pytest.mark.slow]

needs_postgres = pytest.mark.skipif(
    not Artifacts.open().has("postgres"), reason="no Postgres is pinned for this platform"
)
JAR_VARIABLE = "LINEAGE_LAB_MARQUEZ_JAR"
REAL_JAR = os.environ.get(JAR_VARIABLE) or stack_settings("dev").marquez_jar


@pytest.fixture(scope="module")
def jar(tmp_path_factory):
    return build_jar(Artifacts.open().java(), tmp_path_factory.mktemp("fake-marquez"))


@pytest.fixture
def engine(make_engine, free_offset):
    made = make_engine(program=PROGRAM)
    made.wanted = {"root": str(made.root), "offset": free_offset + 3, "databases": []}
    return made


def fetch(engine, path, endpoint=marquez.API):
    answer = httpx.get(f"http://127.0.0.1:{endpoint.port + engine.wanted['offset']}{path}", trust_env=False)
    return answer.raise_for_status()


@needs_postgres
def test_marquez_receives_configuration_database_and_password(engine, jar):
    engine.wanted["jar"] = str(jar)
    first = engine.up()
    assert first.status == 0, first.text
    assert fetch(engine, "/seen").text.splitlines() == ["marquez", "password of 32", str(jar)]
    assert fetch(engine, "/", marquez.ADMIN).is_success
    second = engine.up()
    assert "6 unchanged" in second.text
    assert not any(word in second.text for word in ("created", "updated", "replaced", "deleted"))


@needs_postgres
def test_changed_jar_restarts_only_marquez(engine, jar, tmp_path):
    own = Path(shutil.copy(jar, tmp_path / "own.jar"))
    engine.wanted["jar"] = str(own)
    engine.up()
    before = {state.name: state.pid for state in Supervisor(engine.root).states()}
    with own.open("ab") as file:
        file.write(b"another build")
    changed = engine.up("--diff")
    assert changed.status == 0, changed.text
    assert "~ revision" in changed.text
    after = {state.name: state.pid for state in Supervisor(engine.root).states()}
    assert after["marquez"] != before["marquez"]
    assert after["postgres"] == before["postgres"]


@needs_postgres
def test_disabling_marquez_removes_it_and_keeps_postgres(engine, jar):
    engine.wanted["jar"] = str(jar)
    engine.up()
    engine.wanted["jar"] = ""
    assert engine.up().status == 0
    assert [state.name for state in Supervisor(engine.root).states()] == ["postgres"]


@pytest.fixture
def offline(tmp_path, monkeypatch):
    """Return artifacts in a separate cache, with Maven offline: only the local repository is searched."""
    cache = Cache.open(tmp_path / "cache")
    shutil.copytree(Artifacts.open().cache.maven, cache.maven, copy_function=os.link)
    shutil.rmtree(cache.maven / "io" / "github" / "marquezproject", ignore_errors=True)
    (tmp_path / "home" / ".m2").mkdir(parents=True)
    (tmp_path / "home" / ".m2" / "settings.xml").write_text("<settings><offline>true</offline></settings>\n")
    monkeypatch.setenv("MAVEN_OPTS", f"-Duser.home={tmp_path / 'home'}")
    # These steps take minutes with an empty cache and are unrelated.
    for step in ("_install_class_data", "_install_page"):
        monkeypatch.setattr(setup, step, lambda artifacts: None)
    return Artifacts(cache)


def test_jar_is_resolved_by_its_maven_coordinate(offline, jar, capsys):
    group, artifact, version = pins.MARQUEZ.coordinates[0].split(":")
    folder = offline.cache.maven.joinpath(*group.split("."), artifact, version)
    folder.mkdir(parents=True)
    shutil.copy(jar, folder / f"{artifact}-{version}.jar")
    (folder / f"{artifact}-{version}.pom").write_text(
        f"<project><modelVersion>4.0.0</modelVersion><groupId>{group}</groupId>"
        f"<artifactId>{artifact}</artifactId><version>{version}</version></project>\n"
    )
    assert not offline.has("marquez")
    offline.setup({"marquez"}, PlainProgress(sys.stdout))
    assert offline.has("marquez")
    assert [path.name for path in (offline.component("marquez") / "lib").iterdir()] == [f"{artifact}-{version}.jar"]
    assert "Maven, not verified: no lock" in capsys.readouterr().out
    assert offline.verify() == []


def test_unresolvable_jar_is_an_error_and_leaves_no_files(offline):
    with pytest.raises(ArtifactError, match="Resolving the jars of marquez"):
        offline.setup({"marquez"}, PlainProgress(sys.stdout))
    assert not offline.has("marquez")
    assert list(offline.cache.tmp.iterdir()) == []


def test_setup_prints_one_line_for_a_missing_jar_and_continues(offline, capsys):
    install_lab_artifacts(offline, LabSettings(flink=False, marquez=True), frozenset())
    (line,) = [line for line in capsys.readouterr().out.splitlines() if "left out" in line]
    assert line.startswith("marquez is left out: Resolving the jars of marquez with Maven failed")
    assert "lineage-lab:marquezJar" in line


def test_user_jar_skips_resolution_and_a_wrong_path_is_an_error(offline, jar, capsys):
    with pytest.raises(LabError, match=r"invalid lineage-lab:marquezJar /nowhere\.jar"):
        install_lab_artifacts(offline, LabSettings(flink=False, marquez=True, marquez_jar="/nowhere.jar"), frozenset())
    install_lab_artifacts(offline, LabSettings(flink=False), frozenset())
    install_lab_artifacts(offline, LabSettings(flink=False, marquez=True, marquez_jar=str(jar)), frozenset())
    assert "left out" not in capsys.readouterr().out
    assert not offline.has("marquez")


@needs_postgres
@pytest.mark.skipif(not REAL_JAR, reason=f"no Marquez jar: set {JAR_VARIABLE} or lineage-lab:marquezJar to its path")
def test_real_marquez_accepts_an_event_and_shows_its_edges(engine):
    engine.wanted["jar"] = str(Path(REAL_JAR).absolute())
    first = engine.up()
    assert first.status == 0, first.text
    event = {
        "eventType": "COMPLETE",
        "eventTime": "2026-01-01T00:00:00Z",
        "producer": "https://example.org/test",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "run": {"runId": str(uuid.uuid4())},
        "job": {"namespace": "lab", "name": "copy"},
        "inputs": [{"namespace": "lab", "name": "a"}],
        "outputs": [{"namespace": "lab", "name": "b"}],
    }
    api = f"http://127.0.0.1:{marquez.API.port + engine.wanted['offset']}/api/v1"
    httpx.post(f"{api}/lineage", json=event, timeout=30, trust_env=False).raise_for_status()
    graph = fetch(engine, "/api/v1/lineage?nodeId=job:lab:copy").json()["graph"]
    assert {node["id"] for node in graph} == {"job:lab:copy", "dataset:lab:a", "dataset:lab:b"}
