# SPDX-License-Identifier: Apache-2.0
"""Rendering of the Docker target, and what of it is registered with Pulumi; `test_snapshots.py` compares all of it."""

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
from infra.targets.declarations import outputs
from infra.targets.docker import names
from infra.targets.docker.inputs import go_duration
from infra.targets.docker.registration import DockerResourceFactory
from infra.targets.docker.script import MAX_SCRIPT_BYTES, start_script
from infra.targets.launch_script import Launcher
from infra.targets.local.site import LocalSite
from infra.targets.local.target import LocalTarget
from infra.targets.registration import register
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
PUBLIC = ["marquez", "marquez_web"]
TASKS = [key for key, found in RENDERED.items() if found.kind == "Container" and not key.startswith("container/")]


def container(name, rendered=RENDERED):
    key = f"container/{name}"
    return rendered[key if key in rendered else name].inputs


def labels(inputs):
    return {known.label: known.value for known in inputs.labels}


def test_with_marquez_nothing_else_is_changed():
    changed = {key for key, found in WITH_MARQUEZ.items() if RENDERED.get(key) != found}
    added = {"image/marquez", "image/marquez_web", "container/marquez", "container/marquez_web"}
    assert changed == {*added, "marquez", "marquez_web", "database/marquez", "container/lineage", "docker", "lab.env"}
    assert RENDERED.keys() < WITH_MARQUEZ.keys()


@pytest.mark.parametrize("rendered", [RENDERED, WITH_MARQUEZ], ids=["as it comes", "with Marquez"])
def test_every_need_is_something_that_is_made(rendered):
    assert {need for resource in rendered.values() for need in resource.needs} <= rendered.keys()


def test_what_needs_a_service_waits_until_it_is_ready():
    assert RENDERED["kafka"].kind == "ContainerReady"
    assert RENDERED["kafka"].needs == ("container/kafka",)
    assert "kafka" in RENDERED["container/connect"].needs
    assert RENDERED["topic/orders"].needs == ("kafka",)


def test_what_lives_inside_services_is_asked_for_as_on_this_machine():
    """But for ids and the addresses that parts know each other by."""
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
    own = {"cluster", "definition", "notes", "config"}
    for key in inside:
        ours, theirs = RENDERED[key].inputs.properties(), local[key].inputs.properties()
        assert {**ours, **dict.fromkeys(own)} == {**theirs, **dict.fromkeys(own)}


def test_ports_are_published_on_loopback_alone_and_moved_by_the_offset():
    published = [port for name in SERVICES for port in container(name).ports or []]
    assert published
    assert {port.ip for port in published} == {"127.0.0.1"}
    assert len({port.external for port in published}) == len(published)
    wanted = RENDERED["docker"].inputs.ports
    assert sorted(wanted.values()) == sorted(port.external for port in published)
    assert wanted["kafka broker"] == 9192
    found = outputs(docker_lab(docker_target()), docker_target().site)
    assert (found["lineage"], found["kafka"]) == ("http://127.0.0.1:5100", "127.0.0.1:9192")


def test_what_is_private_or_of_no_interest_outside_stays_inside():
    inside = {port.internal for name in SERVICES for port in container(name).ports or []}
    assert not {9093, 8082, 6123} & inside  # Kafka's controller, the registry's management, Flink's RPC


def test_kafka_sends_each_client_to_where_it_came_from():
    script = container("kafka").command[-1]
    assert "advertised.listeners=INSIDE://kafka:9092,OUTSIDE://127.0.0.1:9192\n" in script
    (published,) = container("kafka").ports
    assert f"OUTSIDE://0.0.0.0:{published.internal}," in script
    assert "CONTROLLER://127.0.0.1:9093" in script


def test_hosts_have_no_underscore():
    """Java takes no URI with one."""
    hosts = [alias for name in SERVICES for known in container(name).networks_advanced for alias in known.aliases]
    assert "flink-jobmanager" in hosts
    assert not [host for host in hosts if "_" in host]
    assert "http://schema-registry:8081" in container("orders_etl").command[-1]


