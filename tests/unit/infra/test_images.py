# SPDX-License-Identifier: Apache-2.0
"""Composition of the lab's images, their tags and build contexts, and the probe command."""

import http.server
import io
import re
import shutil
import socket
import ssl
import subprocess
import tarfile
from contextlib import closing

import docker
import pytest

from infra.model import Binary, Java, PublicImage, Python, Service
from infra.project import PROJECT
from infra.security import certificates
from infra.security.certificate_files import AUTHORITY, CHAIN
from infra.targets.docker.images import Images, wheels
from infra.targets.docker.images.contents import PROBE, Content, Contents
from infra.targets.docker.images.context import context_stream
from infra.targets.docker.images.daemon import ImageDaemon, platform_mismatch
from infra.targets.docker.images.errors import ImageError
from infra.targets.docker.images.recipes import DEFAULT_BASE, FOLDER, Image, Recipes, image_name
from infra.targets.docker.images.record import ImageRecord
from infra.toolchain import Artifacts, venvs
from infra.toolchain.errors import ArtifactError
from infra.toolchain.progress import PlainProgress
from tests.unit.infra.http_server import serving

BASH = shutil.which("bash")
RECIPES = sorted(FOLDER.glob("*.Dockerfile"))


@pytest.fixture
def artifacts(tmp_path):
    """An empty download cache."""
    return Artifacts.open(tmp_path / "cache")


@pytest.fixture
def project(tmp_path):
    """A checkout with two programs, of which one imports a module of the other's package."""
    for name, text in {
        "shop/__init__.py": "",
        "shop/prices.py": "PRICE = 1\n",
        "till.py": "from shop import prices\n",
        "other.py": "import json\n",
        "till.json": "{}\n",
    }.items():
        (tmp_path / "project" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "project" / name).write_text(text)
    return tmp_path / "project"


@pytest.fixture
def recipes(artifacts, project):
    return Recipes(Contents(artifacts, project))


def service(name, run):
    return Service(name, run)


def chain_names(image):
    return [known.name for known in image.chain()]


KAFKA = service("kafka", Java("kafka", "kafka.Kafka", 64))
TILL = service("till", Python("till", reads=("till.json",)))
OTHER = service("other", Python("other"))


def test_a_reference_requires_neither_daemon_nor_artifacts(artifacts):
    assert re.fullmatch(r"lineage-lab/kafka:[0-9a-f]{12}", Images(artifacts).image_for(KAFKA))


def test_references_do_not_depend_on_the_download_cache(artifacts, tmp_path):
    elsewhere = Artifacts.open(tmp_path / "another")
    assert Images(artifacts).image_for(KAFKA) == Images(elsewhere).image_for(KAFKA)


def test_every_image_is_built_on_the_chosen_base(artifacts):
    chosen = Images(artifacts, "example/debian:12").required_images([KAFKA])
    assert chosen[0].base_reference == "example/debian:12"
    assert {image.key for image in chosen}.isdisjoint(image.key for image in Images(artifacts).required_images([KAFKA]))


@pytest.mark.parametrize(
    ("run", "chain"),
    [
        (Java("kafka", "kafka.Kafka", 64), ["native", "jvm", "kafka"]),
        (Java("apicurio-registry", "Main", 64, runtime=21), ["native", "apicurio-registry"]),
        (Binary("minio"), ["native", "minio"]),
        (Binary("initdb", component="postgres"), ["native", "postgres"]),
        (Python("till"), ["native", "jvm", "python", "python-kit", "part"]),
        (Python("till", components=("supplier-windows",)), ["native", "jvm", "python", "python-kit", "part"]),
        (Java("flink", "Main", 64), ["native", "jvm", "python", "python-kit", "flink"]),
        (
            Python("till", components=("flink", "flink-sql-lineage"), java=True),
            ["native", "jvm", "python", "python-kit", "flink", "part"],
        ),
        (
            Python("till", environment="spark", components=("spark",), java=True),
            ["native", "jvm", "python", "python-spark", "spark", "spark-class-data", "part"],
        ),
        (
            Java("flink", "Main", 64, packages=("pyflink",)),
            ["native", "jvm", "python", "python-kit", "flink", "flink-pyflink"],
        ),
        (
            Python("till", environment="spark", packages=("pandas",), components=("spark",), java=True),
            [
                *("native", "jvm", "python", "python-spark", "spark", "spark-class-data"),
                *("spark-class-data-pandas", "part"),
            ],
        ),
    ],
)
def test_images_build_on_shared_images(recipes, run, chain):
    assert chain_names(recipes.image_for(service("part", run))) == chain


