# SPDX-License-Identifier: Apache-2.0
"""The test cluster itself: everything that the Kubernetes target requires of a cluster."""

import json
import urllib.request
import uuid
from pathlib import Path

import pytest

from infra.targets.container_paths import USER
from tests.kubernetes.cluster import addresses, volumes
from tests.kubernetes.cluster.commands import run
from tests.kubernetes.cluster.images import ctr, write_busybox_image
from tests.kubernetes.kubectl import Kubectl, KubectlError
from tests.kubernetes.manifests import HTTP_PORT, SERVE, SLEEP, pod, service, stateful_set


def test_administrator_reads_the_memory_of_a_ready_node(kubectl):
    kubectl.await_condition("condition=Ready", f"node/{addresses.NODE}")
    stats = json.loads(kubectl.run("get", "--raw", f"/api/v1/nodes/{addresses.NODE}/proxy/stats/summary"))
    assert stats["node"]["memory"]["availableBytes"] > 0
    assert kubectl.run("config", "current-context") == addresses.CONTEXT


@pytest.fixture
def imported_image(cluster, cluster_command, tmp_path):
    """Name of an image that is imported for the test."""
    image = f"lab.local/imported:{uuid.uuid4().hex[:8]}"
    write_busybox_image(tmp_path / "image.tar", image, ["sh"])
    assert image in cluster_command("import-image", str(tmp_path / "image.tar"))
    yield image
    ctr(cluster.folders, "images", "rm", image)


def test_pod_of_an_imported_image_runs_as_its_user(namespace, imported_image):
    namespace.apply(pod("one", ["sh", "-c", "id; exec sleep infinity"], image=imported_image))
    namespace.await_condition("condition=Ready", "pod/one")
    assert namespace.run("logs", "one") == f"uid={USER} gid={USER} groups={USER}"
    assert namespace.exec("one", "id", "-u") == str(USER)


def test_pod_that_violates_restricted_pod_security_is_rejected(namespace):
    with pytest.raises(KubectlError, match='violates PodSecurity "restricted:latest"'):
        namespace.apply(pod("root", SLEEP, hostNetwork=True))


def test_pods_reach_a_service_by_its_dns_name(namespace):
    """Also a pod that reaches itself, which requires hairpin mode of the bridge."""
    namespace.apply(service("web"), pod("web", SERVE), pod("client", SLEEP))
    namespace.await_condition("condition=Ready", "pod/web", "pod/client")
    address = namespace.get("service", "web")["spec"]["clusterIP"]
    name = f"web.{namespace.namespace}.svc.{addresses.DOMAIN}"
    for client in ("client", "web"):
        assert f"Address: {address}" in namespace.exec(client, "nslookup", name)
        get = f"printf 'GET / HTTP/1.0\\r\\n\\r\\n' | nc -w 10 {address} 80"
        assert namespace.exec(client, "sh", "-c", get).endswith("\nweb")


def bridge_address():
    return Path("/sys/class/net", addresses.BRIDGE, "address").read_text().strip()


def test_bridge_keeps_its_hardware_address_when_pods_come_and_go(cluster):
    """Other pods send their DNS queries to that address until their entry for it expires."""
    before, link = bridge_address(), f"lab{uuid.uuid4().hex[:8]}"
    run(["ip", "link", "add", link, "address", "02:00:00:00:00:01", "type", "veth"])
    try:
        run(["ip", "link", "set", link, "master", addresses.BRIDGE])
        assert bridge_address() == before
    finally:
        run(["ip", "link", "delete", link])
    assert bridge_address() == before


def test_shared_process_namespace_keeps_no_zombies(namespace):
    orphans = "(sleep 0.1 &); (sleep 0.1 &); sleep 1; touch /tmp/ended; exec sleep infinity"
    namespace.apply(pod("parent", ["sh", "-c", orphans], shareProcessNamespace=True))
    namespace.await_condition("condition=Ready", "pod/parent")
    # A busy machine may reap them later than they end.
    reaped = "[ -e /tmp/ended ] && ! ps -o stat,comm | grep -q '^Z'"
    wait = f"for _ in $(seq 600); do if {reaped}; then exit 0; fi; sleep 0.1; done; ps -o stat,comm; exit 1"
    namespace.exec("parent", "sh", "-c", wait)


def test_port_forward_reaches_a_service(namespace):
    namespace.apply(service("web"), pod("web", SERVE))
    namespace.await_condition("condition=Ready", "pod/web")
    with namespace.port_forward("service/web", 80) as port:
        assert urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=60).read() == b"web\n"


