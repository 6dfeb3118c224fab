# SPDX-License-Identifier: Apache-2.0
"""A whole lab on Docker. The order matters: each test finds the lab as the one before has left it, up and right.

Pulumi's engine, the daemon, images and services are real; in the place of the vendor's plugin, which a machine
without its registry cannot have, is the stand-in of `tests/docker/plugin`.
"""

import json
import socket
import subprocess

import pytest

from infra import credentials
from infra.namespaces import JOB_SUPPLIER_STATS, SHOP_TOPICS
from infra.project import CREDENTIALS_FILE, PULUMI_STATE
from infra.services import iceberg_catalog, kafka, schema_registry
from infra.services.connect import worker as connect
from infra.services.shop import writer as shop
from infra.targets.docker.names import PART_LABEL, USER, container_name, stack_labels
from lineage.checks.diff.compare import diff_graphs
from tests.docker.conftest import SCRIPT
from tests.docker.docker_lab import DockerLab
from tests.smoke.delivery import await_delivery, read_delivery
from tests.smoke.lab_under_test import LOCAL_GRAPH, LabUnderTest
from tests.stack_files import SMOKE_DOCKER

pytestmark = pytest.mark.smoke

NOT_OURS = 3
"""How `.ci/docker restart` ends where the daemon is somebody else's."""


@pytest.fixture(scope="module")
def nothing(daemon, base_image, stand_in):
    """The lab that is not there: what a test leaves of it is taken away."""
    with DockerLab(daemon).configured() as lab:
        yield lab


@pytest.fixture(scope="module")
def local_graph(request):
    """The graph of a local lab: of the smoke tests' one where that ran in this session, else of one made for it."""
    if (known := request.config.stash.get(LOCAL_GRAPH, None)) is not None:
        return known
    with LabUnderTest().configured() as local:
        ended = local.lab("up")
        assert ended.status == 0, ended.text
        return local.graph()


@pytest.fixture(scope="module")
def lab(nothing, local_graph):
    """The lab, up. The local one has gone by then: two at once are too much for a small machine."""
    nothing.first_up = nothing.lab("up")
    assert nothing.first_up.status == 0, nothing.first_up.text
    return nothing


