# SPDX-License-Identifier: Apache-2.0
"""End-to-end test of a lab on Kubernetes, in the reduced profile. The tests share one lab and run in order.

Pulumi's engine, the cluster, Helm, images and services are real. The vendor's plugin is replaced by the fake in
`tests/kubernetes/plugin`, as machines without access to the vendor's registry cannot download it.
"""

import json
import os
import re
from pathlib import Path

import pytest

from infra import credentials
from infra.namespaces import JOB_ORDERS_ETL, JOB_SUPPLIER_STATS, SHOP_TOPICS
from infra.project import CREDENTIALS_FILE, PULUMI_STATE
from infra.services import iceberg_catalog, kafka, lineage
from infra.services.connect import worker as connect
from infra.services.shop import writer as shop
from infra.targets.container_paths import USER
from lineage.checks.diff.compare import diff_graphs
from tests.docker_daemon import base_image as base_image
from tests.docker_daemon import daemon as daemon
from tests.docker_daemon import start_daemon as start_daemon
from tests.kubernetes.kubernetes_lab import KubernetesLab, load_images
from tests.smoke.delivery import await_delivery, read_delivery
from tests.smoke.lab_under_test import LabUnderTest
from tests.stack_files import CONFIG, SMOKE_KUBERNETES, SMOKE_REDUCED, stack_file

pytestmark = pytest.mark.smoke

MAX_SECONDS_TO_AN_ERROR = 120
PLUGIN = Path(__file__).parent / "plugin" / "bin"


