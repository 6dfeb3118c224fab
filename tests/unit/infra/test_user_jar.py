# SPDX-License-Identifier: Apache-2.0
"""A jar that a setting names is looked at before anything is built on it."""

import zipfile

import pytest

from infra.catalog import LabSettings, check_settings
from infra.errors import LabError


def jar(path, *names):
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, b"")
    return path


def test_a_jar_with_the_main_class_will_do(tmp_path):
    check_settings(LabSettings(marquez=True, marquez_jar=str(jar(tmp_path / "m.jar", "marquez/MarquezApp.class"))))


def test_what_is_not_used_is_not_looked_at():
    check_settings(LabSettings(marquez_jar="/nowhere.jar"))
    check_settings(LabSettings(marquez=True))


def test_what_is_no_jar_of_marquez_is_named_with_its_setting(tmp_path):
    (tmp_path / "text.jar").write_text("no jar")
    jar(tmp_path / "other.jar", "other/Main.class")
    problems = {
        "gone.jar": "where there is no file",
        ".": "which is a folder",
        "text.jar": "which cannot be read as a jar",
        "other.jar": "a jar without marquez.MarquezApp",
    }
    for name, problem in problems.items():
        with pytest.raises(LabError) as raised:
            check_settings(LabSettings(marquez=True, marquez_jar=str(tmp_path / name)))
        assert f"lineage-lab:marquezJar names {tmp_path / name}, {problem}" in str(raised.value)


def test_a_path_that_a_class_path_cannot_hold_is_refused(tmp_path):
    with pytest.raises(LabError, match="':'"):
        check_settings(LabSettings(marquez=True, marquez_jar=str(tmp_path / "a:b.jar")))
