# SPDX-License-Identifier: Apache-2.0
"""A user's jobs with functions in Python, in pods."""

import os

import pytest

from tests.docker_daemon import base_image as base_image
from tests.docker_daemon import daemon as daemon
from tests.docker_daemon import start_daemon as start_daemon
from tests.kubernetes.kubernetes_lab import KubernetesLab, load_images
from tests.kubernetes.test_kubernetes_lab import PLUGIN
from tests.smoke.python_job_tests import UP_SECONDS, PythonJobTests, python_jobs
from tests.stack_files import SMOKE_KUBERNETES_PYTHON

pytestmark = [pytest.mark.smoke, pytest.mark.slow]


@pytest.fixture(scope="module")
def lab(cluster, base_image):
    with (
        pytest.MonkeyPatch.context() as patch,
        python_jobs(),
        KubernetesLab(SMOKE_KUBERNETES_PYTHON).configured() as tested,
    ):
        patch.setenv("PATH", str(PLUGIN), prepend=os.pathsep)
        load_images(tested, cluster)
        started = tested.lab("up", seconds=UP_SECONDS)
        assert started.status == 0, started.text
        yield tested


class TestPythonJobsOnKubernetes(PythonJobTests):
    pass
