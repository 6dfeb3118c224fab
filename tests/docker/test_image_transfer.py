# SPDX-License-Identifier: Apache-2.0
"""Push of images to a real registry, and their archive."""

import io
import json
import os
import shutil
import socket
import subprocess
import tarfile
import time
import urllib.error
import urllib.request

import pytest
import yaml
from docker.errors import ImageNotFound

from infra.targets.docker.images.archive import image_archive
from infra.targets.docker.images.daemon import ImageDaemon
from infra.targets.docker.images.errors import ImageError
from infra.targets.docker.images.tags import tagged
from infra.targets.docker.images.transfer import plan_transfer, push_images
from infra.toolchain.progress import PlainProgress
from tests.docker_daemon import START
from tests.small_images import small_images

BUILD = "bin/lab images build --stack docker"
ONE, TWO = "lineage-lab-test/push-one:k1", "lineage-lab-test/push-two:k2"
READY_SECONDS = 90


@pytest.fixture(scope="module")
def registry_program():
    """Program of Debian's registry; installed if these tests may start a daemon, too."""
    if shutil.which("docker-registry") is None and os.environ.get(START) == "start":
        command = ("apt-get", "install", "-y", "-qq", "--no-install-recommends", "docker-registry")
        subprocess.run(command, check=True, capture_output=True)
    return shutil.which("docker-registry") or pytest.skip("apt-get install docker-registry")


@pytest.fixture
def registry(registry_program, tmp_path):
    """Address and path of an empty registry on a free port."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"127.0.0.1:{free.getsockname()[1]}"
    settings = {"version": 0.1, "storage": {"filesystem": {"rootdirectory": str(tmp_path)}}, "http": {"addr": address}}
    (tmp_path / "config.yml").write_text(yaml.safe_dump(settings))
    command = (registry_program, "serve", tmp_path / "config.yml")
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            await_answer(f"http://{address}/v2/", process)
            yield f"{address}/team"
        finally:
            process.terminate()


def await_answer(url, process):
    deadline = time.monotonic() + READY_SECONDS
    while True:
        try:
            return get(url)
        except urllib.error.URLError:
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.05)


def get(url):
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(url, timeout=60) as response:
        return json.load(response)


def tags(registry, name):
    host, path = registry.split("/")
    return get(f"http://{host}/v2/{path}/{name}/tags/list")["tags"]


@pytest.fixture(scope="module")
def image_daemon(daemon, base_image):
    """A daemon with two images that share their base."""
    with small_images(daemon, base_image, ONE, TWO):
        yield ImageDaemon(daemon)


def progress():
    return PlainProgress(io.StringIO())


def test_images_are_pushed_once_and_keep_no_further_name(image_daemon, registry):
    transfer = plan_transfer([ONE, TWO], image_daemon, registry, "", BUILD)
    assert push_images(transfer, image_daemon, progress()) == [f"{registry}/{ONE}", f"{registry}/{TWO}"]
    assert tags(registry, "lineage-lab-test/push-one") == ["k1"]
    assert push_images(transfer, image_daemon, progress()) == []
    with pytest.raises(ImageNotFound):
        image_daemon.client.images.get(f"{registry}/{ONE}")
    assert image_daemon.has_image(ONE)


def test_a_tag_of_the_settings_is_pushed_again(image_daemon, registry):
    transfer = plan_transfer([ONE], image_daemon, registry, "stable", BUILD)
    for _ in range(2):
        assert push_images(transfer, image_daemon, progress()) == [f"{registry}/lineage-lab-test/push-one:stable"]
    assert tags(registry, "lineage-lab-test/push-one") == ["stable"]


def test_a_pushed_image_is_pulled_by_its_name(image_daemon, registry):
    push_images(plan_transfer([ONE], image_daemon, registry, "", BUILD), image_daemon, progress())
    pulled = image_daemon.client.images.pull(f"{registry}/{ONE}")
    try:
        assert pulled.id == image_daemon.client.images.get(ONE).id
    finally:
        image_daemon.client.api.remove_image(f"{registry}/{ONE}")


def test_an_unreachable_registry_is_named(image_daemon):
    """The registry's port, 9, refuses connections."""
    transfer = plan_transfer([ONE], image_daemon, "127.0.0.1:9/team", "", BUILD)
    with pytest.raises(ImageError, match=r"127\.0\.0\.1:9/team/.*connection refused(?s:.*)reaches 127\.0\.0\.1:9"):
        push_images(transfer, image_daemon, progress())
    assert not image_daemon.has_image(f"127.0.0.1:9/team/{ONE}")


def test_missing_images_are_named_with_the_command_that_builds_them(image_daemon):
    missing = [f"lineage-lab-test/none-{number}:1" for number in range(6)]
    with pytest.raises(ImageError) as failed:
        plan_transfer([ONE, *missing], image_daemon, "", "", BUILD)
    assert str(failed.value) == (f"6 of 7 images are not built: {', '.join(missing[:5])}, .... Build them: `{BUILD}`")


def test_layers_that_images_share_are_in_the_archive_once(image_daemon):
    with image_archive(image_daemon.client, [ONE, TWO]) as chunks:
        content = io.BytesIO(b"".join(chunks))
    with tarfile.open(fileobj=content) as archive:
        entries = json.load(archive.extractfile("manifest.json"))
        files = [member.name for member in archive.getmembers() if member.isfile()]
    assert sorted(name for entry in entries for name in entry["RepoTags"]) == [ONE, TWO]
    layers = {layer for entry in entries for layer in entry["Layers"]}
    assert len(layers) == sum(len(entry["Layers"]) for entry in entries) - 1
    assert layers <= set(files)


def test_an_archive_of_a_missing_image_is_an_error(image_daemon):
    archive = image_archive(image_daemon.client, ["lineage-lab-test/none:1"])
    with pytest.raises(ImageError, match="Reading 1 images from the Docker daemon"), archive:
        pass


def test_existing_names_of_an_image_are_kept(image_daemon):
    with tagged(image_daemon.client, {ONE: ONE, "lineage-lab-test/further:1": ONE}):
        assert image_daemon.has_image("lineage-lab-test/further:1")
    assert image_daemon.has_image(ONE)
    assert not image_daemon.has_image("lineage-lab-test/further:1")
