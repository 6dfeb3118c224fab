# SPDX-License-Identifier: Apache-2.0
"""Artefacts that `lab setup` and `lab up` install, and the options of `lab setup`."""

import subprocess

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


def folder_of(cache, kind, name):
    """Create the folder of an artefact of 1,000 bytes."""
    folder = cache / kind / name
    folder.mkdir(parents=True)
    (folder / "content").write_bytes(b"x" * 1000)
    return folder


def test_prune_removes_what_neither_the_checkout_nor_a_running_lab_uses(tmp_path, monkeypatch):
    monkeypatch.setenv("LINEAGE_LAB_CACHE", str(tmp_path))
    own = folder_of(tmp_path, "components", f"kafka-{Artifacts.open(tmp_path).component_key('kafka')}")
    former = [folder_of(tmp_path, "components", "kafka-000000000000"), folder_of(tmp_path, "venvs", "kit-000000000000")]
    shared = [folder_of(tmp_path, "maven", "org"), folder_of(tmp_path, "pip", "http")]
    running = folder_of(tmp_path, "binaries", "minio-000000000000")
    with subprocess.Popen(["sh", "-c", "echo ready; read line", str(running / "minio")], stdin=-1, stdout=-1) as lab:
        assert lab.stdout.readline() == b"ready\n"
        result = CliRunner().invoke(app, ["setup", "--prune"])
        assert [folder for folder in (*former, *shared, own, running) if folder.exists()] == [*shared, own, running]
        lab.communicate(b"\n")
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines() == [
        "removed components/kafka-000000000000, 1 kB",
        "removed venvs/kit-000000000000, 1 kB",
        "2 removed, 2 kB freed",
    ]
    again = CliRunner().invoke(app, ["setup", "--prune"])
    assert again.stdout.splitlines()[0] == "removed binaries/minio-000000000000, 1 kB"
