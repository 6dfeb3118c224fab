# SPDX-License-Identifier: Apache-2.0
"""What is brought in for a lab, of what it may have."""

import pytest
from typer.testing import CliRunner

from infra.catalog import LabSettings
from infra.cli import setup
from infra.cli.__main__ import app
from infra.toolchain import Artifacts


@pytest.mark.parametrize(
    ("settings", "looked_for"),
    [
        (LabSettings(marquez=True), True),
        (LabSettings(marquez=True, target="docker"), False),
        (LabSettings(), False),
    ],
    ids=["processes", "the images of its project", "no Marquez"],
)
def test_marquez_jar_is_looked_for_only_where_it_would_be_run(settings, looked_for, tmp_path, monkeypatch):
    asked = set()
    monkeypatch.setattr(setup, "install_artifacts", lambda artifacts, names: asked.update(names))
    setup.install_lab_artifacts(Artifacts.open(tmp_path), settings)
    assert ("marquez" in asked) == looked_for
    assert asked >= setup.required_artifacts(settings)


def test_binary_option_sets_up_one_executable_and_prints_its_path(tmp_path, monkeypatch):
    names = []
    monkeypatch.setenv("LINEAGE_LAB_CACHE", str(tmp_path))
    monkeypatch.setattr(setup, "install_artifacts", lambda artifacts, wanted: names.append(wanted))
    monkeypatch.setattr(Artifacts, "binary", lambda self, name: tmp_path / name)
    result = CliRunner().invoke(app, ["setup", "--binary", "minio"])
    assert (result.exit_code, result.stdout) == (0, f"{tmp_path / 'minio'}\n")
    assert names == [{"minio"}]


def test_binary_option_rejects_an_unknown_executable():
    result = CliRunner().invoke(app, ["setup", "--binary", "kafka"])
    assert result.exit_code == 1
    assert "unknown executable 'kafka'; choose from minio, pulumi" in result.stderr
