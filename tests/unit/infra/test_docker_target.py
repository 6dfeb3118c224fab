# SPDX-License-Identifier: Apache-2.0
"""Rendering of the Docker target and its registration with Pulumi; `test_snapshots.py` compares the full output."""

import asyncio
import functools
import subprocess
from dataclasses import replace
from pathlib import Path

import pulumi
import pytest

from infra.catalog import ENDPOINTS, LabSettings, build_lab
from infra.errors import LabError
from infra.model import Binary, Java, Probe, PublicImage, Resource, Service, Task
from infra.project import PROJECT
from infra.services import kafka
from infra.services.marquez import api as marquez
from infra.services.marquez import web as marquez_web
from infra.targets.container_paths import FILES, PROBE, VOLUMES
from infra.targets.declarations import outputs
from infra.targets.docker import names
from infra.targets.docker.inputs import go_duration
from infra.targets.docker.registration import DockerResourceFactory
from infra.targets.docker.script import MAX_SCRIPT_BYTES, start_script
from infra.targets.labels import CREDENTIALS_LABEL, DEFINITION_LABEL, ROLE_LABEL, STACK_LABEL, stack_labels
from infra.targets.launch_script import Launcher
from infra.targets.local.site import LocalSite
from infra.targets.local.target import LocalTarget
from infra.targets.registration import register_resources
from infra.user_files import UserFiles, read_user_files
from tests.unit.infra.rendered_labs import (
    CREDENTIALS,
    DOCKER_LAUNCHER,
    IMAGE_PROGRAMS,
    OFFSET,
    docker_lab,
    docker_resources,
    docker_target,
)

RENDERED = docker_resources(docker_target())
WITH_MARQUEZ = docker_resources(docker_target(settings=LabSettings(target="docker", marquez=True, port_offset=OFFSET)))
SERVICES = [key.removeprefix("container/") for key in RENDERED if key.startswith("container/")]
DAEMON = "unix:///run/another.sock"
PUBLIC_IMAGES = ["marquez", "marquez_web"]
TASKS = [key for key, found in RENDERED.items() if found.kind == "Container" and not key.startswith("container/")]


def container(name, rendered=RENDERED):
    key = f"container/{name}"
    return rendered[key if key in rendered else name].inputs


def labels(inputs):
    return {known.label: known.value for known in inputs.labels}


def test_marquez_adds_its_resources_and_changes_only_lineage_host_and_environment_file():
    changed = {key for key, found in WITH_MARQUEZ.items() if RENDERED.get(key) != found}
    added = {"image/marquez", "image/marquez_web", "container/marquez", "container/marquez_web"}
    assert changed == {*added, "marquez", "marquez_web", "database/marquez", "container/lineage", "docker", "lab.env"}
    assert RENDERED.keys() < WITH_MARQUEZ.keys()


@pytest.mark.parametrize("rendered", [RENDERED, WITH_MARQUEZ], ids=["default", "with Marquez"])
def test_the_host_requires_every_image_that_the_lab_builds(rendered):
    images = {found.inputs.image for key, found in rendered.items() if found.kind == "Container"}
    public = {found.inputs.name for found in rendered.values() if found.kind == "RemoteImage"}
    assert set(rendered["docker"].inputs.images.values()) == images - public


@pytest.mark.parametrize("rendered", [RENDERED, WITH_MARQUEZ], ids=["default", "with Marquez"])
def test_published_ports_are_ordered_as_the_vendors_plugin_reads_them(rendered):
    for key, found in rendered.items():
        if found.kind == "Container" and found.inputs.ports:
            ports = [port.internal for port in found.inputs.ports]
            assert ports == sorted(ports), key


@pytest.mark.parametrize("rendered", [RENDERED, WITH_MARQUEZ], ids=["default", "with Marquez"])
def test_every_dependency_is_rendered(rendered):
    assert {need for resource in rendered.values() for need in resource.needs} <= rendered.keys()


def test_dependants_of_a_service_depend_on_its_readiness():
    assert RENDERED["kafka"].kind == "ContainerReady"
    assert RENDERED["kafka"].needs == ("container/kafka",)
    assert "kafka" in RENDERED["container/connect"].needs
    assert RENDERED["topic/orders"].needs == ("kafka",)


