# SPDX-License-Identifier: Apache-2.0
"""What the Docker tests share: a daemon, or the reason why there is none; the stand-in where the engine finds it."""

import os
from pathlib import Path

import docker
import docker.errors
import pytest

from infra.docker_engine import shared_client
from tests.docker.docker_project import DockerProject

PLUGIN = Path(__file__).parent / "plugin" / "bin"
BASE_IMAGE = "debian:bookworm-slim"
OLDEST_API = (1, 41)


@pytest.fixture(scope="session")
def daemon():
    """A client of this machine's daemon; without one the test is skipped."""
    try:
        client = docker.from_env()
        version = client.version()["ApiVersion"]
    except docker.errors.DockerException as error:
        pytest.skip(f"no Docker daemon (.ci/docker starts one where root on Debian may): {error}")
    if tuple(map(int, version.split("."))) < OLDEST_API:
        pytest.skip(f"the Docker daemon's API is {version}, the lab needs {'.'.join(map(str, OLDEST_API))}")
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