def test_shared_images_are_listed_once(artifacts):
    flink = Java("flink", "Main", 64)
    launcher = Python("infra.namespaces", components=("flink",), java=True)
    parts = [service("one", flink), service("two", flink), service("job", launcher), KAFKA]
    needed = Images(artifacts).required_images(parts)
    assert [image.name for image in needed] == ["native", "jvm", "python", "python-kit", "flink", "job", "kafka"]


@pytest.mark.parametrize(
    ("changed", "same"), [("infra/namespaces.py", True), ("jobs/spark/class_data_training.py", False)]
)
def test_only_the_training_job_changes_the_key_of_the_class_data_image(artifacts, tmp_path, changed, same):
    kit = tmp_path / "kit"
    for folder in ("infra", "jobs"):
        shutil.copytree(PROJECT / folder, kit / folder, ignore=shutil.ignore_patterns("__pycache__", "*.jar"))
    contents = Contents(artifacts, kit)
    before = contents.training(kit)
    (kit / changed).write_text((kit / changed).read_text() + "CHANGED = 1\n")
    after = Contents(artifacts, kit).training(kit)
    assert f"project/{changed}" in {content.destination for content in after}
    assert ([content.key for content in before] == [content.key for content in after]) is same


def test_a_public_image_is_not_built(artifacts, recipes):
    page = service("page", PublicImage("some/page:1", "/run"))
    assert [image.name for image in Images(artifacts).required_images([page, KAFKA])] == ["native", "jvm", "kafka"]
    with pytest.raises(ValueError, match="page is the public image some/page:1"):
        recipes.image_for(page)