def test_resources_inside_services_equal_those_of_the_local_target():
    """Ids and addresses inside the network differ."""
    settings = LabSettings(port_offset=OFFSET)
    local_site = LocalSite(
        root=Path("/project/.lab/dev"), port_offset=OFFSET, endpoints=ENDPOINTS, programs=IMAGE_PROGRAMS
    )
    launcher = Launcher(IMAGE_PROGRAMS, PROJECT, Path("/project/.lab/dev/credentials.env"))
    wanted = build_lab(local_site, settings, UserFiles(flink=read_user_files(PROJECT).flink))
    local = {found.key: found for found in LocalTarget(local_site, launcher, settings).render(wanted)}
    inside = [key for key, found in local.items() if found.kind not in {"Process", "Supervisor"}]
    assert {"topic/orders", "bucket/warehouse", "connector/orders_source", "lab.env"} <= set(inside)
    assert set(inside) <= RENDERED.keys()
    differing = {"cluster", "definition", "notes", "config"}
    for key in inside:
        on_docker, on_local = RENDERED[key].inputs.properties(), local[key].inputs.properties()
        assert {**on_docker, **dict.fromkeys(differing)} == {**on_local, **dict.fromkeys(differing)}


def test_ports_are_published_on_loopback_only_and_shifted_by_the_offset():
    published = [port for name in SERVICES for port in container(name).ports or []]
    assert published
    assert {port.ip for port in published} == {"127.0.0.1"}
    assert len({port.external for port in published}) == len(published)
    wanted = RENDERED["docker"].inputs.ports
    assert sorted(wanted.values()) == sorted(port.external for port in published)
    assert wanted["kafka broker"] == 9192
    found = outputs(docker_lab(docker_target()), docker_target().site)
    assert (found["lineage"], found["kafka"]) == ("http://127.0.0.1:5100", "127.0.0.1:9192")


def test_private_and_internal_ports_are_not_published():
    inside = {port.internal for name in SERVICES for port in container(name).ports or []}
    assert not {9093, 8082, 6123} & inside  # Kafka's controller, the registry's management, Flink's RPC


def test_kafka_advertises_an_inside_and_an_outside_listener():
    script = container("kafka").command[-1]
    assert "advertised.listeners=INSIDE://kafka:9092,OUTSIDE://127.0.0.1:9192\n" in script
    (published,) = container("kafka").ports
    assert f"OUTSIDE://0.0.0.0:{published.internal}," in script
    assert "CONTROLLER://127.0.0.1:9093" in script


def test_host_names_have_no_underscore():
    """Java rejects URIs with an underscore in the host name."""
    hosts = [alias for name in SERVICES for known in container(name).networks_advanced for alias in known.aliases]
    assert "flink-jobmanager" in hosts
    assert not [host for host in hosts if "_" in host]
    assert "http://schema-registry:8081" in container("orders_etl").command[-1]


def test_spark_cluster_members_advertise_their_host_names():
    """The address that they bind, 0.0.0.0, cannot be advertised."""
    rendered = docker_resources(
        docker_target(settings=LabSettings(target="docker", spark="cluster", port_offset=OFFSET))
    )
    master, worker = (container(name, rendered).command[-1] for name in ("spark_master", "spark_worker"))
    assert "  --host \\\n  spark-master \\\n" in master
    assert "  --host \\\n  spark-worker \\\n" in worker
    assert "  spark://spark-master:7077\n" in worker
    driver = container("supplier_stats", rendered).command[-1]
    assert "spark.driver.host=supplier-stats\n" in driver
    assert "spark.driver.bindAddress=0.0.0.0\n" in driver


def test_two_stacks_share_no_names_ports_volumes_or_cluster_ids():
    other = docker_resources(docker_target("other", LabSettings(target="docker", port_offset=OFFSET + 1000)))

    def names_and_ports(rendered):
        of_docker = [resource.inputs for resource in rendered.values() if not isinstance(resource.inputs, Resource)]
        named = [inputs for inputs in of_docker if hasattr(inputs, "name")]
        found = {inputs.name for inputs in named}
        found |= {port.external for inputs in named for port in getattr(inputs, "ports", None) or []}
        return found | {mount.volume_name for inputs in named for mount in getattr(inputs, "volumes", ())} - {None}

    assert not names_and_ports(RENDERED) & names_and_ports(other)
    clusters = {rendered["topic/orders"].inputs.cluster for rendered in (RENDERED, other)}
    assert len(clusters) == 2


