# SPDX-License-Identifier: Apache-2.0
"""Artefacts that `lab setup` and `lab up` install, and the options of `lab setup`."""

import pytest
from typer.testing import CliRunner

from infra.catalog import LabSettings
from infra.cli import setup
from infra.cli.__main__ import app
from infra.toolchain import Artifacts


@pytest.mark.parametrize(
    ("settings", "installed"),
    [
        (LabSettings(marquez=True), True),
        (LabSettings(marquez=True, target="docker"), False),
        (LabSettings(), False),
    ],
    ids=["processes", "Docker", "no Marquez"],
)
def test_marquez_jar_is_installed_only_for_a_local_lab_with_marquez(settings, installed, tmp_path, monkeypatch):
    requested = set()
    monkeypatch.setattr(setup, "install_artifacts", lambda artifacts, names: requested.update(names))
    setup.install_lab_artifacts(Artifacts.open(tmp_path), settings)
    assert ("marquez" in requested) == installed
    assert requested >= setup.required_artifacts(settings)


def test_binary_option_installs_one_executable_and_prints_its_path(tmp_path, monkeypatch):
    requested = []
    monkeypatch.setenv("LINEAGE_LAB_CACHE", str(tmp_path))
    monkeypatch.setattr(setup, "install_artifacts", lambda artifacts, names: requested.append(names))
    monkeypatch.setattr(Artifacts, "binary", lambda self, name: tmp_path / name)
    result = CliRunner().invoke(app, ["setup", "--binary", "minio"])
    assert (result.exit_code, result.stdout) == (0, f"{tmp_path / 'minio'}\n")
    assert requested == [{"minio"}]


def test_binary_option_rejects_an_unknown_executable():
    result = CliRunner().invoke(app, ["setup", "--binary", "kafka"])
    assert result.exit_code == 1
    assert "unknown executable 'kafka'; choose from minio, pulumi" in result.stderr
