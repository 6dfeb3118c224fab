# SPDX-License-Identifier: Apache-2.0
"""A stack as the command sees it: its name, and locks of updates that were killed."""

import os
import platform
import shutil
import subprocess
import sys
from types import SimpleNamespace

import pytest

from infra.cli.stack import Stack, _is_dead
from infra.cli.stack_file import stack_settings, stack_target
from infra.errors import LabError, SettingsError
from infra.targets.docker.runtime import Containers
from infra.targets.local.supervisor import Supervisor


@pytest.mark.parametrize("name", ["", "two words", "../up", "-dash", "a/b"])
def test_a_name_that_cannot_be_a_stacks_is_refused(name):
    with pytest.raises(LabError, match="cannot name a stack"):
        Stack(name, None)


HERE = platform.node()


def lock(pid, hostname=HERE):
    return {"pid": pid, "username": "me", "hostname": hostname, "timestamp": "2026-01-01T00:00:00Z"}


def test_a_lock_whose_holder_is_gone_is_dead():
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        ended.wait()
    assert _is_dead(lock(ended.pid))


def test_a_process_that_took_over_the_number_is_not_the_holder():
    assert _is_dead(lock(os.getpid()))


def test_a_lock_of_another_machine_is_left_alone():
    assert not _is_dead(lock(1, "elsewhere"))


@pytest.mark.parametrize(
    ("name", "remedy"),
    [("dev", "make up (or bin/lab up)"), ("two", "make up STACK=two (or bin/lab up --stack two)")],
)
def test_the_remedy_for_a_lab_that_is_not_there_names_its_stack(name, remedy):
    assert str(Stack(name, None).no_lab()).endswith(remedy)


@pytest.fixture
def stack_file(monkeypatch, tmp_path):
    monkeypatch.setattr("infra.cli.stack_file.PROJECT", tmp_path)
    return tmp_path / "Pulumi.mine.yaml"


def test_a_stack_without_a_file_runs_where_the_default_says(stack_file):
    assert stack_target("mine") == "local"
    assert isinstance(Stack("mine", None).runtime, Supervisor)


def test_where_a_stack_runs_is_known_also_if_its_configuration_makes_no_sense(stack_file):
    stack_file.write_text("config:\n  lineage-lab:target: docker\n  lineage-lab:portOfset: 1\n")
    assert stack_target("mine") == "docker"
    assert isinstance(Stack("mine", None).runtime, Containers)
    with pytest.raises(SettingsError, match="portOfset"):
        stack_settings("mine")


def test_a_file_that_is_no_yaml_is_named(stack_file):
    stack_file.write_text("config: [")
    with pytest.raises(SettingsError, match=r"Pulumi\.mine\.yaml cannot be read"):
        stack_target("mine")


def test_the_vendors_plugins_outlive_the_state_of_the_last_stack(monkeypatch, tmp_path):
    state, cache = tmp_path / "state", tmp_path / "cache"
    cache.mkdir()
    monkeypatch.setattr("infra.cli.stack.PULUMI_STATE", state)
    monkeypatch.setattr(Stack, "exists", lambda self: True)
    Stack("mine", SimpleNamespace(cache=SimpleNamespace(root=cache))).ensure()
    plugin = state / "home" / "plugins" / "resource-docker-v1.0.0"
    plugin.mkdir()
    shutil.rmtree(state)
    Stack("mine", SimpleNamespace(cache=SimpleNamespace(root=cache))).ensure()
    assert plugin.is_dir()