def test_stacks_of_the_same_name_in_two_checkouts_have_different_labels():
    assert stack_labels("dev", Path("/a")) != stack_labels("dev", Path("/b"))


@pytest.mark.parametrize("name", [*SERVICES, *TASKS, *PUBLIC_IMAGES])
def test_containers_are_unprivileged_and_limited(name):
    inputs = container(name, WITH_MARQUEZ)
    assert inputs.read_only
    assert inputs.user == "10001:10001"
    assert inputs.capabilities.drops == ["ALL"]
    assert inputs.security_opts == ("no-new-privileges",)
    assert inputs.memory == inputs.memory_swap > 0
    assert labels(inputs)[STACK_LABEL] == "dev"
    properties = inputs.properties()
    assert not {"privileged", "ulimits", "envs", "mounts", "uploads"} & properties.keys()


@pytest.mark.parametrize("name", [*SERVICES, *TASKS, *PUBLIC_IMAGES])
def test_only_containers_with_secrets_mount_the_credentials(name):
    """The container's definition has the path of the file; the process reads it at its start."""
    inputs = container(name, WITH_MARQUEZ)
    mounts = [mount for mount in inputs.volumes if mount.container_path == "/run/lineage-lab"]
    resource = WITH_MARQUEZ[name if name in TASKS else f"container/{name}"]
    assert bool(mounts) == resource.secret == (f". {CREDENTIALS}" in inputs.command[-1])
    assert all(mount.read_only for mount in mounts)


@pytest.mark.parametrize("name", PUBLIC_IMAGES)
def test_the_start_script_of_a_public_image_ends_with_its_entry_point(name):
    image, inputs = WITH_MARQUEZ[f"image/{name}"], container(name, WITH_MARQUEZ)
    assert (image.kind, image.inputs.name, image.inputs.keep_locally) == ("RemoteImage", inputs.image, True)
    assert f"image/{name}" in WITH_MARQUEZ[f"container/{name}"].needs
    assert inputs.entrypoints == ["/bin/sh", "-c"]
    (script,) = inputs.command
    assert script.endswith("\nexec /usr/src/app/entrypoint.sh\n")


def test_the_labs_images_need_no_entry_point_and_are_not_pulled():
    assert {container(name).entrypoints for name in (*SERVICES, *TASKS)} == {None}
    assert "RemoteImage" not in {resource.kind for resource in RENDERED.values()}


def test_a_public_image_is_probed_with_its_own_wget():
    probe = WITH_MARQUEZ["marquez"].inputs.probe
    assert probe == [*names.PUBLIC_IMAGE_PROBE, "http://127.0.0.1:5002/api/v1/namespaces"]
    assert container("marquez", WITH_MARQUEZ).healthcheck.tests == ["CMD", *probe]
    assert WITH_MARQUEZ["marquez_web"].inputs.probe[-1] == "http://127.0.0.1:3000/"


def test_a_public_image_without_an_http_probe_is_rejected():
    service = Service("kafka", PublicImage("some/kafka:1", "/run"), endpoints=kafka.ENDPOINTS, ready=Probe("broker"))
    with pytest.raises(LabError, match="kafka is a public image, and its probe has no HTTP path"):
        docker_target().containers.probe(service)


def test_marquez_and_its_page_have_ports_of_their_own():
    settings = LabSettings(target="docker", marquez=True, spark="cluster", spark_history=True, port_offset=OFFSET)
    target = docker_target(settings=settings)
    ports = [port for found in docker_resources(target).values() for port in getattr(found.inputs, "ports", None) or []]
    published = [port.external for port in ports if not isinstance(port, str)]
    assert len(set(published)) == len(published)
    found = outputs(docker_lab(target), target.site)
    assert (found["marquez"], found["marquez_web"]) == ("http://127.0.0.1:5102", "http://127.0.0.1:3100")
    assert {int(url.rpartition(":")[2]) for name, url in found.items() if "marquez" in name} <= set(published)


