# SPDX-License-Identifier: Apache-2.0
"""Stack names and files, stale locks of killed updates, the plugin folder, and the Docker daemon of the state."""

import json
import os
import platform
import shutil
import subprocess
import sys
from types import SimpleNamespace

import pytest

from infra.cli.stack import Stack, is_stale_lock
from infra.cli.stack_file import stack_settings, stack_target
from infra.errors import LabError, SettingsError
from infra.targets.docker.runtime import Containers
from infra.targets.local.supervisor import Supervisor


@pytest.mark.parametrize("name", ["", "two words", "../up", "-dash", "a/b"])
def test_invalid_stack_name_is_rejected(name):
    with pytest.raises(LabError, match="invalid stack name"):
        Stack(name, None)


HERE = platform.node()


def lock(pid, hostname=HERE):
    return {"pid": pid, "username": "me", "hostname": hostname, "timestamp": "2026-01-01T00:00:00Z"}


def test_lock_of_an_ended_process_is_stale():
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        ended.wait()
    assert is_stale_lock(lock(ended.pid))


def test_lock_is_stale_if_another_program_reuses_its_pid():
    assert is_stale_lock(lock(os.getpid()))


def test_lock_of_another_machine_is_not_stale():
    assert not is_stale_lock(lock(1, "elsewhere"))


@pytest.mark.parametrize(
    ("name", "remedy"),
    [("dev", "make up (or bin/lab up)"), ("two", "make up STACK=two (or bin/lab up --stack two)")],
)
def test_error_about_a_lab_that_does_not_run_names_the_start_command(name, remedy):
    assert str(Stack(name, None).not_running_error()).endswith(remedy)


@pytest.fixture
def stack_file(monkeypatch, tmp_path):
    monkeypatch.setattr("infra.cli.stack_file.PROJECT", tmp_path)
    return tmp_path / "Pulumi.mine.yaml"


def test_stack_without_a_file_has_the_default_target(stack_file):
    assert stack_target("mine") == "local"
    assert isinstance(Stack("mine", None).runtime, Supervisor)


def test_target_is_read_from_a_file_with_invalid_settings(stack_file):
    stack_file.write_text("config:\n  lineage-lab:target: docker\n  lineage-lab:portOfset: 1\n")
    assert stack_target("mine") == "docker"
    assert isinstance(Stack("mine", None).runtime, Containers)
    with pytest.raises(SettingsError, match="portOfset"):
        stack_settings("mine")


def test_error_about_invalid_yaml_names_the_file(stack_file):
    stack_file.write_text("config: [")
    with pytest.raises(SettingsError, match=r"cannot read Pulumi\.mine\.yaml"):
        stack_target("mine")


def test_installed_plugins_survive_the_removal_of_the_state(monkeypatch, tmp_path):
    state, cache = tmp_path / "state", tmp_path / "cache"
    cache.mkdir()
    monkeypatch.setattr("infra.cli.stack.PULUMI_STATE", state)
    monkeypatch.setattr(Stack, "exists", lambda self: True)
    Stack("mine", SimpleNamespace(cache=SimpleNamespace(root=cache))).create_if_missing()
    plugin = state / "home" / "plugins" / "resource-docker-v1.0.0"
    plugin.mkdir()
    shutil.rmtree(state)
    Stack("mine", SimpleNamespace(cache=SimpleNamespace(root=cache))).create_if_missing()
    assert plugin.is_dir()


@pytest.fixture
def docker_stack(stack_file, monkeypatch, tmp_path):
    """Function that writes the state of a stack on Docker, with the daemon's address, and returns the stack."""
    stack_file.write_text("config:\n  lineage-lab:target: docker\n")
    monkeypatch.setattr("infra.cli.stack.PULUMI_STATE", tmp_path)
    monkeypatch.setattr("infra.cli.stack.pulumi_environment", lambda artifacts: {})

    def write(**provider):
        stack = Stack("mine", None)
        resources = [{"type": "pulumi:providers:docker", "inputs": provider}] if provider else []
        stack._checkpoint.parent.mkdir(parents=True)
        stack._checkpoint.write_text(json.dumps({"version": 3, "checkpoint": {"latest": {"resources": resources}}}))
        return stack

    return write


