# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the Docker tests: the daemon, the base image, and the fake of the vendor's plugin."""

import os
import subprocess
from pathlib import Path

import docker.errors
import pytest

from infra.project import PROJECT
from infra.targets.docker.engine import EngineError, connect, shared_client
from tests.docker.docker_project import DockerProject

START = "LINEAGE_LAB_TEST_DOCKER"
"""Environment variable; with `start`, `.ci/docker` starts a daemon for these tests if none responds."""

SCRIPT = PROJECT / ".ci" / "docker"
PLUGIN = Path(__file__).parent / "plugin" / "bin"
BASE_IMAGE = "debian:bookworm-slim"


@pytest.fixture(scope="session")
def start_daemon():
    """Start a daemon if `START` is set and none responds, and stop it after the tests."""
    if os.environ.get(START) != "start":
        yield
        return
    try:
        done = subprocess.run([SCRIPT, "up"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode != 0:
            pytest.skip(done.stderr.strip())
        yield
    finally:
        subprocess.run([SCRIPT, "down"], check=True)


@pytest.fixture(scope="session")
def daemon(start_daemon):
    """Client of this machine's daemon; without a daemon the test is skipped."""
    try:
        client = connect()
    except EngineError as error:
        pytest.skip(f"{error} (`.ci/docker up` starts one, as root on Debian)")
    yield client
    client.close()


@pytest.fixture(scope="module", autouse=True)
def close_shared_client():
    """Close the client that the kinds share after each module."""
    yield
    if shared_client.cache_info().currsize:
        shared_client().close()
        shared_client.cache_clear()


@pytest.fixture(scope="session")
def base_image(daemon):
    """Id of the base image of the lab's images."""
    try:
        return daemon.images.get(BASE_IMAGE).id
    except docker.errors.ImageNotFound:
        pytest.skip(f"image {BASE_IMAGE} is missing: docker pull {BASE_IMAGE} (or .ci/docker up)")


@pytest.fixture(scope="session")
def fake_plugin():
    """Put the fake of the vendor's plugin first on PATH, where the engine finds it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", str(PLUGIN), prepend=os.pathsep)
        yield


@pytest.fixture
def project(tmp_path, fake_plugin, daemon):
    """A Pulumi project; its containers, networks and volumes are removed after the test."""
    created = DockerProject(tmp_path / "project", daemon)
    yield created
    created.clear()