def restart_daemon():
    """Of a daemon that is not the tests' own the containers of others would go down, too."""
    done = subprocess.run([SCRIPT, "restart"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode == NOT_OURS:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stderr


def one_screen(text):
    """What a user is told: no traceback, and no more than fits a screen."""
    assert "Traceback" not in text
    assert len(text.splitlines()) <= 50, text
    return text


def test_without_a_daemon_up_says_so_and_what_to_do(nothing, monkeypatch, tmp_path):
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path / 'nobody.sock'}")
    ended = nothing.lab("up")
    assert ended.status == 1
    text = one_screen(ended.text)
    assert f"the Docker daemon at unix://{tmp_path / 'nobody.sock'} cannot be reached" in text
    assert "Start it" in text


def test_a_taken_port_is_named_before_anything_runs(nothing):
    port = kafka.BROKER.port + nothing.settings.port_offset
    with socket.create_server(("127.0.0.1", port)):
        ended = nothing.lab("up")
    assert ended.status == 1
    text = ended.text
    assert "Traceback" not in text
    assert str(port) in text
    assert "portOffset" in text
    assert nothing.containers() == {}


def test_up_stands_the_lab_up_and_its_lineage_is_right(lab):
    assert "as the contract says" in lab.first_up.text
    assert {found.status for found in lab.services().values()} == {"running"}
    assert lab.lab("verify").status == 0


def test_the_graph_is_that_of_a_local_lab(lab, local_graph):
    assert diff_graphs(local_graph, lab.graph()).changes == ()


def test_containers_can_do_no_more_than_they_must(lab):
    containers = lab.containers()
    assert len(containers) >= 10
    for found in containers.values():
        config, host = found.attrs["Config"], found.attrs["HostConfig"]
        assert config["Image"].startswith("sha256:"), found.name
        assert config["User"] == f"{USER}:{USER}", found.name
        assert (host["CapDrop"], host["CapAdd"], host["Privileged"]) == (["ALL"], None, False), found.name
        assert host["SecurityOpt"] == ["no-new-privileges"], found.name
        assert host["ReadonlyRootfs"] is True, found.name
        assert host["Memory"] > 0, found.name
        bound = [binding["HostIp"] for bindings in (host["PortBindings"] or {}).values() for binding in bindings]
        assert set(bound) <= {"127.0.0.1"}, found.name


def test_credentials_are_in_nothing_that_docker_or_pulumi_shows(lab):
    secrets = set(credentials.read(lab.root / CREDENTIALS_FILE).values())
    shown = [json.dumps(found.attrs) for found in lab.containers().values()]
    shown += [path.read_text() for path in PULUMI_STATE.rglob("*.json")]
    assert secrets
    assert [secret for secret in secrets for text in shown if secret in text] == []


def test_the_commands_work_as_on_a_local_lab(lab):
    status = lab.lab("status")
    assert status.status == 0
    assert all(name in status.text for name in lab.containers())
    assert lab.lab("logs", kafka.NAME).text.strip()
    assert lab.lab("run", JOB_SUPPLIER_STATS).status == 0
    assert lab.lab("doctor").status == 0


def test_a_second_up_touches_nothing(lab):
    before = lab.lives()
    ended = lab.lab("up")
    assert ended.status == 0
    assert "created" not in ended.text
    assert "updated" not in ended.text
    assert "replaced" not in ended.text
    assert lab.lives() == before


def test_a_killed_and_a_removed_container_are_repaired_and_no_other_is_touched(lab):
    before = lab.ids()
    lab.containers()[schema_registry.NAME].kill()
    lab.containers()[iceberg_catalog.NAME].remove(force=True, v=True)
    ended = lab.lab("up")
    assert ended.status == 0, ended.text
    after = lab.ids()
    assert after.pop(iceberg_catalog.NAME) != before.pop(iceberg_catalog.NAME)
    assert after == before
    assert {lab.containers()[name].status for name in (schema_registry.NAME, iceberg_catalog.NAME)} == {"running"}


def test_an_up_that_was_interrupted_goes_on(lab):
    before = lab.ids()
    old = lab.containers()[connect.NAME]
    old.remove(force=True, v=True)

    def made_anew():
        found = lab.containers().get(connect.NAME)
        return found is not None and found.id != old.id and found.status == "running"

    ended = lab.interrupted("up", made_anew)
    assert ended.status != 0
    assert "Traceback" not in ended.text
    made = lab.containers()[connect.NAME].id
    ended = lab.lab("up")
    assert ended.status == 0, ended.text
    after = lab.ids()
    assert after.pop(connect.NAME) == made
    before.pop(connect.NAME)
    assert after == before


def test_what_a_killed_up_has_left_behind_is_no_obstacle(lab):
    """An engine that is killed while a container is being made leaves one that its state does not have."""
    old = lab.containers()[schema_registry.NAME]
    image = old.attrs["Config"]["Image"]
    old.remove(force=True, v=True)
    name = container_name(SMOKE_DOCKER, schema_registry.NAME)
    left = lab.daemon.containers.create(
        image, ["true"], name=name, labels={**stack_labels(SMOKE_DOCKER), PART_LABEL: schema_registry.NAME}
    )
    ended = lab.lab("up")
    assert ended.status == 0, ended.text
    found = lab.daemon.containers.get(name)
    assert found.id != left.id
    assert found.status == "running"


def test_data_outlive_a_restart_of_the_daemon(lab):
    before, graph = {topic: read_delivery(lab.stores, topic) for topic in SHOP_TOPICS}, lab.graph()
    assert all(each.rows and each.records for each in before.values())
    restart_daemon()
    ended = lab.lab("up")
    assert ended.status == 0, ended.text
    assert lab.lab("stop", shop.NAME).status == 0
    after = await_delivery(lab.stores)
    assert [each.differences for each in after.values()] == [[], []]
    for topic, old in before.items():
        assert old.rows <= after[topic].rows
        assert old.records <= after[topic].records
        assert old.lake.keys() <= after[topic].lake.keys()
        assert old.archive.keys() <= after[topic].archive.keys()
    assert diff_graphs(graph, lab.graph()).changes == ()
    assert lab.lab("start", shop.NAME).status == 0


def test_down_leaves_nothing_but_the_images(lab):
    images = {found.attrs["Config"]["Image"] for found in lab.containers().values()}
    ended = lab.lab("down")
    assert ended.status == 0, ended.text
    assert lab.left() == set()
    assert not lab.root.exists()
    assert {lab.daemon.images.get(image).id for image in images} == images
