# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the Kubernetes tests: the cluster, its command line clients, Helm, a namespace."""

import json
import os
import subprocess
import uuid
from pathlib import Path

import pytest

from infra.project import PROJECT
from tests.kubernetes.cluster.__main__ import UNAVAILABLE
from tests.kubernetes.cluster.binaries import ClusterBinaries
from tests.kubernetes.cluster.cluster import Cluster
from tests.kubernetes.helm import Helm
from tests.kubernetes.kubectl import Kubectl
from tests.kubernetes.relay import Relay

START = "LINEAGE_LAB_TEST_CLUSTER"
"""Environment variable; with `start`, `.ci/cluster` starts a cluster for these tests if none runs."""

SCRIPT = PROJECT / ".ci" / "cluster"


@pytest.fixture(scope="session")
def started_cluster():
    """Cluster of this machine; started and stopped by this fixture if `START` is set and none runs."""
    cluster = Cluster.open()
    if cluster.is_running():
        yield cluster
        return
    if os.environ.get(START) != "start":
        pytest.skip(f"no cluster runs; `.ci/cluster up` starts one, as root on Debian, and so does {START}=start")
    try:
        done = subprocess.run([SCRIPT, "up"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode == UNAVAILABLE:
            pytest.skip(done.stderr.strip())
        assert done.returncode == 0, done.stderr
        yield cluster
    finally:
        subprocess.run([SCRIPT, "down"], check=True)


@pytest.fixture(scope="session")
def cluster(started_cluster):
    """Cluster of this machine, with its kubeconfig and its clients in the environment."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KUBECONFIG", str(started_cluster.folders.kubeconfig))
        patch.setenv("PATH", str(started_cluster.folders.programs), prepend=os.pathsep)
        yield started_cluster


@pytest.fixture(scope="session")
def helm(request):
    """Helm, whether or not a cluster runs; it is built with the cluster."""
    program = ClusterBinaries.open().helm
    if not program.exists():
        request.getfixturevalue("started_cluster")
    return Helm(program)


@pytest.fixture(scope="session")
def cluster_command(cluster):
    """Function that runs `.ci/cluster` with arguments and returns its output."""

    def run(*arguments):
        done = subprocess.run([SCRIPT, *arguments], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture(scope="session")
def kubectl(cluster):
    """Client of the administrator, in no particular namespace."""
    return Kubectl()


@pytest.fixture
def namespace(kubectl):
    """Client in a namespace of the test, which enforces restricted Pod Security; its deletion is not awaited."""
    name = f"test-{uuid.uuid4().hex[:8]}"
    labels = {"pod-security.kubernetes.io/enforce": "restricted"}
    kubectl.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}})
    yield Kubectl(name)
    kubectl.run("delete", "namespace", name, "--wait=false")


@pytest.fixture
def relay(cluster, tmp_path, monkeypatch):
    """Relay whose address is that of a context `relayed`, in a kubeconfig of the test."""
    config = json.loads(Path(cluster.folders.kubeconfig).read_text())
    settings = dict(config["clusters"][0]["cluster"])
    host, port = settings["server"].removeprefix("https://").split(":")
    created = Relay((host, int(port)))
    created.start()
    settings |= {"server": f"https://127.0.0.1:{created.port}", "tls-server-name": host}
    config["clusters"].append({"name": "relayed", "cluster": settings})
    user = config["contexts"][0]["context"]["user"]
    config["contexts"].append({"name": "relayed", "context": {"cluster": "relayed", "user": user}})
    path = tmp_path / "kubeconfig"
    path.write_text(json.dumps(config))
    monkeypatch.setenv("KUBECONFIG", str(path))
    yield created
    created.stop()
