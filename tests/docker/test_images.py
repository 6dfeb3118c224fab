# SPDX-License-Identifier: Apache-2.0
"""Build, record and removal of images with a real daemon."""

import io
import re
from dataclasses import dataclass

import docker
import pytest

from infra.cli.stack_file import stack_settings
from infra.cli.stack_model import services_and_tasks
from infra.model import Binary, Java, Service
from infra.project import PROJECT
from infra.targets.docker.images import Images
from infra.targets.docker.images.contents import Content, Contents
from infra.targets.docker.images.daemon import NAME_LABEL, STAGE_LABEL, ImageDaemon
from infra.targets.docker.images.errors import ImageError
from infra.targets.docker.images.recipes import FOLDER, Image, Recipes
from infra.targets.docker.images.record import ImageRecord
from infra.toolchain import Artifacts
from infra.toolchain.errors import ArtifactError
from infra.toolchain.progress import PlainProgress

TESTS = re.compile("lineage-lab-test/")
HELLO = '#!/bin/sh\necho "$(id -u):$(id -g) $(cat /opt/lineage-lab/components/words/text)"\n'


@pytest.fixture
def image_daemon(daemon, base_image):
    return ImageDaemon(daemon)


@pytest.fixture
def artifacts(tmp_path):
    """An empty download cache."""
    return Artifacts.open(tmp_path / "cache")


@pytest.fixture
def cleanup(daemon):
    """References of images that the test builds; they are removed after it."""
    references = []
    yield references
    for reference in reversed(references):
        daemon.images.remove(reference)


@pytest.fixture
def native(artifacts, image_daemon, cleanup):
    """The lab's lowest image, on a base with a tag of its own, so that other images are not affected."""
    base = "lineage-lab-test/base:1"
    image_daemon.client.images.get("debian:bookworm-slim").tag(base)
    cleanup.append(base)
    image = Recipes(Contents(artifacts, PROJECT), base).image_for(Service("minio", Binary("minio"))).base
    assert isinstance(image, Image)
    image_daemon.build(image, lambda text: None)
    cleanup.append(image.reference)
    return image


def build_dockerfile(image_daemon, recipe, tag=None):
    """Build a Dockerfile without context and return the image's identifier."""
    image, _ = image_daemon.client.images.build(fileobj=io.BytesIO(recipe.encode()), tag=tag, rm=True, forcerm=True)
    return image.id


def run(image_daemon, reference, *command, **options):
    return image_daemon.client.containers.run(reference, list(command), remove=True, **options).decode().strip()


def test_a_service_runs_unprivileged_on_a_read_only_root(native, image_daemon, cleanup, tmp_path):
    (tmp_path / "words").mkdir()
    (tmp_path / "words" / "text").write_text("hello")
    (tmp_path / "hello").write_text(HELLO)
    (tmp_path / "hello").chmod(0o700)
    contents = (
        Content("bin/hello", "1", lambda: tmp_path / "hello"),
        Content("components/words", "1", lambda: tmp_path / "words", built=True),
    )
    image = Image("test-hello", "service", native, contents)
    identifier, size = image_daemon.build(image, lambda text: None)
    cleanup.append(image.reference)
    assert identifier.startswith("sha256:")
    assert size > 0
    strict = {"read_only": True, "cap_drop": ["ALL"], "security_opt": ["no-new-privileges"], "network_mode": "none"}
    assert run(image_daemon, identifier, "/opt/lineage-lab/bin/hello", **strict) == "10001:10001 hello"
    assert run(image_daemon, identifier, "stat", "-c", "%u", "/opt/lineage-lab/bin/hello", **strict) == "0"


@pytest.mark.parametrize("folder", ["volumes", "scratch", "files"])
def test_a_new_volume_is_writable_for_the_labs_user(native, image_daemon, folder):
    path = f"/var/lib/lineage-lab/{folder}"
    owner = run(image_daemon, native.reference, "sh", "-c", f"touch {path}/x && stat -c %u {path}/x", volumes=[path])
    assert owner == "10001"


def test_the_probe_runs_in_the_image(native, image_daemon):
    with pytest.raises(docker.errors.ContainerError, match="Connection refused"):
        run(image_daemon, native.reference, "/opt/lineage-lab/bin/probe", "127.0.0.1", "1")


def failed_build(image_daemon, cleanup, output):
    """Return the lines of the error of a build whose first step prints `output` and exits with 3."""
    base = "lineage-lab-test/broken:1"
    recipe = f"FROM debian:bookworm-slim\nONBUILD RUN echo '{output}' && exit 3"
    build_dockerfile(image_daemon, recipe, base)
    cleanup.append(base)
    image = Image("test-failed", "service", base)
    with pytest.raises(ImageError) as failed:
        image_daemon.build(image, lambda text: None)
    assert str(failed.value).startswith(f"Building the image {image.reference}: ")
    return str(failed.value).splitlines()


def test_a_failed_step_shows_its_output_and_status(image_daemon, cleanup):
    first, *output = failed_build(image_daemon, cleanup, "this is broken")
    assert "non-zero code: 3" in first
    assert "  | this is broken" in output
    assert output[-1].startswith("Remedy: ")


@pytest.mark.parametrize(
    ("output", "remedy"),
    [
        ("write /x: no space left on device", "images remove --old"),
        ("E: Unable to fetch some archives", "give containers access to Debian"),
    ],
)
def test_known_causes_of_a_failed_build_have_a_remedy(image_daemon, cleanup, output, remedy):
    assert remedy in failed_build(image_daemon, cleanup, output)[-1]


