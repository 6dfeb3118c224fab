# SPDX-License-Identifier: Apache-2.0
"""Pulumi plugins of vendors: detection of an available one, and installation unless the user disabled it."""

import pytest

from infra.cli import vendor_plugin
from infra.cli.vendor_plugin import DISABLING_VARIABLE, DOCKER, KUBERNETES, ensure_plugin, installation_disabled
from infra.errors import LabError
from infra.project import PULUMI_STATE


@pytest.mark.parametrize(
    ("environment", "disabled"),
    [
        ({}, False),
        ({DISABLING_VARIABLE: "true"}, True),
        ({DISABLING_VARIABLE: "1", "PULUMI_HOME": "/home/me/.pulumi"}, True),
        ({DISABLING_VARIABLE: "false"}, False),
        ({DISABLING_VARIABLE: "true", "PULUMI_HOME": str(PULUMI_STATE / "home")}, False),  # set by `lab env`
    ],
)
def test_installation_is_disabled_only_by_the_user(environment, disabled):
    assert installation_disabled(environment) is disabled


@pytest.fixture
def without_plugin(monkeypatch, tmp_path):
    """Hide all plugins and disable their installation; return a folder that is on PATH and has the plugin folder."""
    monkeypatch.setattr(vendor_plugin, "plugin_folder", lambda: tmp_path / "plugins")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("PULUMI_DEBUG_PROVIDERS", raising=False)
    monkeypatch.delenv("PULUMI_HOME", raising=False)
    monkeypatch.setenv(DISABLING_VARIABLE, "true")
    return tmp_path


each_plugin = pytest.mark.parametrize("plugin", [DOCKER, KUBERNETES], ids=lambda plugin: plugin.name)


@each_plugin
def test_missing_plugin_with_disabled_installation_names_the_commands(plugin, without_plugin):
    command = rf"pulumi plugin install resource {plugin.name} v\d+\.\d+\.\d+"
    with pytest.raises(LabError, match=rf"(?s){DISABLING_VARIABLE} disables.*{command}\n.*{command} --file PATH$"):
        ensure_plugin(plugin, None)


@each_plugin
def test_plugin_is_found_in_the_plugin_folder(plugin, without_plugin):
    (without_plugin / "plugins" / f"resource-{plugin.name}-{plugin.tag}").mkdir(parents=True)
    ensure_plugin(plugin, None)


def test_plugin_is_found_on_path(without_plugin):
    program = without_plugin / "pulumi-resource-docker"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    ensure_plugin(DOCKER, None)
    with pytest.raises(LabError, match="plugin kubernetes"):
        ensure_plugin(KUBERNETES, None)


def test_plugin_attached_to_a_debugger_is_found(without_plugin, monkeypatch):
    monkeypatch.setenv("PULUMI_DEBUG_PROVIDERS", "labkit:1234,kubernetes:1235")
    ensure_plugin(KUBERNETES, None)
