# SPDX-License-Identifier: Apache-2.0
"""Tests of jar jobs: arguments, definition identity and declared columns."""

import pytest

from infra.services.flink.jobs import DATASET_NAMESPACES, WINDOWS_COLUMNS
from lineagelab_flink import launch_jar
from lineagelab_flink.errors import FlinkError
from lineagelab_flink.launch_jar import JarJob, main


@pytest.fixture
def jar(tmp_path):
    path = tmp_path / "job.jar"
    path.write_bytes(b"classes")
    return path


def job(jar, *arguments, columns=None, main_class=""):
    return JarJob("supplier_windows", jar, arguments, "http://127.0.0.1:1", columns, DATASET_NAMESPACES, main_class)


def test_a_changed_jar_or_argument_changes_the_definition(jar):
    first = job(jar, "--a", "b").identity
    assert job(jar, "--a", "b").identity == first
    assert job(jar, "--a b").identity != first
    assert job(jar, "--a", "b", main_class="Other").identity != first
    jar.write_bytes(b"other classes")
    assert job(jar, "--a", "b").identity != first


def test_declared_column_lineage_is_reported(jar):
    described = job(jar, columns=WINDOWS_COLUMNS).describe()
    assert [output["name"] for output in described.outputs] == ["supplier-windows"]
    assert "columnLineage" in described.outputs[0]["facets"]
    assert described.definition == job(jar).identity


def test_an_invalid_declaration_is_a_flink_error(jar, tmp_path):
    (tmp_path / "columns.json").write_text("[]")
    with pytest.raises(FlinkError, match=r"columns\.json: must be an object"):
        job(jar, columns=tmp_path / "columns.json").describe()


def test_a_jar_without_a_declaration_reports_no_datasets(jar):
    described = job(jar).describe()
    assert (described.inputs, described.outputs) == ([], [])


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        ({}, "environment variable FLINK_JOB_JAR is not set"),
        (
            {"FLINK_JOB_JAR": __file__, "FLINK_URL": "http://x", "FLINK_JOB_ID_PREFIX": "x"},
            "cannot run supplier_windows: FLINK_JOB_ID_PREFIX is 'x'",
        ),
        ({"FLINK_JOB_JAR": "/nowhere.jar", "FLINK_URL": "http://x"}, "cannot read its jar"),
    ],
)
def test_a_missing_setting_is_reported(monkeypatch, capsys, environment, message):
    monkeypatch.setattr(launch_jar.os, "environ", environment)
    assert main(["supplier_windows"]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("--title 'all", "cannot run supplier_windows: jar.args, line 1: no closing quotation: --title 'all"),
        (None, "cannot run supplier_windows: cannot read its jar or its arguments"),
    ],
)
def test_an_argument_file_that_cannot_be_used_is_reported(monkeypatch, capsys, jar, tmp_path, text, message):
    monkeypatch.setattr(launch_jar.os, "environ", {"FLINK_JOB_JAR": str(jar), "FLINK_URL": "http://x"})
    if text is not None:
        (tmp_path / "jar.args").write_text(text)
    assert main(["--arguments", str(tmp_path / "jar.args"), "supplier_windows"]) == 2
    assert message in capsys.readouterr().err


def test_a_dataset_namespace_without_an_alias_is_rejected(capsys):
    with pytest.raises(SystemExit):
        main(["--dataset-namespace", "kafka", "job"])
    assert "'kafka' does not match ALIAS=NAMESPACE" in capsys.readouterr().err
