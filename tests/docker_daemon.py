# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the Docker daemon, for the tests of the Docker and the Kubernetes target."""

import os
import subprocess

import docker.errors
import pytest

from infra.project import PROJECT
from infra.targets.docker.engine import EngineError, connect

START = "LINEAGE_LAB_TEST_DOCKER"
"""Environment variable; with `start`, `.ci/docker` starts a daemon for these tests if none responds."""

SCRIPT = PROJECT / ".ci" / "docker"
BASE_IMAGE = "debian:bookworm-slim"


def responds():
    """Return whether a daemon runs, of this machine or started by `.ci/docker`."""
    try:
        connect().close()
    except EngineError:
        return False
    return True


@pytest.fixture(scope="session")
def start_daemon():
    """Start a daemon if `START` is set and none responds, and stop it after the tests."""
    if os.environ.get(START) != "start" or responds():
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


@pytest.fixture(scope="session")
def base_image(daemon):
    """Id of the base image of the lab's images."""
    try:
        return daemon.images.get(BASE_IMAGE).id
    except docker.errors.ImageNotFound:
        pytest.skip(f"image {BASE_IMAGE} is missing: docker pull {BASE_IMAGE} (or .ci/docker up)")