def test_a_user_jar_of_marquez_replaces_the_public_images():
    settings = LabSettings(target="docker", marquez=True, marquez_jar="~/my/marquez-api.jar")
    rendered = docker_resources(docker_target(settings=settings))
    assert "  /opt/lineage-lab/jars/marquez-api.jar \\\n" in container("marquez", rendered).command[-1]
    assert not {"image/marquez", "marquez_web"} & rendered.keys()


def test_containers_of_tasks_are_created_but_not_started():
    assert "supplier_stats" in TASKS
    assert {(container(name).start, container(name).must_run, container(name).restart) for name in TASKS} == {
        (False, False, "no")
    }
    assert {labels(container(name))[ROLE_LABEL] for name in TASKS} == {"task"}
    assert {container(name).start for name in SERVICES} == {True}


def test_a_service_that_may_exit_is_restarted_on_failure_only():
    assert container("supplier_windows").restart == "on-failure"
    assert RENDERED["supplier_windows"].inputs.may_exit
    assert container("kafka").restart == "unless-stopped"


def test_health_check_and_readiness_run_the_same_probe():
    assert container("kafka").healthcheck.tests == ["CMD", *RENDERED["kafka"].inputs.probe]
    assert RENDERED["schema_registry"].inputs.probe == [PROBE, "127.0.0.1", "8082", "/health/ready"]
    assert container("shop").healthcheck is None
    assert RENDERED["shop"].inputs.probe == []


def test_every_change_of_a_container_changes_its_definition_label():
    """The vendor's plugin would store a changed stop timeout in the state without applying it to the container."""
    renderer = docker_target().containers
    task = Task("example", Binary("true"))
    changed = replace(task, stop_seconds=task.stop_seconds + 1)
    found = [labels(renderer.container(part))[DEFINITION_LABEL] for part in (task, changed, task)]
    assert found[0] == found[2] != found[1]


def test_a_changed_image_of_the_launcher_restarts_its_flink_jobs():
    other = docker_resources(docker_target(image=lambda part: "lineage-lab/other:made"))
    definitions = {rendered["flink_job/supplier_windows"].inputs.definition for rendered in (RENDERED, other)}
    assert len(definitions) == 2


@pytest.mark.parametrize("text", ["one\ntwo\n", "$HOME `id` \\ 'quoted' \"twice\"\n", "a\nEND_OF_FILE\nb\n", ""])
def test_start_script_writes_files_unchanged(tmp_path, text):
    part = Task("example", Binary("true"), files={"a.conf": text})
    script = start_script(part, Launcher(SystemPrograms(), tmp_path, tmp_path / "credentials.env"))
    subprocess.run(["/bin/sh", "-c", script.replace(FILES, str(tmp_path))], check=True, timeout=60)
    assert (tmp_path / "a.conf").read_text() == text or (text, (tmp_path / "a.conf").read_text()) == ("", "\n")


class SystemPrograms:
    """Programs of this machine."""

    def binary(self, name):
        return Path("/bin") / name


def test_start_script_creates_the_folders_of_volumes(tmp_path):
    part = Service("example", Binary("true"), volumes=("data", "more"))
    script = start_script(part, Launcher(SystemPrograms(), tmp_path, tmp_path / "credentials.env"))
    subprocess.run(["/bin/sh", "-c", script.replace(VOLUMES, str(tmp_path))], check=True, timeout=60)
    assert {path.name for path in tmp_path.iterdir()} == {"data", "more"}


def test_files_above_the_size_limit_of_a_start_script_are_rejected():
    part = Task("example", Binary("true"), files={"big.sql": "x" * MAX_SCRIPT_BYTES})
    with pytest.raises(LabError, match=r"example has 127 KiB of files \(big\.sql\)"):
        start_script(part, DOCKER_LAUNCHER)


def test_start_script_runs_a_user_jar_from_the_image():
    script = start_script(Service("marquez", Java("marquez", "a.Main", 1, jar="~/my/marquez-api.jar")), DOCKER_LAUNCHER)
    assert "  /opt/lineage-lab/jars/marquez-api.jar \\\n" in script


