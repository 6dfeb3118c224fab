# SPDX-License-Identifier: Apache-2.0
"""The vendor's plugin: found where Pulumi would find it, installed only where nobody forbids it."""

import pytest

from infra.cli import plugin
from infra.cli.plugin import NAME, SWITCH, ensure_plugin, switched_off
from infra.errors import LabError
from infra.project import PULUMI_STATE


@pytest.mark.parametrize(
    ("environment", "off"),
    [
        ({}, False),
        ({SWITCH: "true"}, True),
        ({SWITCH: "1", "PULUMI_HOME": "/home/me/.pulumi"}, True),
        ({SWITCH: "false"}, False),
        ({SWITCH: "true", "PULUMI_HOME": str(PULUMI_STATE / "home")}, False),  # of `lab env`
    ],
)
def test_only_a_user_can_switch_the_installation_off(environment, off):
    assert switched_off(environment) is off


@pytest.fixture
def nothing_found(monkeypatch, tmp_path):
    """No plugin anywhere, and no installation."""
    monkeypatch.setattr(plugin, "plugin_folder", lambda: tmp_path / "plugins")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("PULUMI_DEBUG_PROVIDERS", raising=False)
    monkeypatch.delenv("PULUMI_HOME", raising=False)
    monkeypatch.setenv(SWITCH, "true")
    return tmp_path


def test_where_it_is_missing_and_must_not_be_installed_the_command_is_told(nothing_found):
    with pytest.raises(LabError, match=rf"(?s){SWITCH} forbids.*pulumi plugin install resource {NAME} v\d+\.\d+\.\d+"):
        ensure_plugin(None)


def test_it_is_found_where_pulumi_installs_it(nothing_found):
    (nothing_found / "plugins" / f"resource-{NAME}-v{plugin._version()}").mkdir(parents=True)
    ensure_plugin(None)


def test_it_is_found_on_the_path(nothing_found):
    program = nothing_found / f"pulumi-resource-{NAME}"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    ensure_plugin(None)


def test_it_is_found_where_a_debugger_attached_one(nothing_found, monkeypatch):
    monkeypatch.setenv("PULUMI_DEBUG_PROVIDERS", f"labkit:1234,{NAME}:1235")
    ensure_plugin(None)
