# SPDX-License-Identifier: Apache-2.0
"""A small release of the chart on a real cluster: installed, tested, upgraded, uninstalled."""

import base64
import json

import pytest
import yaml

from infra import credentials
from infra.targets.kubernetes.chart import CHART
from infra.targets.kubernetes.names import (
    COMPONENT_LABEL,
    CREDENTIALS_SECRET,
    ENFORCE_LABEL,
    ENFORCED_LEVEL,
    INSTANCE_LABEL,
    RELEASE,
)
from tests.kubernetes.cluster.images import ctr
from tests.kubernetes.kubectl import Kubectl
from tests.kubernetes.small_release import CONNECT_PORT, GET, IMAGE, KAFKA_PORT, small_release, write_image

NAMESPACE = "test-chart-release"
WAIT = ("--wait", "--wait-for-jobs", "--timeout", "180s")
TOKEN = "/var/run/secrets/kubernetes.io/serviceaccount/token"


@pytest.fixture(scope="module")
def namespace(cluster, kubectl, cluster_command, tmp_path_factory):
    """Namespace of the release, on a cluster that has its image."""
    archive = tmp_path_factory.mktemp("image") / "image.tar"
    write_image(archive)
    assert IMAGE in cluster_command("import-image", str(archive))
    kubectl.run("delete", "namespace", NAMESPACE, "--ignore-not-found", "--wait")
    labels = {ENFORCE_LABEL: ENFORCED_LEVEL}
    kubectl.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE, "labels": labels}})
    yield Kubectl(NAMESPACE)
    kubectl.run("delete", "namespace", NAMESPACE, "--wait")
    cluster_command("volumes")
    ctr(cluster.folders, "images", "rm", IMAGE)


@pytest.fixture(scope="module")
def notes(namespace, helm):
    """Output of the installation; its tests do not change the release."""
    where = ("--namespace", NAMESPACE)
    return helm.run("install", RELEASE, str(CHART), *where, *WAIT, values=small_release({"TOKEN": 24}))


@pytest.fixture
def release(namespace, notes):
    """Client of the namespace with the release."""
    return namespace


@pytest.fixture
def upgrade(helm, release):
    """Function that upgrades the release to other values."""

    def run(values):
        helm.run("upgrade", RELEASE, str(CHART), "--namespace", NAMESPACE, *WAIT, values=values)

    return run


def pods_of(release, component):
    """Return the running pods of a component, by name."""
    found = release.get("pods", f"--selector={COMPONENT_LABEL}={component}") or {"items": []}
    return {pod["metadata"]["name"]: pod for pod in found["items"] if "deletionTimestamp" not in pod["metadata"]}


def fetch(release, pod, host, port, path):
    """Return the body of an HTTP response."""
    response = release.exec(pod, "sh", "-c", GET.format(host=host, port=port, path=path))
    return response.partition("\n\n")[2].strip()


def secret_values(release):
    data = release.get("secret", CREDENTIALS_SECRET)["data"]["credentials.env"]
    return credentials.parse(base64.b64decode(data).decode())


def test_notes_have_commands_for_this_release(notes):
    assert f"kubectl --namespace {NAMESPACE} port-forward service/kafka {KAFKA_PORT}" in notes
    assert f"kubectl --namespace {NAMESPACE} create job --from=cronjob/report report-1" in notes
    assert f"helm --namespace {NAMESPACE} test {RELEASE}" in notes


def test_every_replica_has_its_own_configuration_volume_and_host_name(release):
    (client, _) = pods_of(release, "connect")
    for number in range(3):
        pod = f"kafka-{number}"
        assert fetch(release, client, f"{pod}.kafka-pods", KAFKA_PORT, "/id") == f"replica {number}"
        assert release.exec(pod, "cat", "/var/lib/lineage-lab/volumes/data/starts") == pod
    assert fetch(release, client, "kafka", KAFKA_PORT, "/conf/common.txt") == "common"


def test_pods_await_what_they_need(release):
    for pod in pods_of(release, "connect"):
        assert release.run("logs", pod, "--container=await").startswith("waiting for kafka")