@pytest.mark.parametrize(("seconds", "text"), [(15, "15s"), (60, "1m0s"), (135, "2m15s"), (3600, "1h0m0s")])
def test_go_duration_formats_like_the_daemon(seconds, text):
    assert go_duration(seconds) == text


class RecordingMocks(pulumi.runtime.Mocks):
    """Records registered resources; the output `name` of networks and volumes differs from the input."""

    def __init__(self):
        self.registered = {}

    def new_resource(self, args):
        self.registered[args.name] = args
        renamed = {"name": f"{args.inputs['name']}!"} if args.typ.endswith((":Network", ":Volume")) else {}
        image = {"imageId": f"sha256 of {args.inputs['name']}"} if args.typ.endswith(":RemoteImage") else {}
        return f"id of {args.name}", {**args.inputs, **renamed, **image, "fingerprint": "F"}

    def call(self, args):
        return {}


def register_lab(target):
    """Register the resources of a lab and return their arguments by name."""
    mocks = RecordingMocks()

    @pulumi.runtime.test
    def program():
        register_resources(target.render(docker_lab(target)), DockerResourceFactory(DAEMON))

    # Pulumi's mocks use the current event loop of the thread, which `asyncio.run` in other tests leaves unset.
    asyncio.set_event_loop(event_loop())
    pulumi.runtime.set_mocks(mocks, project="lineage-lab", stack="dev")
    program()
    return mocks.registered


@functools.cache
def event_loop():
    """Event loop of Pulumi's mocks; never closed, as its threads have loops of their own that they do not close."""
    return asyncio.new_event_loop()


@pytest.fixture(scope="module")
def registered():
    """Arguments of the resources of a default lab, by name."""
    return register_lab(docker_target())


def test_every_rendered_resource_is_registered(registered):
    assert registered.keys() == RENDERED.keys() | {"daemon"}
    assert registered["topic/orders"].typ == "labkit:index:Topic"
    assert registered["container/kafka"].typ == "docker:index/container:Container"
    assert registered["daemon"].inputs == {"host": DAEMON}


def test_a_container_is_registered_with_its_rendered_inputs(registered):
    rendered = RENDERED["container/kafka"].inputs.properties()
    inputs = registered["container/kafka"].inputs
    same = rendered.keys() - {"networksAdvanced", "volumes"}
    assert {name: inputs[name] for name in same} == {name: rendered[name] for name in same}


def test_a_container_takes_the_names_of_network_and_volumes_from_their_outputs(registered):
    inputs = registered["container/kafka"].inputs
    assert [network["name"] for network in inputs["networksAdvanced"]] == ["lineage-lab-dev!"]
    assert {mount.get("volumeName") for mount in inputs["volumes"]} == {None, "lineage-lab-dev-kafka!"}


def test_containers_with_secrets_have_the_fingerprint_of_the_credentials_as_label(registered):
    def fingerprints(name):
        return [label["value"] for label in registered[name].inputs["labels"] if label["label"] == CREDENTIALS_LABEL]

    assert fingerprints("container/connect") == fingerprints("supplier_stats") == ["F"]
    assert fingerprints("container/kafka") == []
    assert registered["credentials/volume"].inputs["fingerprint"] == "F"


def test_readiness_refers_to_the_id_of_the_container(registered):
    assert registered["kafka"].inputs["container"] == "id of container/kafka"


def test_a_container_of_a_public_image_refers_to_the_image_by_identifier():
    """A name would replace the container on every refresh."""
    registered = register_lab(docker_target(settings=LabSettings(target="docker", marquez=True)))
    assert registered["image/marquez"].typ == "docker:index/remoteImage:RemoteImage"
    assert registered["image/marquez"].inputs == {"name": marquez.IMAGE, "keepLocally": True}
    assert registered["container/marquez"].inputs["image"] == f"sha256 of {marquez.IMAGE}"
    assert registered["container/marquez_web"].inputs["image"] == f"sha256 of {marquez_web.IMAGE}"
    assert registered["container/lineage"].inputs["image"] == "lineage-lab/lineage:made"
