# SPDX-License-Identifier: Apache-2.0
"""End-to-end test of a lab on Docker. The tests share one lab and run in order.

Pulumi's engine, the daemon, images and services are real. The vendor's plugin is replaced by the fake in
`tests/docker/plugin`, as machines without access to the vendor's registry cannot download it.
"""

import json
import socket
import subprocess
from contextlib import contextmanager

import pytest

from infra import credentials
from infra.namespaces import JOB_SUPPLIER_STATS, SHOP_TOPICS
from infra.project import CREDENTIALS_FILE, PULUMI_STATE
from infra.services import iceberg_catalog, kafka, schema_registry
from infra.services.connect import worker as connect
from infra.services.shop import writer as shop
from infra.targets.container_paths import USER
from infra.targets.docker.engine import engine_host
from infra.targets.docker.names import container_name
from infra.targets.labels import PART_LABEL, stack_labels
from lineage.checks.diff.compare import diff_graphs
from tests.docker.docker_lab import DockerLab
from tests.docker_daemon import SCRIPT
from tests.smoke.delivery import await_delivery, read_delivery
from tests.smoke.lab_under_test import LOCAL_GRAPH, LabUnderTest
from tests.stack_files import SMOKE_DOCKER

pytestmark = pytest.mark.smoke

FOREIGN_DAEMON = 3
"""Exit status of `.ci/docker restart` if the script did not start the daemon."""


IMAGES_SECONDS = 1500
"""Time limit of the first `up`, which builds all images: 8 minutes on two idle cores."""


@pytest.fixture(scope="module")
def new_lab(daemon, base_image, fake_plugin):
    """A configured lab before its first `up`; it is removed after the tests."""
    with DockerLab(daemon).configured() as lab:
        yield lab


@pytest.fixture(scope="module")
def local_graph(request):
    """Graph of a local lab: of the smoke tests if they ran in this session, else of a lab started for it."""
    if (known := request.config.stash.get(LOCAL_GRAPH, None)) is not None:
        return known
    with LabUnderTest().configured() as local:
        ended = local.lab("up")
        assert ended.status == 0, ended.text
        return local.graph()


@pytest.fixture(scope="module")
def lab(new_lab, local_graph, tmp_path_factory):
    """The running lab, whose state has an address of the daemon that is gone.

    The local lab is removed first: a small machine has no memory for both.
    """
    with daemon_at(tmp_path_factory.mktemp("first") / "docker.sock"):
        new_lab.first_up = new_lab.lab("up", seconds=IMAGES_SECONDS)
    assert new_lab.first_up.status == 0, new_lab.first_up.text
    return new_lab


@contextmanager
def daemon_at(path):
    """Make the daemon available at another local socket, and select that; does nothing for a remote daemon."""
    scheme, _, original = engine_host().partition("://")
    if scheme != "unix":
        yield
        return
    path.symlink_to(original)
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("DOCKER_HOST", f"unix://{path}")
            yield
    finally:
        path.unlink()