def test_a_missing_artifact_is_reported_before_the_build_starts(image_daemon, artifacts):
    kafka = Recipes(Contents(artifacts, PROJECT)).image_for(Service("kafka", Java("kafka", "kafka.Kafka", 64)))
    with pytest.raises(ArtifactError, match=r"Looking for kafka jars: (?s:.*)lab setup"):
        image_daemon.build(kafka, lambda text: None)


def test_a_missing_base_image_is_reported_with_the_remedy(image_daemon):
    with pytest.raises(ImageError, match="docker pull lineage-lab-test/missing:1") as failed:
        image_daemon.require_base("lineage-lab-test/missing:1")
    assert "--base IMAGE" in str(failed.value)


def test_an_existing_image_is_not_built_again_and_its_identifier_is_recorded(native, image_daemon, artifacts, cleanup):
    images = Images(artifacts, native.base_reference)
    part = Service("minio", Binary("minio"))
    image = Recipes(Contents(artifacts, PROJECT), native.base_reference).image_for(part)
    empty = Image(image.name, "service", native)
    image_daemon.build(empty, lambda text: None)
    image_daemon.client.images.get(empty.reference).tag(image.reference)
    cleanup += [empty.reference, image.reference]
    assert images.build([part], image_daemon, PlainProgress(io.StringIO())) == []
    assert images.identifier(image.reference) == image_daemon.client.images.get(empty.reference).id
    listed = {one.reference: one for one in images.list_images([part], image_daemon)}
    assert listed[image.reference].required
    assert not listed[empty.reference].required


def test_an_image_in_use_is_not_removed(native, image_daemon):
    container = image_daemon.client.containers.create(native.reference, "true")
    try:
        with pytest.raises(ImageError, match="lab down"):
            image_daemon.remove([native.reference])
    finally:
        container.remove()
    assert native.reference in image_daemon.identifiers()


def test_the_images_of_a_lab_take_at_most_3_gb(image_daemon):
    artifacts, settings = Artifacts.open(), stack_settings("docker")
    parts = services_and_tasks("docker", settings, artifacts)
    required = {image.reference for image in Images(artifacts).required_images(parts)}
    if missing := required - image_daemon.identifiers().keys():
        pytest.skip(f"{len(missing)} images are not built: bin/lab images build --stack docker")
    assert image_daemon.disk_bytes(required) <= 3_000_000_000


@dataclass(frozen=True)
class RestrictedDaemon(ImageDaemon):
    """A daemon that lists only the images of these tests, so that removal does not affect others."""

    def stored_images(self):
        return [image for image in super().stored_images() if image.references and TESTS.match(image.references[0])]


def build_labelled(image_daemon, name):
    recipe = f"FROM debian:bookworm-slim\nLABEL {NAME_LABEL}={name}"
    return build_dockerfile(image_daemon, recipe, f"lineage-lab-test/{name}:1")


def test_removed_images_are_deleted_from_the_record_and_others_are_not(image_daemon, artifacts, base_image):
    record = ImageRecord.in_cache(artifacts.cache)
    identifier = build_labelled(image_daemon, "unused")
    record.write({"lineage-lab-test/unused:1": identifier, "lineage-lab/elsewhere:1": "sha256:elsewhere"})
    assert Images(artifacts).remove(RestrictedDaemon(image_daemon.client)) == ["lineage-lab-test/unused:1"]
    assert record.identifiers() == {"lineage-lab/elsewhere:1": "sha256:elsewhere"}
    assert identifier not in {image.identifier for image in image_daemon.stored_images()}


def test_an_image_in_use_stays_in_the_record(image_daemon, artifacts, cleanup, base_image):
    record = ImageRecord.in_cache(artifacts.cache)
    identifier = build_labelled(image_daemon, "used")
    cleanup.append("lineage-lab-test/used:1")
    record.write({"lineage-lab-test/used:1": identifier})
    container = image_daemon.client.containers.create(identifier, "true")
    try:
        with pytest.raises(ImageError, match="lab down"):
            Images(artifacts).remove(RestrictedDaemon(image_daemon.client))
    finally:
        container.remove()
    assert record.identifiers() == {"lineage-lab-test/used:1": identifier}


def test_an_image_without_a_tag_is_listed_and_removed(image_daemon, cleanup, base_image):
    def build_version(version):
        recipe = f"FROM debian:bookworm-slim\nLABEL {NAME_LABEL}=test-renamed version={version}"
        return build_dockerfile(image_daemon, recipe, "lineage-lab-test/one:1")

    first, second = build_version(1), build_version(2)
    cleanup.append("lineage-lab-test/one:1")
    found = {image.identifier: image.references for image in image_daemon.stored_images()}
    assert found[first] == ()
    assert found[second] == ("lineage-lab-test/one:1",)
    image_daemon.remove([first])
    assert first not in {image.identifier for image in image_daemon.stored_images()}


def test_build_stages_are_removed(image_daemon, base_image):
    label = f"{STAGE_LABEL}-test"  # stages of parallel builds have the other label
    recipe = f"FROM debian:bookworm-slim\nLABEL {label}=test\nRUN touch /stage"
    stage = build_dockerfile(image_daemon, recipe)
    image_daemon.remove_stages(label)
    with pytest.raises(docker.errors.ImageNotFound):
        image_daemon.client.images.get(stage)


def test_every_build_stage_has_the_label_for_its_removal():
    staged = [text for text in (path.read_text() for path in FOLDER.glob("*.Dockerfile")) if " AS " in text]
    assert len(staged) == 2
    assert all(text.count(" AS ") == text.count(f"LABEL {STAGE_LABEL}=") for text in staged)
