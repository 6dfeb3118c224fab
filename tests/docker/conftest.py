# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the Docker tests: the daemon, the base image, and the fake of the vendor's plugin."""

import os
from pathlib import Path

import pytest

from infra.targets.docker.engine import shared_client
from tests.docker.docker_project import DockerProject
from tests.docker_daemon import base_image as base_image
from tests.docker_daemon import daemon as daemon
from tests.docker_daemon import start_daemon as start_daemon

PLUGIN = Path(__file__).parent / "plugin" / "bin"


@pytest.fixture(scope="module", autouse=True)
def close_shared_client():
    """Close the client that the kinds share after each module."""
    yield
    if shared_client.cache_info().currsize:
        shared_client().close()
        shared_client.cache_clear()


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