@pytest.mark.parametrize(
    ("provider", "runs_program"),
    [
        ({}, False),
        ({"host": "unix:///run/here.sock"}, False),
        ({"host": "unix:///run/moved.sock"}, True),
        ({"disableDockerDaemonCheck": "true"}, True),
    ],
    ids=["new stack", "same address", "moved", "no address"],
)
def test_pulumi_runs_the_program_if_the_state_has_another_address_of_the_daemon(
    docker_stack, monkeypatch, provider, runs_program
):
    monkeypatch.setenv("DOCKER_HOST", "unix:///run/here.sock")
    variables = docker_stack(**provider).pulumi_variables()
    assert variables["DOCKER_HOST"] == "unix:///run/here.sock"
    assert (variables.get("PULUMI_RUN_PROGRAM") == "true") is runs_program


@pytest.fixture
def artifacts(tmp_path):
    return SimpleNamespace(
        cache=SimpleNamespace(root=tmp_path),
        python=lambda name: tmp_path / name / "bin" / "python",
        binary_dir=lambda name: tmp_path / name,
    )


def test_python_of_the_kit_is_before_that_of_another_pulumi(artifacts, tmp_path, monkeypatch):
    """A package manager's `pulumi` is in a folder that has a `python3`, too."""
    monkeypatch.setenv("PATH", "/usr/bin")
    environment = Stack("mine", artifacts).environment()
    assert environment["PATH"].split(os.pathsep) == [str(tmp_path / "kit/bin"), str(tmp_path / "pulumi"), "/usr/bin"]
    assert environment["PULUMI_PYTHON_CMD"] == str(tmp_path / "kit/bin/python")


def test_pulumi_variables_of_other_projects_are_not_inherited(artifacts, monkeypatch):
    for name in ("PULUMI_DIY_BACKEND_GZIP", "PULUMI_PARALLEL", "PULUMI_STACK", "PULUMI_K8S_DELETE_UNREACHABLE"):
        monkeypatch.setenv(name, "true")
    monkeypatch.setenv("PULUMI_BACKEND_URL", "s3://elsewhere")
    monkeypatch.setenv("PULUMI_DEBUG_PROVIDERS", "docker:4000")
    environment = Stack("mine", artifacts).environment()
    assert {name for name in environment if name.startswith("PULUMI_")} == {
        "PULUMI_BACKEND_URL",
        "PULUMI_CONFIG_PASSPHRASE",
        "PULUMI_DEBUG_PROVIDERS",
        "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION",
        "PULUMI_HOME",
        "PULUMI_PYTHON_CMD",
        "PULUMI_SKIP_UPDATE_CHECK",
    }
    assert environment["PULUMI_BACKEND_URL"].startswith("file://")


def test_pulumi_does_not_use_a_docker_context_of_the_environment(docker_stack, monkeypatch):
    """The vendor's plugin would prefer it to the daemon's address."""
    monkeypatch.setenv("DOCKER_HOST", "unix:///run/here.sock")
    monkeypatch.setenv("DOCKER_CONTEXT", "elsewhere")
    assert docker_stack().environment()["DOCKER_CONTEXT"] == ""


def resources_of(monkeypatch, root):
    monkeypatch.setattr(
        Stack, "resources", lambda self: [{"type": "labkit:index:Supervisor", "inputs": {"root": str(root)}}]
    )
    monkeypatch.setattr("infra.cli.stack.STATE", root.parent.parent / "copy" / ".lab")
    monkeypatch.setattr("infra.cli.stack.stack_root", lambda name: root.parent.parent / "copy" / ".lab" / name)


@pytest.mark.parametrize("word", ["up", "destroy"])
def test_a_copied_checkout_does_not_touch_the_lab_of_the_original(monkeypatch, tmp_path, word):
    original = tmp_path / "original" / "dev"
    original.mkdir(parents=True)
    resources_of(monkeypatch, original)
    with pytest.raises(LabError, match=r"is a copy of the checkout whose lab is in .*original/dev.*: rm -r "):
        Stack("dev", None).run_pulumi(word)


def test_a_moved_checkout_is_no_copy(monkeypatch, tmp_path):
    resources_of(monkeypatch, tmp_path / "original" / "dev")
    monkeypatch.setattr(Stack, "_release_stale_locks", lambda self: None)
    monkeypatch.setattr(Stack, "environment", lambda self: dict(os.environ))
    monkeypatch.setattr(Stack, "_pulumi_command", lambda self, words: ["true", *words])
    Stack("dev", None).run_pulumi("up")