def test_setup_and_services_read_the_generated_credentials(release):
    token = secret_values(release)["TOKEN"]
    (setup,) = pods_of(release, "setup")
    assert release.run("logs", setup) == f"created as {token}"
    client = next(iter(pods_of(release, "connect")))
    assert fetch(release, client, "connect", CONNECT_PORT, "/token") == token
    assert release.exec(client, "hostname") == "connect"


def test_containers_run_without_privileges_on_a_read_only_root(release):
    pod = next(iter(pods_of(release, "connect")))
    assert release.exec(pod, "id", "-u") == "10001"
    assert "Read-only file system" in release.exec(pod, "sh", "-c", "touch /file 2>&1 || true")
    assert release.exec(pod, "sh", "-c", "touch /tmp/file && ls /tmp") == "file"
    assert release.exec(pod, "sh", "-c", f"test -e {TOKEN} || echo none") == "none"


def test_a_driver_may_create_the_executors_that_its_template_describes(release):
    (driver,) = pods_of(release, "spark-driver")
    account = f"--as=system:serviceaccount:{NAMESPACE}:spark"
    assert release.run("auth", "can-i", "deletecollection", "pods", account) == "yes"
    assert release.exec(driver, "sh", "-c", f"test -s {TOKEN} && echo token") == "token"
    pod = yaml.safe_load(release.exec(driver, "cat", "/etc/lineage-lab/executor.yaml"))
    pod["metadata"]["name"] = "executor"
    pod["spec"]["containers"][0]["image"] = IMAGE
    release.run("create", account, "--filename=-", manifests=json.dumps(pod))
    release.await_condition("jsonpath={.status.phase}=Succeeded", "pod/executor")
    mounts = release.run("logs", "executor")
    assert all(
        f" {folder} " in mounts for folder in ("/etc/lineage-lab", "/run/lineage-lab", "/var/lib/lineage-lab/files")
    )


def test_a_task_runs_on_request_only(release):
    assert release.get("cronjob", "report")["spec"]["suspend"] is True
    assert not pods_of(release, "report")
    release.run("create", "job", "--from=cronjob/report", "report-1")
    release.await_condition("condition=Complete", "job/report-1")
    assert release.run("logs", "job/report-1") == "the report"


def test_helm_test_passes_while_every_service_responds(release, helm):
    assert "Phase:          Succeeded" in helm.run("test", RELEASE, "--namespace", NAMESPACE, "--timeout", "120s")
    assert release.run("logs", "test-connections").splitlines() == ["connect responds", "kafka responds"]


def uids(release, component):
    return {pod["metadata"]["uid"] for pod in pods_of(release, component).values()}


def test_an_upgrade_replaces_changed_pods_and_keeps_credentials(release, upgrade):
    before, token = {name: uids(release, name) for name in ("kafka", "connect")}, secret_values(release)["TOKEN"]
    values = small_release({"TOKEN": 24, "NEW": 16})
    values["connect"] |= {"files": {"new.txt": "new"}, "replicas": 1}
    upgrade(values)
    assert uids(release, "kafka") == before["kafka"]
    assert not uids(release, "connect") & before["connect"]
    assert release.get("deployment", "connect")["spec"]["strategy"] == {"type": "Recreate"}
    after = secret_values(release)
    assert (after["TOKEN"], len(after["NEW"])) == (token, 16)

    values["connect"]["replicas"] = 2
    upgrade(values)
    assert len(pods_of(release, "connect")) == 2


def test_an_upgrade_with_a_changed_setup_runs_it_again(release, upgrade):
    values = small_release({"TOKEN": 24})
    values["setup"]["script"] = "echo once more\n"
    upgrade(values)
    assert "once more" in [release.run("logs", pod) for pod in pods_of(release, "setup")]


def test_uninstall_keeps_volumes_only(release, helm):
    """The last test: another installation finds the data of this one."""
    helm.run("uninstall", RELEASE, "--namespace", NAMESPACE, "--wait", "--timeout", "120s")
    kinds = "deployments,statefulsets,services,configmaps,secrets,cronjobs,networkpolicies,poddisruptionbudgets"
    assert release.get(kinds, f"--selector={INSTANCE_LABEL}={RELEASE}") is None
    claims = release.get("persistentvolumeclaims")["items"]
    assert [claim["metadata"]["name"] for claim in claims] == [f"data-kafka-{number}" for number in range(3)]
