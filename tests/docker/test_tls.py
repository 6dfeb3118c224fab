# SPDX-License-Identifier: Apache-2.0
"""A lab with TLS in containers: clients of this machine, the services among themselves, and what they have of it."""

import ssl

import httpx
import pytest

from infra.project import CERTIFICATES_FOLDER
from infra.security.certificate_files import AUTHORITY
from infra.targets.container_paths import CREDENTIALS_FOLDER
from tests.docker.docker_lab import DockerLab
from tests.docker.test_docker_lab import IMAGES_SECONDS
from tests.smoke.tls_tests import SECONDS, TlsTests
from tests.stack_files import SMOKE_DOCKER_TLS

pytestmark = [pytest.mark.smoke, pytest.mark.slow]

FOLDER = f"{CREDENTIALS_FOLDER}/{CERTIFICATES_FOLDER}"


@pytest.fixture(scope="module")
def lab(daemon, base_image, fake_plugin):
    with DockerLab(daemon, SMOKE_DOCKER_TLS).configured() as tested:
        started = tested.lab("up", seconds=IMAGES_SECONDS)
        assert started.status == 0, started.text
        yield tested


class TestTlsOnDocker(TlsTests):
    def test_containers_have_no_key_of_the_authority(self, lab):
        found = lab.services()["lineage"].exec_run(["find", FOLDER, "-type", "f"])
        assert found.exit_code == 0, found.output
        files = found.output.decode().split()
        assert f"{FOLDER}/{AUTHORITY}" in files
        assert not [file for file in files if file.endswith("ca.key")]
        mounts = lab.services()["lineage"].exec_run(["cat", "/proc/mounts"]).output.decode().splitlines()
        (options,) = [options for _, at, _, options, *_ in map(str.split, mounts) if at == CREDENTIALS_FOLDER]
        assert "ro" in options.split(",")

    def test_services_reach_each_other_by_names_in_their_certificates(self, lab):
        url = "https://object-store:9000/minio/health/live"
        command = f"import os, ssl, urllib.request as r; print(r.urlopen('{url}', timeout={SECONDS}).status)"
        python = "/opt/lineage-lab/venvs/kit/bin/python"
        asked = lab.services()["lineage"].exec_run(
            [python, "-c", command], environment={"SSL_CERT_FILE": f"{FOLDER}/{AUTHORITY}"}
        )
        assert asked.output.decode().strip() == "200"

    def test_certificates_are_for_no_other_host(self, lab):
        trusted = ssl.create_default_context(cafile=lab.environment["LAB_CA_FILE"])
        address = next(iter(lab.services()["lineage"].attrs["NetworkSettings"]["Networks"].values()))["IPAddress"]
        with pytest.raises(httpx.ConnectError, match="IP address mismatch"):
            httpx.get(f"https://{address}:5000/health", verify=trusted, timeout=SECONDS)

    def test_down_leaves_nothing(self, lab):
        assert lab.lab("down").status == 0
        assert not lab.root.exists()
        assert lab.object_names() == set()
