# SPDX-License-Identifier: Apache-2.0
"""Load of images from a real Docker daemon into the containerd of the cluster's node."""

import io
import uuid

import pytest

from infra.targets.docker.images.daemon import ImageDaemon
from infra.targets.docker.images.transfer import plan_transfer
from infra.targets.kubernetes.node_images.containerd import DEFAULT_NAMESPACE, ContainerdNode
from infra.targets.kubernetes.node_images.load import load_images
from infra.toolchain.progress import PlainProgress
from tests.docker_daemon import base_image as base_image
from tests.docker_daemon import daemon as daemon
from tests.docker_daemon import start_daemon as start_daemon
from tests.kubernetes.cluster.images import ctr
from tests.kubernetes.manifests import SLEEP, pod
from tests.small_images import small_images


@pytest.fixture
def built(cluster, daemon, base_image):
    """References of two images of the Docker daemon; they are removed from the daemon and from the node."""
    references = [f"lineage-lab-test/load-{name}:{uuid.uuid4().hex[:8]}" for name in ("one", "two")]
    with small_images(daemon, base_image, *references):
        yield references
    present = ctr(cluster.folders, "images", "ls", "--quiet").split()
    for name in (name for name in present if "lineage-lab-test/load-" in name):
        ctr(cluster.folders, "images", "rm", name)


@pytest.fixture
def node(cluster):
    return ContainerdNode(str(cluster.folders.containerd_socket), DEFAULT_NAMESPACE)


def load(references, node, daemon, **names):
    images = ImageDaemon(daemon)
    transfer = plan_transfer(references, images, names.get("registry", ""), names.get("tag", ""), "build them")
    output = io.StringIO()
    return load_images(transfer, node, images, PlainProgress(output)), output.getvalue()


def test_a_pod_runs_an_image_that_was_loaded(built, node, daemon, namespace):
    loaded, output = load(built, node, daemon)
    assert loaded == built
    assert f"2 images: loading into containerd at {node.address}" in output
    namespace.apply(pod("one", SLEEP, image=built[0]))
    namespace.await_condition("condition=Ready", "pod/one")
    assert namespace.exec("one", "cat", "/name") == built[0]


def test_only_missing_images_are_loaded(built, node, daemon):
    assert load(built[:1], node, daemon)[0] == built[:1]
    assert load(built, node, daemon)[0] == built[1:]
    assert load(built, node, daemon) == ([], "")


def test_images_get_the_names_that_the_chart_uses(built, node, daemon, namespace):
    name = f"registry.example.org/team/{built[0].split(':')[0]}:stable"
    for _ in range(2):  # a tag can be moved: it is loaded again
        assert load(built[:1], node, daemon, registry="registry.example.org/team", tag="stable")[0] == [name]
    namespace.apply(pod("one", SLEEP, image=name))
    namespace.await_condition("condition=Ready", "pod/one")