def test_a_cluster_of_sparks_meets_by_name():
    """Master, worker and drivers tell each other where they are: an address of all interfaces would be no place."""
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


def test_two_stacks_share_nothing_but_images():
    other = docker_resources(docker_target("other", LabSettings(target="docker", port_offset=OFFSET + 1000)))

    def of(rendered):
        of_docker = [resource.inputs for resource in rendered.values() if not isinstance(resource.inputs, Resource)]
        ours = [inputs for inputs in of_docker if hasattr(inputs, "name")]
        found = {inputs.name for inputs in ours}
        found |= {port.external for inputs in ours for port in getattr(inputs, "ports", None) or []}
        return found | {mount.volume_name for inputs in ours for mount in getattr(inputs, "volumes", ())} - {None}

    assert not of(RENDERED) & of(other)
    clusters = {rendered["topic/orders"].inputs.cluster for rendered in (RENDERED, other)}
    assert len(clusters) == 2


def test_a_stack_of_that_name_of_another_checkout_has_other_labels():
    assert names.stack_labels("dev", Path("/a")) != names.stack_labels("dev", Path("/b"))


@pytest.mark.parametrize("name", [*SERVICES, *TASKS, *PUBLIC])
def test_a_container_may_do_no_more_than_it_must(name):
    inputs = container(name, WITH_MARQUEZ)
    assert inputs.read_only
    assert inputs.user == "10001:10001"
    assert inputs.capabilities.drops == ["ALL"]
    assert inputs.security_opts == ("no-new-privileges",)
    assert inputs.memory == inputs.memory_swap > 0
    assert labels(inputs)[names.STACK_LABEL] == "dev"
    properties = inputs.properties()
    assert not {"privileged", "ulimits", "envs", "mounts", "uploads"} & properties.keys()


@pytest.mark.parametrize("name", [*SERVICES, *TASKS, *PUBLIC])
def test_credentials_are_where_they_are_needed_and_only_there(name):
    """The container's definition names the file; what is in it, the process reads when it starts."""
    made = container(name, WITH_MARQUEZ)
    keys = [mount for mount in made.volumes if mount.container_path == "/run/lineage-lab"]
    resource = WITH_MARQUEZ[name if name in TASKS else f"container/{name}"]
    assert bool(keys) == resource.secret == (f". {CREDENTIALS}" in made.command[-1])
    assert all(mount.read_only for mount in keys)


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_image_is_pulled_first_and_its_own_entry_point_comes_last(name):
    image, made = WITH_MARQUEZ[f"image/{name}"], container(name, WITH_MARQUEZ)
    assert (image.kind, image.inputs.name, image.inputs.keep_locally) == ("RemoteImage", made.image, True)
    assert f"image/{name}" in WITH_MARQUEZ[f"container/{name}"].needs
    assert made.entrypoints == ["/bin/sh", "-c"]
    (script,) = made.command
    assert script.endswith("\nexec /usr/src/app/entrypoint.sh\n")


def test_images_of_the_labs_own_have_no_entry_point_in_the_way_and_are_not_pulled():
    assert {container(name).entrypoints for name in (*SERVICES, *TASKS)} == {None}
    assert "RemoteImage" not in {resource.kind for resource in RENDERED.values()}


def test_a_public_image_is_probed_by_what_it_has_itself():
    probe = WITH_MARQUEZ["marquez"].inputs.probe
    assert probe == [*names.PUBLIC_IMAGE_PROBE, "http://127.0.0.1:5002/api/v1/namespaces"]
    assert container("marquez", WITH_MARQUEZ).healthcheck.tests == ["CMD", *probe]
    assert WITH_MARQUEZ["marquez_web"].inputs.probe[-1] == "http://127.0.0.1:3000/"


def test_a_public_image_cannot_be_probed_but_by_http():
    service = Service("kafka", PublicImage("some/kafka:1", "/run"), endpoints=kafka.ENDPOINTS, ready=Probe("broker"))
    with pytest.raises(LabError, match="kafka is a public image, and its probe has no HTTP path"):
        docker_target().containers.probe(service)


