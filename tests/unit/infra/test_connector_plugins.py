# SPDX-License-Identifier: Apache-2.0
"""Plugins of connectors in `jobs/connect/plugins`: which files they have, and how the worker finds them."""

import re
import zipfile
from dataclasses import replace

import pytest

from infra.catalog import LabSettings, build_lab
from infra.project import PROJECT
from infra.services.connect import worker as connect
from infra.targets.revision import revision
from infra.user_files import PLUGIN_FOLDER, ConnectorPlugins, UserFileError, UserFiles, read_user_files
from tests.unit.infra.rendered_labs import LOCAL_SITE

SINK = "META-INF/services/org.apache.kafka.connect.sink.SinkConnector"


def jar(path, *names):
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, "x")


@pytest.fixture
def folder(tmp_path):
    return tmp_path / PLUGIN_FOLDER


def plugins(tmp_path):
    return read_user_files(tmp_path).plugins


def config(found):
    lab = build_lab(LOCAL_SITE, LabSettings(), UserFiles(plugins=found))
    lines = lab.service(connect.NAME).files[connect.CONFIG].splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line)


def test_without_a_folder_there_are_none(tmp_path):
    assert plugins(tmp_path) == ConnectorPlugins()
    assert PLUGIN_FOLDER not in config(ConnectorPlugins())["plugin.path"]


def test_a_plugin_is_a_folder_or_a_jar(tmp_path, folder):
    jar(folder / "jdbc" / "lib" / "sink.jar", SINK)
    jar(folder / "jdbc" / "driver.jar", "driver.class")
    (folder / "jdbc" / "README.md").write_text("read me")
    jar(folder / "one.jar", SINK)
    (folder / ".DS_Store").write_text("")
    assert plugins(tmp_path) == ConnectorPlugins(
        (
            f"{PLUGIN_FOLDER}/jdbc/README.md",
            f"{PLUGIN_FOLDER}/jdbc/driver.jar",
            f"{PLUGIN_FOLDER}/jdbc/lib/sink.jar",
            f"{PLUGIN_FOLDER}/one.jar",
        )
    )


def test_plugins_without_a_declaration_are_named(tmp_path, folder):
    jar(folder / "old" / "sink.jar", "com/example/Sink.class")
    jar(folder / "new" / "sink.jar", SINK)
    assert plugins(tmp_path).undeclared == ("old",)


@pytest.mark.parametrize(("name", "message"), [("sink/README.md", "it has no jar"), ("sink.zip", "it has no jar")])
def test_what_is_no_plugin_is_refused(tmp_path, folder, name, message):
    (folder / name).parent.mkdir(parents=True)
    (folder / name).write_text("x")
    with pytest.raises(UserFileError, match=rf"{PLUGIN_FOLDER}/sink\S* is no plugin: {message}"):
        plugins(tmp_path)


def test_a_damaged_jar_is_refused(tmp_path, folder):
    folder.mkdir(parents=True)
    (folder / "sink.jar").write_text("<html>not found</html>")
    with pytest.raises(UserFileError, match=f"{PLUGIN_FOLDER}/sink.jar cannot be read: File is not a zip file"):
        plugins(tmp_path)


def test_the_worker_has_the_folder_on_its_path():
    found = config(ConnectorPlugins((f"{PLUGIN_FOLDER}/one.jar",)))
    assert found["plugin.path"].split(",")[-1] == LOCAL_SITE.project_file(PLUGIN_FOLDER)
    assert found["plugin.discovery"] == "service_load"


def test_classes_are_scanned_only_for_plugins_without_a_declaration():
    found = config(ConnectorPlugins((f"{PLUGIN_FOLDER}/old/sink.jar",), ("old",)))
    assert found["plugin.discovery"] == "hybrid_warn"


def test_a_changed_plugin_restarts_the_worker(tmp_path, folder):
    jar(folder / "one.jar", SINK)
    run = build_lab(LOCAL_SITE, LabSettings(), read_user_files(tmp_path)).service(connect.NAME).run
    before = revision(tmp_path, run)
    jar(folder / "one.jar", SINK, "more.class")
    assert re.fullmatch(r"[0-9a-f]{16}", before)
    assert revision(tmp_path, run) != before
    assert revision(PROJECT, replace(run, reads=())) == ""
