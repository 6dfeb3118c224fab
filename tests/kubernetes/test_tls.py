# SPDX-License-Identifier: Apache-2.0
"""A lab with TLS on Kubernetes: clients of this machine, the pods among themselves, and what they have of it."""

import os

import pytest

from infra.project import CERTIFICATES_FOLDER
from infra.security.certificate_files import AUTHORITY
from infra.targets.container_paths import CREDENTIALS_FOLDER
from infra.targets.kubernetes.names import CREDENTIALS_SECRET
from tests.docker_daemon import base_image as base_image
from tests.docker_daemon import daemon as daemon
from tests.docker_daemon import start_daemon as start_daemon
from tests.kubernetes.kubernetes_lab import KubernetesLab, load_images
from tests.kubernetes.test_kubernetes_lab import PLUGIN
from tests.smoke.tls_tests import SECONDS, UP_SECONDS, TlsTests
from tests.stack_files import SMOKE_KUBERNETES_TLS

pytestmark = [pytest.mark.smoke, pytest.mark.slow]

FOLDER = f"{CREDENTIALS_FOLDER}/{CERTIFICATES_FOLDER}"


@pytest.fixture(scope="module")
def lab(cluster, base_image):
    with pytest.MonkeyPatch.context() as patch, KubernetesLab(SMOKE_KUBERNETES_TLS).configured() as tested:
        patch.setenv("PATH", str(PLUGIN), prepend=os.pathsep)
        load_images(tested, cluster)
        started = tested.lab("up", seconds=UP_SECONDS)
        assert started.status == 0, started.text
        yield tested


def in_pod(lab, *command):
    """Return the output of a command in the pod of the lineage service."""
    return lab.kubectl.exec(lab.pods()["lineage"]["metadata"]["name"], *command)


class TestTlsOnKubernetes(TlsTests):
    def test_pods_have_no_key_of_the_authority(self, lab):
        files = in_pod(lab, "find", "-L", FOLDER, "-type", "f").split()
        assert f"{FOLDER}/{AUTHORITY}" in files
        keys = lab.kubectl.get("secret", CREDENTIALS_SECRET)["data"]
        assert not [name for name in (*files, *keys) if name.endswith("ca.key")]
        mounts = in_pod(lab, "cat", "/proc/mounts").splitlines()
        (options,) = [options for _, at, _, options, *_ in map(str.split, mounts) if at == CREDENTIALS_FOLDER]
        assert "ro" in options.split(",")

    @pytest.mark.parametrize("host", ["object-store", "object-store.{namespace}.svc.cluster.local"])
    def test_pods_reach_a_service_by_the_names_in_its_certificate(self, lab, host):
        url = f"https://{host.format(namespace=lab.namespace)}:9000/minio/health/live"
        command = f"import urllib.request as r; print(r.urlopen('{url}', timeout={SECONDS}).status)"
        python = "/opt/lineage-lab/venvs/kit/bin/python"
        environment = ("env", f"SSL_CERT_FILE={FOLDER}/{AUTHORITY}")
        assert in_pod(lab, *environment, python, "-c", command).strip() == "200"

    def test_down_leaves_nothing(self, lab):
        assert lab.lab("down").status == 0
        assert not lab.root.exists()
        assert lab.kubectl.get("namespace", lab.namespace) is None