def test_marquez_and_its_page_are_found_at_ports_that_nobody_else_has():
    settings = LabSettings(target="docker", marquez=True, spark="cluster", spark_history=True, port_offset=OFFSET)
    made = docker_target(settings=settings)
    ports = [port for found in docker_resources(made).values() for port in getattr(found.inputs, "ports", None) or []]
    published = [port.external for port in ports if not isinstance(port, str)]
    assert len(set(published)) == len(published)
    found = outputs(docker_lab(made), made.site)
    assert (found["marquez"], found["marquez_web"]) == ("http://127.0.0.1:5102", "http://127.0.0.1:3100")
    assert {int(url.rpartition(":")[2]) for name, url in found.items() if "marquez" in name} <= set(published)


def test_a_jar_of_the_users_is_run_in_place_of_the_published_images():
    settings = LabSettings(target="docker", marquez=True, marquez_jar="~/my/marquez-api.jar")
    rendered = docker_resources(docker_target(settings=settings))
    assert "  /opt/lineage-lab/jars/marquez-api.jar \\\n" in container("marquez", rendered).command[-1]
    assert not {"image/marquez", "marquez_web"} & rendered.keys()


def test_tasks_are_made_and_not_started():
    assert "supplier_stats" in TASKS
    assert {(container(name).start, container(name).must_run, container(name).restart) for name in TASKS} == {
        (False, False, "no")
    }
    assert {labels(container(name))[names.ROLE_LABEL] for name in TASKS} == {"task"}
    assert {container(name).start for name in SERVICES} == {True}


def test_a_service_that_may_end_well_is_not_started_again():
    assert container("supplier_windows").restart == "on-failure"
    assert RENDERED["supplier_windows"].inputs.may_exit
    assert container("kafka").restart == "unless-stopped"


def test_a_service_is_probed_as_it_listens_and_by_one_command():
    assert container("kafka").healthcheck.tests == ["CMD", *RENDERED["kafka"].inputs.probe]
    assert RENDERED["schema_registry"].inputs.probe == [names.PROBE, "127.0.0.1", "8082", "/health/ready"]
    assert container("shop").healthcheck is None
    assert RENDERED["shop"].inputs.probe == []


def test_whatever_changes_a_container_makes_a_new_one():
    """The vendor's plugin would take a changed time to stop into the state, and not to the container."""
    renderer = docker_target().containers
    task = Task("own", Binary("true"))
    changed = replace(task, stop_seconds=task.stop_seconds + 1)
    found = [labels(renderer.container(part))[names.DEFINITION_LABEL] for part in (task, changed, task)]
    assert found[0] == found[2] != found[1]


def test_a_job_of_flinks_starts_anew_with_its_launchers_image():
    other = docker_resources(docker_target(image=lambda part: "lineage-lab/other:made"))
    definitions = {rendered["flink_job/supplier_windows"].inputs.definition for rendered in (RENDERED, other)}
    assert len(definitions) == 2


@pytest.mark.parametrize("text", ["one\ntwo\n", "$HOME `id` \\ 'quoted' \"twice\"\n", "a\nEND_OF_FILE\nb\n", ""])
def test_files_arrive_as_they_are(tmp_path, text):
    part = Task("own", Binary("true"), files={"a.conf": text})
    script = start_script(part, Launcher(Here(), tmp_path, tmp_path / "keys"))
    subprocess.run(["/bin/sh", "-c", script.replace(names.FILES, str(tmp_path))], check=True, timeout=60)
    assert (tmp_path / "a.conf").read_text() == text or (text, (tmp_path / "a.conf").read_text()) == ("", "\n")


class Here:
    def binary(self, name):
        return Path("/bin") / name


def test_a_service_finds_the_folders_of_its_volumes(tmp_path):
    part = Service("own", Binary("true"), volumes=("data", "more"))
    script = start_script(part, Launcher(Here(), tmp_path, tmp_path / "keys"))
    subprocess.run(["/bin/sh", "-c", script.replace(names.VOLUMES, str(tmp_path))], check=True, timeout=60)
    assert {path.name for path in tmp_path.iterdir()} == {"data", "more"}