@pytest.fixture(scope="module")
def fake_plugin():
    """Put the fake of the vendor's plugin first on PATH, where the engine finds it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", str(PLUGIN), prepend=os.pathsep)
        yield


@pytest.fixture(scope="module")
def new_lab(cluster, base_image, fake_plugin):
    """A configured lab before its first `up`, whose images the node has; it is removed after the tests."""
    with KubernetesLab().configured() as lab:
        load_images(lab, cluster)
        yield lab


@pytest.fixture(scope="module")
def local_graph():
    """Graph of a local lab of the same profile."""
    with LabUnderTest(SMOKE_REDUCED).configured() as local:
        ended = local.lab("up")
        assert ended.status == 0, ended.text
        return local.graph()


@pytest.fixture(scope="module")
def lab(new_lab, local_graph):
    """The running lab. The local lab is removed first: a small machine has no memory for both."""
    new_lab.first_up = new_lab.lab("up")
    assert new_lab.first_up.status == 0, new_lab.first_up.text
    return new_lab


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"kubernetesContext": ""}, r"no context is set.*lineage-lab:kubernetesContext"),
        ({"kubernetesContext": "production"}, r"production.*lineage-lab-ci"),
        ({"kubernetesServer": "https://192.0.2.1:6443"}, r"192\.0\.2\.1"),
        ({"kubernetesNamespace": "kube-system"}, r"kube-system"),
        ({"storageClass": "fast"}, r"storage class fast.*lab-static"),
    ],
)
def test_up_to_a_wrong_place_is_refused_and_creates_nothing(new_lab, settings, message):
    config = {"target": "kubernetes", "kubernetesContext": "lineage-lab-ci", "flink": "false", **settings}
    with stack_file(SMOKE_KUBERNETES, config, keep=True):
        ended = new_lab.lab("up")
    with stack_file(SMOKE_KUBERNETES, keep=True):
        pass
    assert ended.status == 1
    assert "Traceback" not in ended.text
    assert re.search(message, ended.text, re.DOTALL), ended.text
    assert new_lab.pods() == {}


def test_up_starts_every_service_and_the_lineage_matches_the_contract(lab):
    assert "as the contract says" in lab.first_up.text
    assert {pod["status"]["phase"] for pod in lab.pods().values()} == {"Running"}
    assert lab.lab("verify").status == 0


def test_the_graph_equals_that_of_a_local_lab(lab, local_graph):
    assert diff_graphs(local_graph, lab.graph()).changes == ()


def test_the_batch_job_ran_on_two_executor_pods(lab):
    driver = lab.pods("task")[JOB_SUPPLIER_STATS]
    owned = lab.kubectl.run("get", "events", "--field-selector", "reason=Scheduled", "--output=name")
    assert driver["status"]["phase"] == "Succeeded"
    assert owned
    log = lab.kubectl.run("get", "events", "--output=jsonpath={.items[*].involvedObject.name}")
    assert len({name for name in log.split() if name.startswith("supplier-stats-") and "-exec-" in name}) >= 2


def test_pods_are_restricted(lab):
    for name, pod in lab.pods().items():
        spec = pod["spec"]
        assert spec["securityContext"]["runAsUser"] == USER, name
        assert spec["automountServiceAccountToken"] is (name == JOB_ORDERS_ETL), name
        for container in spec["containers"] + spec.get("initContainers", []):
            context = container["securityContext"]
            assert context["readOnlyRootFilesystem"] is True, name
            assert context["allowPrivilegeEscalation"] is False, name
            assert context["capabilities"]["drop"] == ["ALL"], name
            assert container["resources"]["limits"]["memory"], name


def test_neither_pods_nor_pulumi_state_contain_credentials(lab):
    secrets = set(credentials.read(lab.root / CREDENTIALS_FILE).values())
    shown = [lab.kubectl.run("get", "pods,configmaps,statefulsets,deployments,cronjobs", "--output=json")]
    shown += [path.read_text() for path in PULUMI_STATE.rglob("*.json")]
    assert secrets
    assert [secret for secret in secrets for text in shown if secret in text] == []


def test_status_logs_run_and_doctor_work(lab):
    status = lab.lab("status")
    assert status.status == 0
    assert all(name in status.text for name in lab.pods())
    assert "MiB" in status.text
    assert lab.lab("logs", kafka.NAME).text.strip()
    assert lab.lab("run", JOB_SUPPLIER_STATS).status == 0
    assert lab.lab("doctor").status == 0


def test_a_second_up_changes_nothing(lab):
    before = lab.start_times()
    ended = lab.lab("up")
    assert ended.status == 0
    assert not {"created", "updated", "replaced"} & set(ended.text.split())
    assert lab.start_times() == before


def test_a_stopped_service_has_no_pod_until_it_is_started(lab):
    assert lab.lab("stop", shop.NAME).status == 0
    assert shop.NAME not in lab.pods()
    assert re.search(rf"^{shop.NAME} +not started", lab.lab("status").text, re.MULTILINE)
    assert lab.lab("start", shop.NAME).status == 0
    assert shop.NAME in lab.pods()


def test_deleted_pods_heal_without_a_lost_row_or_event(lab):
    before, graph = {topic: read_delivery(lab.stores, topic) for topic in SHOP_TOPICS}, lab.graph()
    for name in (connect.NAME, kafka.NAME, JOB_ORDERS_ETL, lineage.NAME, iceberg_catalog.NAME):
        pod = lab.pods()[name]["metadata"]["name"]
        lab.kubectl.run("delete", "pod", pod, "--wait=false", "--grace-period=1")
    ended = lab.lab("up")
    assert ended.status == 0, ended.text
    assert_everything_was_delivered(lab, before)
    assert diff_graphs(graph, lab.graph()).changes == ()


def test_data_outlive_a_restart_of_the_node(lab, cluster_command):
    before, graph, pods = (
        {topic: read_delivery(lab.stores, topic) for topic in SHOP_TOPICS},
        lab.graph(),
        lab.start_times(),
    )
    cluster_command("stop-kubelet")
    cluster_command("start-kubelet")
    ended = lab.lab("up")
    assert ended.status == 0, ended.text
    assert {name: uid for name, (uid, _) in lab.start_times().items()} == {n: uid for n, (uid, _) in pods.items()}
    assert_everything_was_delivered(lab, before)
    assert diff_graphs(graph, lab.graph()).changes == ()


def test_scaled_workers_share_the_work_and_lose_nothing(lab):
    before = {topic: read_delivery(lab.stores, topic) for topic in SHOP_TOPICS}
    for replicas in (2, 1):
        lab.kubectl.run("scale", "deployment/connect", f"--replicas={replicas}")
        lab.kubectl.run("rollout", "status", "deployment/connect", "--timeout=120s")
    assert_everything_was_delivered(lab, before)
    assert lab.lab("verify").status == 0


def test_an_image_that_the_node_lacks_is_reported_in_time_and_repaired(lab):
    config = {**CONFIG[SMOKE_KUBERNETES], "imageTag": "missing"}
    with stack_file(SMOKE_KUBERNETES, config, keep=True):
        ended = lab.lab("up", seconds=MAX_SECONDS_TO_AN_ERROR)
    with stack_file(SMOKE_KUBERNETES, keep=True):
        assert ended.status == 1
        assert "Traceback" not in ended.text
        assert "missing" in ended.text
        assert "lab images load" in ended.text
        repaired = lab.lab("up")
        assert repaired.status == 0, repaired.text


def test_down_leaves_no_object_of_the_stack(lab):
    ended = lab.lab("down")
    assert ended.status == 0, ended.text
    assert lab.kubectl.get("namespace", lab.namespace) is None
    volumes = json.loads(lab.kubectl.run("get", "persistentvolumes", "--output=json"))["items"]
    assert [
        one
        for one in volumes
        if one["spec"].get("claimRef", {}).get("namespace") == lab.namespace and one["status"]["phase"] == "Bound"
    ] == []
    assert not lab.root.exists()


def assert_everything_was_delivered(lab, before):
    """Stop the shop, wait until every row is in every store once, and start it again."""
    assert lab.lab("stop", shop.NAME).status == 0
    after = await_delivery(lab.stores)
    assert [each.differences for each in after.values()] == [[], []]
    for topic, old in before.items():
        assert old.rows <= after[topic].rows
        assert old.records <= after[topic].records
        assert old.lake.keys() <= after[topic].lake.keys()
    assert lab.lab("start", shop.NAME).status == 0
