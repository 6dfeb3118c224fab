# SPDX-License-Identifier: Apache-2.0
"""Validation of the jar that `marquezJar` refers to."""

import zipfile

import pytest

from infra.catalog import LabSettings, check_settings
from infra.errors import LabError


def jar(path, *names):
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, b"")
    return path


def test_accept_jar_with_main_class(tmp_path):
    check_settings(LabSettings(marquez=True, marquez_jar=str(jar(tmp_path / "m.jar", "marquez/MarquezApp.class"))))


def test_ignore_jar_of_disabled_service():
    check_settings(LabSettings(marquez_jar="/nowhere.jar"))
    check_settings(LabSettings(marquez=True))


def test_report_setting_and_cause_of_invalid_jar(tmp_path):
    (tmp_path / "text.jar").write_text("no jar")
    jar(tmp_path / "other.jar", "other/Main.class")
    problems = {
        "gone.jar": "file not found",
        ".": "is a folder",
        "text.jar": "not a readable jar",
        "other.jar": "jar does not contain marquez.MarquezApp",
    }
    for name, problem in problems.items():
        with pytest.raises(LabError) as raised:
            check_settings(LabSettings(marquez=True, marquez_jar=str(tmp_path / name)))
        assert f"invalid lineage-lab:marquezJar {tmp_path / name}: {problem}" in str(raised.value)


def test_reject_path_with_class_path_separator(tmp_path):
    with pytest.raises(LabError, match="':'"):
        check_settings(LabSettings(marquez=True, marquez_jar=str(tmp_path / "a:b.jar")))
