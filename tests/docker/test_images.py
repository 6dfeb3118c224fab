# SPDX-License-Identifier: Apache-2.0
"""Images built by a real daemon: what is in them, what is built again, and what fails how."""

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
from infra.targets.docker.images.daemon import NAME_LABEL, STAGE_LABEL, ImageDaemon, ImageError
from infra.targets.docker.images.recipes import FOLDER, Image, Recipes
from infra.targets.docker.images.record import ImageRecord
from infra.toolchain import Artifacts
from infra.toolchain.errors import ArtifactError
from infra.toolchain.progress import PlainProgress

TESTS = re.compile("lineage-lab-test/")
HELLO = '#!/bin/sh\necho "$(id -u):$(id -g) $(cat /opt/lineage-lab/components/words/text)"\n'


@pytest.fixture
def engine(daemon, base_image):
    return ImageDaemon(daemon)


@pytest.fixture
def artifacts(tmp_path):
    """A download cache with two programs, made by hand."""
    return Artifacts.open(tmp_path / "cache")


@pytest.fixture
def removed(daemon):
    """References that a test has made, and nobody else: they are gone after it."""
    references = []
    yield references
    for reference in reversed(references):
        daemon.images.remove(reference)


@pytest.fixture
def native(artifacts, engine, removed):
    """What every image of the lab begins with, of a base of the test's own: nobody else's is touched."""
    base = "lineage-lab-test/base:1"
    engine.client.images.get("debian:bookworm-slim").tag(base)
    removed.append(base)
    image = Recipes(Contents(artifacts, PROJECT), base).image_for(Service("minio", Binary("minio"))).base
    assert isinstance(image, Image)
    engine.build(image, lambda text: None)
    removed.append(image.reference)
    return image


def built_of(engine, recipe, tag=None):
    """The identifier of an image of a recipe that needs no context; no container of its steps is left."""
    image, _ = engine.client.images.build(fileobj=io.BytesIO(recipe.encode()), tag=tag, rm=True, forcerm=True)
    return image.id


def run(engine, reference, *words, **options):
    return engine.client.containers.run(reference, list(words), remove=True, **options).decode().strip()


def test_a_service_runs_as_the_labs_user_on_a_root_it_cannot_write_to(native, engine, removed, tmp_path):
    (tmp_path / "words").mkdir()
    (tmp_path / "words" / "text").write_text("hello")
    (tmp_path / "hello").write_text(HELLO)
    (tmp_path / "hello").chmod(0o700)
    contents = (
        Content("bin/hello", "1", lambda: tmp_path / "hello"),
        Content("components/words", "1", lambda: tmp_path / "words", built=True),
    )
    image = Image("test-hello", "service", native, contents)
    identifier, size = engine.build(image, lambda text: None)
    removed.append(image.reference)
    assert identifier.startswith("sha256:")
    assert size > 0
    strict = {"read_only": True, "cap_drop": ["ALL"], "security_opt": ["no-new-privileges"], "network_mode": "none"}
    assert run(engine, identifier, "/opt/lineage-lab/bin/hello", **strict) == "10001:10001 hello"
    assert run(engine, identifier, "stat", "-c", "%u", "/opt/lineage-lab/bin/hello", **strict) == "0"


@pytest.mark.parametrize("folder", ["volumes", "scratch", "files"])
def test_a_volume_belongs_to_the_labs_user_from_the_start(native, engine, folder):
    place = f"/var/lib/lineage-lab/{folder}"
    written = run(engine, native.reference, "sh", "-c", f"touch {place}/x && stat -c %u {place}/x", volumes=[place])
    assert written == "10001"


def test_the_probe_is_there(native, engine):
    with pytest.raises(docker.errors.ContainerError, match="Connection refused"):
        run(engine, native.reference, "/opt/lineage-lab/bin/probe", "127.0.0.1", "1")


def fails_with(engine, removed, output):
    """The error of a build whose first step prints `output` and ends with 3."""
    base = "lineage-lab-test/broken:1"
    recipe = f"FROM debian:bookworm-slim\nONBUILD RUN echo '{output}' && exit 3"
    built_of(engine, recipe, base)
    removed.append(base)
    image = Image("test-failed", "service", base)
    with pytest.raises(ImageError) as failed:
        engine.build(image, lambda text: None)
    assert str(failed.value).startswith(f"Building the image {image.reference}: ")
    return str(failed.value).splitlines()


def test_a_failed_step_shows_its_output_and_status(engine, removed):
    first, *output = fails_with(engine, removed, "this is broken")
    assert "non-zero code: 3" in first
    assert "  | this is broken" in output
    assert output[-1].startswith("Remedy: ")


@pytest.mark.parametrize(
    ("output", "remedy"),
    [
        ("write /x: no space left on device", "images remove --old"),
        ("E: Unable to fetch some archives", "let containers reach Debian"),
    ],
)
def test_a_known_cause_has_its_own_remedy(engine, removed, output, remedy):
    assert remedy in fails_with(engine, removed, output)[-1]


