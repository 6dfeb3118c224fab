# SPDX-License-Identifier: Apache-2.0
"""Installation of a vendor's Pulumi plugin from a file, by the real `pulumi` command."""

import io
import os
import shlex
import subprocess
import tarfile

import pytest

from infra.cli import vendor_plugin
from infra.cli.stack import pulumi_environment
from infra.cli.vendor_plugin import DISABLING_VARIABLE, DOCKER, ensure_plugin
from infra.errors import LabError
from infra.toolchain import Artifacts

pytestmark = pytest.mark.stack


@pytest.fixture
def plugin_archive(tmp_path):
    """Archive like the vendor's, with a program that is never run."""
    path = tmp_path / f"pulumi-resource-docker-{DOCKER.tag}-linux-amd64.tar.gz"
    program = tarfile.TarInfo("pulumi-resource-docker")
    program.mode = 0o755
    content = b"#!/bin/sh\n"
    program.size = len(content)
    with tarfile.open(path, "w:gz") as archive:
        archive.addfile(program, io.BytesIO(content))
    return path


def test_the_command_in_the_error_about_a_missing_plugin_installs_it_from_a_file(monkeypatch, tmp_path, plugin_archive):
    home = tmp_path / "home"
    monkeypatch.setattr(vendor_plugin, "plugin_folder", lambda: home / "plugins")
    monkeypatch.delenv("PULUMI_HOME", raising=False)
    monkeypatch.setenv(DISABLING_VARIABLE, "true")
    with pytest.raises(LabError) as missing:
        ensure_plugin(DOCKER, None)
    command = str(missing.value).splitlines()[-1].rpartition("; ")[2].replace("PATH", str(plugin_archive))
    environment = {**os.environ, **pulumi_environment(Artifacts.open()), "PULUMI_HOME": str(home)}
    subprocess.run(shlex.split(command), env=environment, capture_output=True, check=True)
    ensure_plugin(DOCKER, None)