def test_stateful_set_keeps_its_data_and_its_volume_is_renewed(namespace, kubectl, cluster_command):
    namespace.apply(service("store"), stateful_set("store", SLEEP))
    namespace.await_condition("jsonpath={.status.readyReplicas}=1", "statefulset/store")
    namespace.exec("store-0", "sh", "-c", "echo kept > /data/file")
    first = namespace.get("pod", "store-0")["metadata"]["uid"]
    namespace.run("delete", "pod", "store-0", "--wait")
    namespace.await_condition("jsonpath={.status.readyReplicas}=1", "statefulset/store")
    assert namespace.get("pod", "store-0")["metadata"]["uid"] != first
    assert namespace.exec("store-0", "cat", "/data/file") == "kept"

    volume = namespace.get("persistentvolumeclaim", "data-store-0")["spec"]["volumeName"]
    folder = Path(kubectl.get("persistentvolume", volume)["spec"]["hostPath"]["path"])
    assert (folder / "file").read_text() == "kept\n"
    namespace.run("delete", "statefulset", "store")
    namespace.run("delete", "persistentvolumeclaim", "data-store-0")
    kubectl.await_condition("delete", f"persistentvolume/{volume}")
    assert not folder.exists()
    cluster_command("volumes")
    kubectl.await_condition("jsonpath={.status.phase}=Available", f"persistentvolume/{volume}")
    assert list(folder.iterdir()) == []
    assert (folder.stat().st_uid, folder.stat().st_gid) == (USER, USER)


def test_default_storage_class_binds_at_the_first_pod(kubectl):
    found = kubectl.get("storageclass", volumes.STORAGE_CLASS)
    assert found["metadata"]["annotations"]["storageclass.kubernetes.io/is-default-class"] == "true"
    assert found["volumeBindingMode"] == "WaitForFirstConsumer"


def test_service_account_with_a_role_creates_pods(namespace):
    """Drivers of Spark create their executor pods with a service account."""
    namespace.run("create", "serviceaccount", "driver")
    namespace.run("create", "role", "driver", "--verb=create,get,list,watch,delete", "--resource=pods")
    namespace.run("create", "rolebinding", "driver", "--role=driver", f"--serviceaccount={namespace.namespace}:driver")
    token = f"--token={namespace.run('create', 'token', 'driver')}"
    executor = json.dumps(pod("executor", SLEEP))
    assert namespace.run(token, "create", "-f", "-", manifests=executor) == "pod/executor created"
    namespace.await_condition("condition=Ready", "pod/executor")
    with pytest.raises(KubectlError, match=r'driver.* cannot list resource "secrets"'):
        namespace.run(token, "get", "secrets")


def test_pod_reaches_the_api_server_with_its_token(namespace):
    namespace.apply(pod("client", SLEEP))
    namespace.await_condition("condition=Ready", "pod/client")
    folder = "/var/run/secrets/kubernetes.io/serviceaccount"
    assert namespace.exec("client", "cat", f"{folder}/namespace") == namespace.namespace
    token = namespace.exec("client", "cat", f"{folder}/token")
    user = f"system:serviceaccount:{namespace.namespace}:default"
    assert user in namespace.run(f"--token={token}", "auth", "whoami", "--output=json")
    port = "nc -w 10 $KUBERNETES_SERVICE_HOST $KUBERNETES_SERVICE_PORT </dev/null && echo open"
    assert namespace.exec("client", "sh", "-c", port) == "open"


def test_server_side_dry_run_validates_and_creates_nothing(namespace):
    options = ("--dry-run=server",)
    assert namespace.apply(pod("dry", SLEEP), options=options) == "pod/dry created (server dry run)"
    assert namespace.get("pod", "dry") is None
    with pytest.raises(KubectlError, match="violates PodSecurity"):
        namespace.apply(pod("dry", SLEEP, hostNetwork=True), options=options)


def test_containers_survive_a_restart_of_the_kubelet(namespace, cluster_command):
    namespace.apply(pod("web", SERVE))
    namespace.await_condition("condition=Ready", "pod/web")
    before = namespace.get("pod", "web")
    cluster_command("stop-kubelet")
    try:
        url = f"http://{before['status']['podIP']}:{HTTP_PORT}/"
        assert urllib.request.urlopen(url, timeout=60).read() == b"web\n"
        with pytest.raises(KubectlError):
            namespace.exec("web", "true")
        namespace.apply(pod("later", SLEEP))
    finally:
        cluster_command("start-kubelet")
    Kubectl().await_condition("condition=Ready", f"node/{addresses.NODE}")
    namespace.await_condition("condition=Ready", "pod/later", "pod/web")
    after = namespace.get("pod", "web")
    containers = [found["status"]["containerStatuses"][0]["containerID"] for found in (before, after)]
    assert containers[0] == containers[1]