def test_what_is_not_set_up_is_named_before_the_daemon_is_asked(engine, artifacts):
    kafka = Recipes(Contents(artifacts, PROJECT)).image_for(Service("kafka", Java("kafka", "kafka.Kafka", 64)))
    with pytest.raises(ArtifactError, match=r"Looking for kafka jars: (?s:.*)lab setup"):
        engine.build(kafka, lambda text: None)


def test_a_base_that_is_not_to_be_had_is_named_with_the_remedy(engine):
    with pytest.raises(ImageError, match="docker pull lineage-lab-test/nowhere:1") as failed:
        engine.require_base("lineage-lab-test/nowhere:1")
    assert "--base IMAGE" in str(failed.value)


def test_what_is_there_is_not_built_again_and_its_identifier_is_recorded(native, engine, artifacts, removed):
    images = Images(artifacts, native.base_reference)
    part = Service("minio", Binary("minio"))
    image = Recipes(Contents(artifacts, PROJECT), native.base_reference).image_for(part)
    hollow = Image(image.name, "service", native)
    engine.build(hollow, lambda text: None)
    engine.client.images.get(hollow.reference).tag(image.reference)
    removed += [hollow.reference, image.reference]
    assert images.build([part], engine, PlainProgress(io.StringIO())) == []
    assert images.identifier(image.reference) == engine.client.images.get(hollow.reference).id
    listed = {one.reference: one for one in images.list_images([part], engine)}
    assert listed[image.reference].required
    assert not listed[hollow.reference].required


def test_an_image_that_a_container_was_made_of_is_kept(native, engine):
    container = engine.client.containers.create(native.reference, "true")
    try:
        with pytest.raises(ImageError, match="lab down"):
            engine.remove([native.reference])
    finally:
        container.remove()
    assert native.reference in engine.identifiers()


def test_the_images_of_a_lab_share_so_much_that_they_fit_into_3_gb(engine):
    artifacts, settings = Artifacts.open(), stack_settings("docker")
    parts = services_and_tasks("docker", settings, artifacts)
    wanted = {image.reference for image in Images(artifacts).required_images(parts)}
    if missing := wanted - engine.identifiers().keys():
        pytest.skip(f"{len(missing)} images are not built: bin/lab images build --stack docker")
    assert engine.disk_bytes(wanted) <= 3_000_000_000


@dataclass(frozen=True)
class Restricted(ImageDaemon):
    """A daemon that shows images of the tests alone: what removes everything removes nobody else's."""

    def stored_images(self):
        return [image for image in super().stored_images() if image.references and TESTS.match(image.references[0])]


def own_image(engine, name):
    recipe = f"FROM debian:bookworm-slim\nLABEL {NAME_LABEL}={name}"
    return built_of(engine, recipe, f"lineage-lab-test/{name}:1")


def test_removed_images_are_forgotten_and_others_are_not(engine, artifacts, base_image):
    record = ImageRecord.in_cache(artifacts.cache)
    own = own_image(engine, "gone")
    record.write({"lineage-lab-test/gone:1": own, "lineage-lab/elsewhere:1": "sha256:elsewhere"})
    assert Images(artifacts).remove(Restricted(engine.client)) == ["lineage-lab-test/gone:1"]
    assert record.identifiers() == {"lineage-lab/elsewhere:1": "sha256:elsewhere"}
    assert own not in {image.identifier for image in engine.stored_images()}


def test_an_image_in_use_stays_known_when_the_others_are_removed(engine, artifacts, removed, base_image):
    record = ImageRecord.in_cache(artifacts.cache)
    own = own_image(engine, "used")
    removed.append("lineage-lab-test/used:1")
    record.write({"lineage-lab-test/used:1": own})
    container = engine.client.containers.create(own, "true")
    try:
        with pytest.raises(ImageError, match="lab down"):
            Images(artifacts).remove(Restricted(engine.client))
    finally:
        container.remove()
    assert record.identifiers() == {"lineage-lab-test/used:1": own}


def test_an_image_whose_name_another_took_is_found_and_removed(engine, removed, base_image):
    def built(version):
        recipe = f"FROM debian:bookworm-slim\nLABEL {NAME_LABEL}=test-renamed version={version}"
        return built_of(engine, recipe, "lineage-lab-test/one:1")

    first, second = built(1), built(2)
    removed.append("lineage-lab-test/one:1")
    found = {image.identifier: image.references for image in engine.stored_images()}
    assert found[first] == ()
    assert found[second] == ("lineage-lab-test/one:1",)
    engine.remove([first])
    assert first not in {image.identifier for image in engine.stored_images()}


def test_stages_that_builds_left_are_removed(engine, base_image):
    own = f"{STAGE_LABEL}-test"  # not the one of builds that may run beside
    recipe = f"FROM debian:bookworm-slim\nLABEL {own}=test\nRUN touch /left"
    left = built_of(engine, recipe)
    engine.remove_stages(own)
    with pytest.raises(docker.errors.ImageNotFound):
        engine.client.images.get(left)


def test_every_stage_that_builds_leave_bears_the_label_by_which_it_is_removed():
    staged = [text for text in (path.read_text() for path in FOLDER.glob("*.Dockerfile")) if " AS " in text]
    assert len(staged) == 2
    assert all(text.count(" AS ") == text.count(f"LABEL {STAGE_LABEL}=") for text in staged)