@pytest.fixture
def unreachable_daemon():
    """A daemon at a port that is bound but refuses connections."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        with closing(docker.DockerClient(f"tcp://127.0.0.1:{bound.getsockname()[1]}", version="1.41")) as client:
            yield ImageDaemon(client)


def test_a_failed_pull_names_image_and_remedies(unreachable_daemon):
    with pytest.raises(ImageError) as raised:
        unreachable_daemon.pull("some/page:1", "go without it")
    for words in (
        "Pulling the public image some/page:1: ",
        "access to the registry",
        "`docker load`",
        "; or go without it",
    ):
        assert words in str(raised.value)


def test_pull_without_public_images_sends_no_request(artifacts, unreachable_daemon):
    assert Images(artifacts).pull([KAFKA], unreachable_daemon, PlainProgress(io.StringIO())) == []


def test_pull_looks_up_public_images_by_name(artifacts, unreachable_daemon):
    page = service("page", PublicImage("some/page:1", "/run"))
    with pytest.raises(ImageError, match="Looking up the image some/page:1"):
        Images(artifacts).pull([KAFKA, page], unreachable_daemon, PlainProgress(io.StringIO()))


def test_the_image_of_connect_contains_its_plugins(recipes):
    image = recipes.image_for(service("connect", Java("connect", "Main", 64, components=("connect-file",))))
    assert [content.destination for content in image.contents] == ["components/connect", "components/connect-file"]


def test_a_python_image_contains_only_imported_modules_and_read_files(recipes):
    destinations = [content.destination for content in recipes.image_for(TILL).contents]
    assert destinations == [
        "project/shop/__init__.py",
        "project/shop/prices.py",
        "project/till.json",
        "project/till.py",
    ]


@pytest.mark.parametrize("changed", ["shop/prices.py", "till.json"])
def test_a_changed_source_changes_only_the_images_that_contain_it(artifacts, project, changed):
    def keys():
        fresh = Recipes(Contents(artifacts, project))
        return [fresh.image_for(part).key for part in (TILL, OTHER, KAFKA)]

    before = keys()
    (project / changed).write_text("CHANGED = 1\n")
    after = keys()
    assert [one == other for one, other in zip(before, after, strict=True)] == [False, True, True]


def test_a_user_jar_is_part_of_the_image_and_its_key(artifacts, project):
    own = service("own", Java("marquez", "Main", 64, jar="own.jar"))
    images = []
    for content in (b"one", b"two"):
        (project / "own.jar").write_bytes(content)
        images.append(Recipes(Contents(artifacts, project)).image_for(own))
    assert [[content.destination for content in image.contents] for image in images] == [["jars/own.jar"]] * 2
    assert images[0].key != images[1].key


@pytest.mark.parametrize(
    ("part", "name"), [("orders_etl", "orders-etl"), ("Mine", "mine"), ("_a__b-", "a-b"), ("v1.2", "v1-2")]
)
def test_image_names_are_valid_for_docker(part, name):
    assert image_name(part) == name


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.name)
def test_dockerfiles_use_no_buildkit_syntax(path):
    text = path.read_text()
    assert not re.search(r"^#\s*syntax\s*=", text, re.MULTILINE)
    assert not re.search(r"--(mount|link|chmod|security|network)\b|<<", text)


def context_files(image):
    with tarfile.open(fileobj=io.BytesIO(b"".join(context_stream(image)))) as archive:
        return {member.name: member for member in archive}


def image_with(*contents):
    return Image("some", "service", DEFAULT_BASE, contents)


def content(destination, path, built=False):
    return Content(destination, "key", lambda: path, built)


def test_a_context_has_the_dockerfile_and_both_folders_even_if_empty():
    files = context_files(image_with())
    assert sorted(files) == ["Dockerfile", "built", "pinned"]
    assert files["built"].isdir()


def test_a_context_excludes_caches_and_manifests(tmp_path):
    folder = tmp_path / "kafka-123"
    for name in ("lib/a.jar", "lib/__pycache__/a.pyc", ".stamp.json", "bin/run"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    (folder / "bin" / "run").chmod(0o700)
    (folder / "lib" / "a.jar").chmod(0o600)
    (folder / "lib" / "link").symlink_to("a.jar")
    files = context_files(image_with(content("components/kafka", folder)))
    root = "pinned/components/kafka"
    assert {name for name in files if name.startswith(root)} == {
        *(root, f"{root}/bin", f"{root}/bin/run", f"{root}/lib", f"{root}/lib/a.jar", f"{root}/lib/link")
    }
    assert files[f"{root}/lib/link"].linkname == "a.jar"
    assert (files[f"{root}/bin/run"].mode, files[f"{root}/lib/a.jar"].mode) == (0o755, 0o644)
    assert {(file.uid, file.gid) for file in files.values()} == {(0, 0)}


def test_a_context_supports_large_files_and_long_names(tmp_path):
    path = tmp_path / "large"
    path.write_bytes(bytes(range(256)) * 9000)
    name = "/".join(["components", "x" * 120, "y" * 120])
    data = io.BytesIO(b"".join(context_stream(image_with(content(name, path, built=True)))))
    with tarfile.open(fileobj=data) as archive:
        found = archive.extractfile(f"built/{name}")
        assert found is not None
        assert found.read() == path.read_bytes()


def test_equal_contents_give_equal_contexts(tmp_path):
    streams = []
    for folder in (tmp_path / "one", tmp_path / "two"):
        folder.mkdir()
        for name in ("b", "a") if folder.name == "one" else ("a", "b"):
            (folder / name).write_text(name)
        streams.append(b"".join(context_stream(image_with(content("components/some", folder)))))
    assert streams[0] == streams[1]


def test_a_context_with_a_missing_artifact_names_the_set_up_command(artifacts):
    image = Recipes(Contents(artifacts, FOLDER)).image_for(KAFKA)
    with pytest.raises(ArtifactError, match="lab setup"):
        list(context_stream(image))


def test_identifier_returns_the_recorded_identifier(artifacts):
    images = Images(artifacts)
    reference = images.image_for(KAFKA)
    assert images.identifier(reference) is None
    ImageRecord.in_cache(artifacts.cache).write({reference: "sha256:abc"})
    assert images.identifier(reference) == "sha256:abc"


@pytest.mark.parametrize("text", ["{", "[]", ""])
def test_a_damaged_record_is_empty(artifacts, text):
    record = ImageRecord.in_cache(artifacts.cache)
    record.path.write_text(text)
    assert record.identifiers() == {}


def test_wheel_platforms_exclude_systems_newer_than_the_images():
    platforms = list(wheels.wheel_platforms("x86_64"))
    assert platforms[0] == "manylinux_2_36_x86_64"
    assert {"manylinux2014_x86_64", "manylinux1_x86_64"} < set(platforms)


@pytest.mark.parametrize("name", ["a-1-py3-none-any.whl", "a-1-cp311-cp311-linux_x86_64.whl", "a-1-cp39-abi3-any.whl"])
def test_compatible_wheels_are_accepted(tmp_path, name):
    (tmp_path / name).touch()
    wheels.require_compatible_wheels("Downloading", tmp_path)


@pytest.mark.parametrize("name", ["a-1-cp312-cp312-linux_x86_64.whl", "a-1.zip"])
def test_a_wheel_for_another_python_is_rejected_by_name(tmp_path, name):
    (tmp_path / name).touch()
    with pytest.raises(ArtifactError, match=re.escape(name)):
        wheels.require_compatible_wheels("Downloading", tmp_path)


@pytest.mark.parametrize(
    ("environment", "package"), [(name, each) for name, given in wheels.HOST_ONLY.items() for each in given]
)
def test_a_package_for_the_host_is_locked_and_imported_by_pulumis_program_alone(environment, package):
    lock = venvs.ENVIRONMENTS[environment].lock_files[-1]
    assert re.search(rf"^{package.replace('_', '-')}==", lock.read_text(), re.MULTILINE)
    importing = re.compile(rf"^\s*(import|from) {package}\b", re.MULTILINE)
    sources = [
        path for folder in ("infra", "integrations", "jobs", "lineage") for path in (PROJECT / folder).rglob("*.py")
    ]
    found = {str(path.relative_to(PROJECT)) for path in sources if importing.search(path.read_text())}
    assert found == {"infra/targets/kubernetes/registration.py"}


def test_wheels_for_the_host_are_removed_and_no_others(tmp_path):
    kept = ["pulumi-3-py3-none-any.whl", "pulumi_docker-5-py3-none-any.whl"]
    for name in (*kept, "pulumi_kubernetes-4-py3-none-any.whl"):
        (tmp_path / name).touch()
    wheels.remove_host_only("spark", tmp_path)
    assert len(list(tmp_path.iterdir())) == 3
    wheels.remove_host_only("kit", tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == kept


@pytest.mark.parametrize("machine", ["x86_64", "amd64"])
def test_a_daemon_of_the_same_platform_has_no_mismatch(machine):
    assert platform_mismatch({"Os": "linux", "Arch": "amd64"}, "Linux", machine) == ""


@pytest.mark.parametrize(("system", "machine"), [("Darwin", "arm64"), ("Linux", "aarch64")])
def test_another_system_or_processor_is_a_mismatch(system, machine):
    reason = platform_mismatch({"Os": "linux", "Arch": "amd64"}, system, machine)
    assert f"linux/amd64, but the programs of the download cache are for {system.lower()}/arm64" in reason


def test_start_docker_reports_why_a_daemon_cannot_be_installed():
    script = f'. {PROJECT}/.ci/docker; start_docker; echo "$? $DOCKER_ERROR"'
    done = subprocess.run(
        [BASH, "-c", script], env={"PATH": "/nonexistent", "HOME": "/"}, capture_output=True, text=True
    )
    assert done.stdout == "1 no Docker: no daemon responds, and without apt-get none can be installed\n"


class HealthHandler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200 if self.path == "/healthy" else 503)
        self.end_headers()

    def log_message(self, *args):
        """Do not log requests."""


@pytest.fixture
def port():
    with serving(HealthHandler) as running:
        yield running.server_port


def probe(port, *path):
    return subprocess.run([PROBE, "127.0.0.1", str(port), *path], capture_output=True, text=True)


def test_the_probe_succeeds_if_the_port_accepts_connections(port):
    assert probe(port).returncode == 0


def test_the_probe_succeeds_if_the_path_responds_with_2xx(port):
    assert probe(port, "/healthy").returncode == 0


def test_the_probe_prints_a_response_other_than_2xx(port):
    done = probe(port, "/failing")
    assert (done.returncode, done.stderr) == (1, "/failing responded with: HTTP/1.0 503 Service Unavailable\n")


def test_the_probe_fails_if_the_port_refuses_connections():
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        assert probe(bound.getsockname()[1]).returncode != 0


@pytest.fixture
def certified(tmp_path):
    """Folder of the certificates of a service of this machine, and of one elsewhere, by another authority."""
    certificates.ensure(tmp_path / "own", {"lineage": ()})
    certificates.ensure(tmp_path / "other", {"lineage": ()})
    return tmp_path


@pytest.fixture
def encrypted_port(certified):
    with serving(HealthHandler) as running:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certified / "own" / "lineage" / CHAIN)
        running.socket = context.wrap_socket(running.socket, server_side=True)
        yield running.server_port


def test_the_probe_checks_the_certificate(certified, encrypted_port):
    authority = str(certified / "own" / AUTHORITY)
    assert probe(encrypted_port, "/healthy", authority).returncode == 0
    done = probe(encrypted_port, "/failing", authority)
    assert done.returncode == 1
    # openssl may add an error of its own when the server closes the connection.
    assert "/failing responded with: HTTP/1.0 503 Service Unavailable\n" in done.stderr


def test_the_probe_refuses_the_certificate_of_another_authority(certified, encrypted_port):
    done = probe(encrypted_port, "/healthy", str(certified / "other" / AUTHORITY))
    assert done.returncode != 0
    assert "certificate verify failed" in done.stderr


def test_the_probe_refuses_a_service_without_tls(certified, port):
    assert probe(port, "/healthy", str(certified / "own" / AUTHORITY)).returncode != 0


def test_every_dockerfile_is_used(recipes):
    driver = service("driver", Python("till", environment="spark", components=("spark",), java=True))
    parts = [KAFKA, TILL, driver]
    used = {image.dockerfile for part in parts for image in recipes.image_for(part).chain()}
    assert used == set(RECIPES)
