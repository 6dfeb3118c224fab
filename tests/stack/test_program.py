# SPDX-License-Identifier: Apache-2.0
"""Program of the lab under plain Pulumi, with the environment of `lab env`."""

import os
import shlex
import subprocess

import pytest
import yaml

from infra.catalog import LabSettings
from infra.cli.rendering import render_resources
from infra.project import PROJECT
from tests.stack_files import stack_file

pytestmark = pytest.mark.stack
STACK = "program"
"""Stack of these tests, in a separate Pulumi state."""


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """Return the environment after `eval "$(bin/lab env)"`, with a temporary Pulumi state."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PULUMI_", "PYTHON"))}
    command = [str(PROJECT / "bin" / "lab"), "env"]
    shown = subprocess.run(command, env=clean, capture_output=True, text=True, check=True).stdout
    exported = dict(shlex.split(line)[1].split("=", 1) for line in shown.splitlines())
    state = tmp_path_factory.mktemp("state")
    return clean | exported | {"PULUMI_BACKEND_URL": f"file://{state}", "PULUMI_HOME": str(state / "home")}


@pytest.fixture(scope="module")
def pulumi(environment):
    """Return a function that runs `pulumi` in the checkout: (exit status, output)."""

    def run(*words):
        done = subprocess.run(
            ["pulumi", *words, "--non-interactive"],
            cwd=PROJECT,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout

    return run


@pytest.fixture(scope="module")
def preview(pulumi):
    """Return a function that previews the stack with some configuration: (exit status, output)."""

    def run(**config):
        keys = {f"lineage-lab:{key}": value for key, value in config.items()}
        path.write_text(yaml.safe_dump({"encryptionsalt": salt, "config": keys}))
        return pulumi("preview", "--stack", STACK)

    with stack_file(STACK, {}) as path:
        assert pulumi("stack", "init", STACK)[0] == 0
        salt = yaml.safe_load(path.read_text())["encryptionsalt"]
        yield run


def test_preview_shows_all_resources_and_creates_nothing(preview):
    status, text = preview(portOffset="300")
    assert status == 0, text
    count = len(render_resources(STACK, LabSettings(port_offset=300)))
    assert f"{count + 1} to create" in text  # including the stack itself
    assert "http://127.0.0.1:5300" in text
    assert not (PROJECT / ".lab" / STACK).exists()


def test_preview_without_a_docker_daemon_names_the_socket_and_the_remedy(preview, environment, monkeypatch, tmp_path):
    monkeypatch.setitem(environment, "DOCKER_HOST", f"unix://{tmp_path / 'missing.sock'}")
    status, text = preview(target="docker")
    assert status != 0
    assert f"the Docker daemon at unix://{tmp_path / 'missing.sock'} cannot be reached" in text
    assert "Start it" in text
    assert "Traceback" not in text


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"portOfset": "1"}, "unknown key lineage-lab:portOfset; did you mean lineage-lab:portOffset?"),
        ({"portOffset": "-3"}, "lineage-lab:portOffset = -3"),
        ({"target": "moon"}, "lineage-lab:target = moon"),
    ],
)
def test_invalid_configuration_is_reported_without_a_traceback(preview, config, message):
    status, text = preview(**config)
    assert status != 0
    assert message in text
    assert "Traceback" not in text
    assert len(text.splitlines()) < 25


def test_new_stacks_change_no_committed_file(pulumi):
    """Pulumi writes a generated salt to the file of a new stack, and none to committed files, which have one."""
    before = changed_stack_files()
    with stack_file("mine", {"portOffset": "7000"}) as path:
        for stack in ("dev", "docker", "mine"):
            status, text = pulumi("stack", "init", stack)
            assert status == 0, text
        assert "encryptionsalt" in path.read_text()
        assert changed_stack_files() == before


def changed_stack_files():
    words = ["git", "status", "--porcelain", "--", "Pulumi*"]
    done = subprocess.run(words, cwd=PROJECT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"not a git checkout: {done.stderr.strip()}")
    return done.stdout
