# SPDX-License-Identifier: Apache-2.0
"""A user's jobs with functions in Python, in containers."""

import pytest

from tests.docker.docker_lab import DockerLab
from tests.smoke.python_job_tests import UP_SECONDS, PythonJobTests, python_jobs
from tests.stack_files import SMOKE_DOCKER_PYTHON

pytestmark = [pytest.mark.smoke, pytest.mark.slow]


@pytest.fixture(scope="module")
def lab(daemon, base_image, fake_plugin):
    with python_jobs(), DockerLab(daemon, SMOKE_DOCKER_PYTHON).configured() as tested:
        started = tested.lab("up", seconds=UP_SECONDS)
        assert started.status == 0, started.text
        yield tested


class TestPythonJobsOnDocker(PythonJobTests):
    pass