def restart_daemon():
    """Restart the daemon; skip the test if `.ci/docker` did not start it, as others may use it."""
    done = subprocess.run([SCRIPT, "restart"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode == FOREIGN_DAEMON:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stderr


def assert_fits_on_a_screen(text):
    """Check that output has no traceback and at most 50 lines."""
    assert "Traceback" not in text
    assert len(text.splitlines()) <= 50, text


def test_up_without_a_daemon_names_the_socket_and_the_remedy(new_lab, monkeypatch, tmp_path):
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path / 'missing.sock'}")
    ended = new_lab.lab("up")
    assert ended.status == 1
    assert_fits_on_a_screen(ended.text)
    assert f"the Docker daemon at unix://{tmp_path / 'missing.sock'} cannot be reached" in ended.text
    assert "Start it" in ended.text


def test_up_names_a_port_in_use_before_it_builds_images(new_lab):
    port = kafka.BROKER.port + new_lab.settings.port_offset
    with socket.create_server(("127.0.0.1", port)):
        ended = new_lab.lab("up")
    assert ended.status == 1
    assert_fits_on_a_screen(ended.text)
    assert "image" not in ended.text
    assert f"port {port} (kafka broker) is held by" in ended.text
    assert "portOffset" in ended.text
    assert new_lab.containers() == {}


def test_up_starts_every_service_and_the_lineage_matches_the_contract(lab):
    assert "as the contract says" in lab.first_up.text
    assert {found.status for found in lab.services().values()} == {"running"}
    assert lab.lab("verify").status == 0


def test_the_graph_equals_that_of_a_local_lab(lab, local_graph):
    assert diff_graphs(local_graph, lab.graph()).changes == ()


def test_containers_are_unprivileged_and_limited(lab):
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


def test_neither_docker_inspect_nor_pulumi_state_contains_credentials(lab):
    secrets = set(credentials.read(lab.root / CREDENTIALS_FILE).values())
    shown = [json.dumps(found.attrs) for found in lab.containers().values()]
    shown += [path.read_text() for path in PULUMI_STATE.rglob("*.json")]
    assert secrets
    assert [secret for secret in secrets for text in shown if secret in text] == []


def test_status_logs_run_and_doctor_work(lab):
    status = lab.lab("status")
    assert status.status == 0
    assert all(name in status.text for name in lab.containers())
    assert lab.lab("logs", kafka.NAME).text.strip()
    assert lab.lab("run", JOB_SUPPLIER_STATS).status == 0
    assert lab.lab("doctor").status == 0


def test_a_second_up_finds_the_daemon_at_its_new_address_and_changes_no_container(lab):
    before = lab.start_times()
    ended = lab.lab("up")
    assert ended.status == 0, ended.text
    assert "~ 1 updated" in ended.text
    assert lab.start_times() == before


def test_a_third_up_changes_nothing(lab):
    before = lab.start_times()
    ended = lab.lab("up")
    assert ended.status == 0
    assert "created" not in ended.text
    assert "updated" not in ended.text
    assert "replaced" not in ended.text
    assert lab.start_times() == before


def test_up_repairs_a_killed_and_a_removed_container_and_no_other(lab):
    before = lab.ids()
    lab.containers()[schema_registry.NAME].kill()
    lab.containers()[iceberg_catalog.NAME].remove(force=True, v=True)
    ended = lab.lab("up")
    assert ended.status == 0, ended.text
    after = lab.ids()
    assert after.pop(iceberg_catalog.NAME) != before.pop(iceberg_catalog.NAME)
    assert after == before
    assert {lab.containers()[name].status for name in (schema_registry.NAME, iceberg_catalog.NAME)} == {"running"}


def test_up_continues_an_interrupted_up(lab):
    before = lab.ids()
    old = lab.containers()[connect.NAME]
    old.remove(force=True, v=True)

    def is_recreated():
        found = lab.containers().get(connect.NAME)
        return found is not None and found.id != old.id and found.status == "running"

    ended = lab.interrupt("up", is_recreated)
    assert ended.status != 0
    assert "Traceback" not in ended.text
    made = lab.containers()[connect.NAME].id
    ended = lab.lab("up")
    assert ended.status == 0, ended.text
    after = lab.ids()
    assert after.pop(connect.NAME) == made
    before.pop(connect.NAME)
    assert after == before


def test_up_removes_the_orphans_of_a_killed_up(lab):
    """An engine that is killed while it creates a container leaves one that is not in its state."""
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
    assert [each.differences for each in after.values()] == [[], []], lab.lab("status").text
    for topic, old in before.items():
        assert old.rows <= after[topic].rows
        assert old.records <= after[topic].records
        assert old.lake.keys() <= after[topic].lake.keys()
        assert old.archive.keys() <= after[topic].archive.keys()
    assert diff_graphs(graph, lab.graph()).changes == ()
    assert lab.lab("start", shop.NAME).status == 0


def test_down_removes_everything_except_the_images(lab, tmp_path):
    """Also after a container was removed by hand and the daemon's socket has moved."""
    images = {found.attrs["Config"]["Image"] for found in lab.containers().values()}
    lab.containers()[schema_registry.NAME].remove(force=True, v=True)
    with daemon_at(tmp_path / "docker.sock"):
        ended = lab.lab("down")
    assert ended.status == 0, ended.text
    assert lab.object_names() == set()
    assert not lab.root.exists()
    assert {lab.daemon.images.get(image).id for image in images} == images