def test_files_that_no_container_can_be_handed_are_refused():
    part = Task("own", Binary("true"), files={"big.sql": "x" * MAX_SCRIPT_BYTES})
    with pytest.raises(LabError, match=r"own has 127 KiB of files \(big\.sql\)"):
        start_script(part, DOCKER_LAUNCHER)


def test_a_jar_of_the_users_is_where_the_image_has_it():
    script = start_script(Service("marquez", Java("marquez", "a.Main", 1, jar="~/my/marquez-api.jar")), DOCKER_LAUNCHER)
    assert "  /opt/lineage-lab/jars/marquez-api.jar \\\n" in script


@pytest.mark.parametrize(("seconds", "text"), [(15, "15s"), (60, "1m0s"), (135, "2m15s"), (3600, "1h0m0s")])
def test_durations_are_spelled_as_the_daemon_does(seconds, text):
    assert go_duration(seconds) == text


class Mocks(pulumi.runtime.Mocks):
    """Notes what Pulumi is told; of a network's or a volume's name it makes another, as an output may be."""

    def __init__(self):
        self.told = {}

    def new_resource(self, args):
        self.told[args.name] = args
        renamed = {"name": f"{args.inputs['name']}!"} if args.typ.endswith((":Network", ":Volume")) else {}
        learnt = {"imageId": f"sha256 of {args.inputs['name']}"} if args.typ.endswith(":RemoteImage") else {}
        return f"id of {args.name}", {**args.inputs, **renamed, **learnt, "fingerprint": "F"}

    def call(self, args):
        return {}


def told_of(target):
    """Everything that Pulumi is told of a lab: name -> arguments."""
    mocks = Mocks()
    pulumi.runtime.set_mocks(mocks, project="lineage-lab", stack="dev")

    @pulumi.runtime.test
    def program():
        register(target.render(docker_lab(target)), DockerResourceFactory())

    program()
    return mocks.told


@pytest.fixture(scope="module")
def told():
    return told_of(docker_target())


def test_pulumi_is_told_of_all_that_is_rendered(told):
    assert told.keys() == RENDERED.keys() | {"daemon"}
    assert told["topic/orders"].typ == "labkit:index:Topic"
    assert told["container/kafka"].typ == "docker:index/container:Container"
    assert told["daemon"].inputs["disableDockerDaemonCheck"] == "true"


def test_what_it_is_told_is_what_was_rendered(told):
    rendered = RENDERED["container/lineage"].inputs.properties()
    given = told["container/lineage"].inputs
    same = rendered.keys() - {"networksAdvanced", "volumes"}
    assert {name: given[name] for name in same} == {name: rendered[name] for name in same}


def test_a_container_hangs_on_its_network_and_its_volumes(told):
    given = told["container/kafka"].inputs
    assert [known["name"] for known in given["networksAdvanced"]] == ["lineage-lab-dev!"]
    assert {mount.get("volumeName") for mount in given["volumes"]} == {None, "lineage-lab-dev-kafka!"}


def test_a_changed_credential_makes_a_new_container_of_what_reads_it(told):
    def fingerprints(name):
        return [known["value"] for known in told[name].inputs["labels"] if known["label"] == names.CREDENTIALS_LABEL]

    assert fingerprints("container/connect") == fingerprints("supplier_stats") == ["F"]
    assert fingerprints("container/kafka") == []
    assert told["credentials/volume"].inputs["fingerprint"] == "F"


def test_a_new_container_is_waited_for(told):
    assert told["kafka"].inputs["container"] == "id of container/kafka"


def test_a_container_of_a_public_image_is_told_its_identifier():
    """By its name it would be replaced at each refresh."""
    told = told_of(docker_target(settings=LabSettings(target="docker", marquez=True)))
    assert told["image/marquez"].typ == "docker:index/remoteImage:RemoteImage"
    assert told["image/marquez"].inputs == {"name": marquez.IMAGE, "keepLocally": True}
    assert told["container/marquez"].inputs["image"] == f"sha256 of {marquez.IMAGE}"
    assert told["container/marquez_web"].inputs["image"] == f"sha256 of {marquez_web.IMAGE}"
    assert told["container/lineage"].inputs["image"] == "lineage-lab/lineage:made"
