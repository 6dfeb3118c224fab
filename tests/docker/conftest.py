# SPDX-License-Identifier: Apache-2.0
"""What the Docker tests share: a daemon, or the reason why there is none; the stand-in where the engine finds it."""

import os
import subprocess
from pathlib import Path

import docker.errors
import pytest

from infra.project import PROJECT
from infra.targets.docker.engine import EngineError, connect, shared_client
from tests.docker.docker_project import DockerProject

START = "LINEAGE_LAB_TEST_DOCKER"
"""Environment variable: `start` makes `.ci/docker` start a daemon for these tests where none answers."""

SCRIPT = PROJECT / ".ci" / "docker"
PLUGIN = Path(__file__).parent / "plugin" / "bin"
BASE_IMAGE = "debian:bookworm-slim"


@pytest.fixture(scope="session")
def started():
    """Sees to it that there is a daemon, where that is wanted; the one that was started for this goes with it."""
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
def daemon(started):
    """A client of this machine's daemon; without one the test is skipped."""
    try:
        client = connect()
    except EngineError as error:
        pytest.skip(f"{error} (.ci/docker starts one where root on Debian may)")
    yield client
    client.close()


@pytest.fixture(scope="module", autouse=True)
def closed_client():
    """The kinds share one client for as long as a process lives; it is closed with the module that used it."""
    yield
    if shared_client.cache_info().currsize:
        shared_client().close()
        shared_client.cache_clear()


@pytest.fixture(scope="session")
def base_image(daemon):
    """The id of the image on which everything is built."""
    try:
        return daemon.images.get(BASE_IMAGE).id
    except docker.errors.ImageNotFound:
        pytest.skip(f"no image {BASE_IMAGE}: docker pull {BASE_IMAGE} (or .ci/docker makes one)")


@pytest.fixture(scope="session")
def stand_in():
    """The stand-in for the vendor's plugin on PATH: so the engine finds it, and the kit need not know of it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", str(PLUGIN), prepend=os.pathsep)
        yield


@pytest.fixture
def project(tmp_path, stand_in, daemon):
    """A Pulumi project of the test's own; what it has made is taken away."""
    made = DockerProject(tmp_path / "project", daemon)
    yield made
    made.clear()
