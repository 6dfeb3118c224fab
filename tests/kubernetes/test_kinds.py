# SPDX-License-Identifier: Apache-2.0
"""The kinds KubernetesCluster and CredentialsSecret, on a real cluster; `Workload` and `PortForward` have own files."""

import base64
import json
import socket
import threading
import uuid
from pathlib import Path

import pytest

from infra import credentials
from infra.errors import Interrupted, LabError, PreflightError
from infra.provider.kind import OperationContext
from infra.targets.kubernetes import namespace as namespaces
from infra.targets.kubernetes.client import connect, shared_cluster
from infra.targets.kubernetes.kind_inputs import CredentialsSecretInputs, KubernetesClusterInputs
from infra.targets.kubernetes.kinds.credentials_secret import CredentialsSecretKind
from infra.targets.kubernetes.kinds.kubernetes_cluster import KubernetesClusterKind
from infra.targets.kubernetes.kubeconfig import ClusterError
from infra.targets.kubernetes.objects import CLAIMS, NAMESPACES, NODES, SECRETS, VOLUMES, WORKLOADS
from infra.targets.kubernetes.request_errors import RequestError
from infra.targets.labels import CHECKOUT_LABEL, STACK_LABEL
from tests.kubernetes.cluster import addresses
from tests.kubernetes.cluster.volumes import STORAGE_CLASS
from tests.kubernetes.lab_workloads import WAIT_FOR_TERM, workload
from tests.runtime_contract import await_truthy

STACK = "kinds"


@pytest.fixture
def inputs(cluster, tmp_path):
    """Returns inputs of `KubernetesCluster` with a namespace of the test; keyword arguments override the defaults."""
    name = f"lineage-lab-test-{uuid.uuid4().hex[:8]}"

    def create(**changes):
        defaults = {
            "context": addresses.CONTEXT,
            "server": "",
            "namespace": name,
            "root": str(tmp_path / "root"),
            "stack": STACK,
            "checkout": "here",
            "storage_class": "",
            "ports": {},
            "fixed_replicas": {"kafka": 1},
            "memory_mib": 1,
            "preflight": "strict",
        }
        return KubernetesClusterInputs(**defaults | changes)

    yield create
    shared_cluster(addresses.CONTEXT).delete(NAMESPACES, "", name)


def find_namespace(inputs):
    return shared_cluster(addresses.CONTEXT).find(NAMESPACES, "", inputs.namespace)


def test_create_makes_a_restricted_namespace_and_the_folder(inputs):
    KubernetesClusterKind().create(inputs(), OperationContext())
    labels = find_namespace(inputs())["metadata"]["labels"]
    assert (labels[STACK_LABEL], labels[CHECKOUT_LABEL]) == (STACK, "here")
    assert labels["pod-security.kubernetes.io/enforce"] == "restricted"
    assert Path(inputs().root).is_dir()
    assert KubernetesClusterKind().read(inputs(), OperationContext()).inputs == inputs()
    KubernetesClusterKind().create(inputs(), OperationContext())  # of a run whose state is lost


def test_namespace_follows_a_checkout_that_was_moved(inputs):
    KubernetesClusterKind().create(inputs(), OperationContext())
    KubernetesClusterKind().update(inputs(), inputs(checkout="there"), OperationContext())
    assert KubernetesClusterKind().read(inputs(checkout="there"), OperationContext())
    with pytest.raises(PreflightError):
        KubernetesClusterKind().update(inputs(), inputs(checkout="elsewhere"), OperationContext())


def test_number_of_replicas_that_hold_data_cannot_change(inputs):
    KubernetesClusterKind().create(inputs(), OperationContext())
    with pytest.raises(PreflightError, match="kafka of stack kinds runs with 1 replicas"):
        KubernetesClusterKind().update(inputs(), inputs(fixed_replicas={"kafka": 3}), OperationContext())


def test_delete_removes_the_namespace_with_its_pods_and_the_folder(inputs):
    KubernetesClusterKind().create(inputs(), OperationContext())
    item = workload(STACK, "kafka", WAIT_FOR_TERM, kind="StatefulSet", volume=STORAGE_CLASS)
    shared_cluster(addresses.CONTEXT).create(WORKLOADS[item["kind"]], inputs().namespace, item)
    KubernetesClusterKind().delete(inputs(), OperationContext())
    assert find_namespace(inputs()) is None
    assert not Path(inputs().root).exists()
    assert KubernetesClusterKind().read(inputs(), OperationContext()) is None
    KubernetesClusterKind().delete(inputs(), OperationContext())  # no effect


def test_delete_warns_of_volumes_that_are_retained(inputs, kubectl):
    KubernetesClusterKind().create(inputs(), OperationContext())
    item = workload(STACK, "kafka", WAIT_FOR_TERM, kind="StatefulSet", volume=STORAGE_CLASS)
    shared = shared_cluster(addresses.CONTEXT)
    shared.create(WORKLOADS[item["kind"]], inputs().namespace, item)
    claim = await_truthy(lambda: bound_claim(shared, inputs().namespace))
    volume, warnings = claim["spec"]["volumeName"], []
    shared.patch(VOLUMES, "", volume, {"spec": {"persistentVolumeReclaimPolicy": "Retain"}})
    try:
        KubernetesClusterKind().delete(inputs(), OperationContext(warn=warnings.append))
    finally:
        shared.patch(VOLUMES, "", volume, {"spec": {"persistentVolumeReclaimPolicy": "Delete"}})
    assert [f"delete persistentvolume {volume}" in line for line in warnings] == [True]


def bound_claim(shared, namespace):
    return next((claim for claim in shared.list(CLAIMS, namespace) if claim["status"]["phase"] == "Bound"), None)


def test_create_waits_for_the_deletion_of_the_former_namespace(inputs):
    KubernetesClusterKind().create(inputs(), OperationContext())
    first = find_namespace(inputs())["metadata"]["uid"]
    shared_cluster(addresses.CONTEXT).delete(NAMESPACES, "", inputs().namespace)
    KubernetesClusterKind().create(inputs(), OperationContext())
    assert find_namespace(inputs())["metadata"]["uid"] != first


@pytest.mark.parametrize("labels", [{}, {STACK_LABEL: STACK, CHECKOUT_LABEL: "elsewhere"}])
def test_namespace_of_somebody_else_is_rejected_and_kept(inputs, labels):
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": inputs().namespace, "labels": labels}}
    shared_cluster(addresses.CONTEXT).create(NAMESPACES, "", body)
    for operation in ("create", "read", "delete"):
        with pytest.raises(PreflightError, match=f"namespace {inputs().namespace} at .* belongs to ") as raised:
            getattr(KubernetesClusterKind(), operation)(inputs(), OperationContext())
    assert "lineage-lab:kubernetesNamespace" in str(raised.value)
    assert "deletionTimestamp" not in find_namespace(inputs())["metadata"]


def test_other_server_than_the_stacks_is_rejected_with_both(inputs):
    with pytest.raises(PreflightError) as raised:
        KubernetesClusterKind().create(inputs(server="https://lab.example:6443"), OperationContext())
    assert f"context {addresses.CONTEXT} has the API server {shared_cluster(addresses.CONTEXT).server}" in str(
        raised.value
    )
    assert "https://lab.example:6443 only" in str(raised.value)
    assert find_namespace(inputs()) is None
    KubernetesClusterKind().create(inputs(server=shared_cluster(addresses.CONTEXT).server + "/"), OperationContext())


def test_missing_storage_class_is_rejected_with_the_existing_ones(inputs):
    with pytest.raises(PreflightError, match=f"(?s)no storage class fast .*classes: .*{STORAGE_CLASS}"):
        KubernetesClusterKind().create(inputs(storage_class="fast"), OperationContext())
    KubernetesClusterKind().create(inputs(storage_class=STORAGE_CLASS), OperationContext())


def test_port_in_use_is_rejected_with_the_remedy(inputs):
    with socket.create_server(("127.0.0.1", 0)) as holder:
        port = holder.getsockname()[1]
        with pytest.raises(PreflightError, match=f"port {port} \\(kafka broker\\) .*") as raised:
            KubernetesClusterKind().create(inputs(ports={"kafka broker": port}), OperationContext())
    assert f"portOffset: 10000 in Pulumi.{STACK}.yaml" in str(raised.value)


def test_too_little_memory_is_an_error_or_a_warning(inputs):
    with pytest.raises(PreflightError, match=r"memory: .* pods can request \d+ MiB more"):
        KubernetesClusterKind().create(inputs(memory_mib=10**9), OperationContext())
    warnings = []
    KubernetesClusterKind().create(inputs(memory_mib=10**9, preflight="warn"), OperationContext(warn=warnings.append))
    assert any("memory" in line for line in warnings)


def test_error_about_a_namespace_that_cannot_be_deleted_names_the_finalizer(inputs, monkeypatch):
    monkeypatch.setattr(namespaces, "DELETE_SECONDS", 10)
    KubernetesClusterKind().create(inputs(), OperationContext())
    shared = shared_cluster(addresses.CONTEXT)
    metadata = {"name": "stuck", "finalizers": ["lab.local/never"]}
    shared.create(SECRETS, inputs().namespace, {"apiVersion": "v1", "kind": "Secret", "metadata": metadata})
    try:
        with pytest.raises(LabError, match=r"lab\.local/never in 1 resource instances"):
            KubernetesClusterKind().delete(inputs(), OperationContext())
    finally:
        shared.patch(SECRETS, inputs().namespace, "stuck", {"metadata": {"finalizers": None}})


def test_interrupt_ends_the_wait_for_the_deletion(inputs):
    KubernetesClusterKind().create(inputs(), OperationContext())
    item = workload(STACK, "kafka", "trap '' TERM; while :; do sleep 0.1; done", terminationGracePeriodSeconds=20)
    shared_cluster(addresses.CONTEXT).create(WORKLOADS[item["kind"]], inputs().namespace, item)
    call = OperationContext()
    threading.Timer(1, call.stopped.set).start()
    with pytest.raises(Interrupted):
        KubernetesClusterKind().delete(inputs(), call)


@pytest.fixture
def context_of(cluster, tmp_path, monkeypatch):
    """Returns a context for a user of the cluster, in a kubeconfig of the test."""
    config = json.loads(Path(cluster.folders.kubeconfig).read_text())

    def create(user):
        changed = {**config, "users": [{"name": "admin", "user": user}]}
        path = tmp_path / "kubeconfig"
        path.write_text(json.dumps(changed))
        monkeypatch.setenv("KUBECONFIG", str(path))
        return addresses.CONTEXT

    return create


def test_wrong_credentials_are_reported(context_of):
    with pytest.raises(ClusterError, match=r"(?s)status 401.*log in to the cluster again"):
        connect(context_of({"token": "expired"}))


def test_another_authority_than_the_clusters_is_reported(context_of, tmp_path):
    context_of({"token": "any"})
    path = tmp_path / "kubeconfig"
    config = json.loads(path.read_text())
    del config["clusters"][0]["cluster"]["certificate-authority"]
    path.write_text(json.dumps(config))
    with pytest.raises(ClusterError, match="certificate is not signed by the authority in the kubeconfig"):
        connect(addresses.CONTEXT)


def test_missing_permission_is_reported_with_the_remedy(namespace, context_of):
    namespace.run("create", "serviceaccount", "reader")
    token = namespace.run("create", "token", "reader")
    limited = connect(context_of({"token": token}))
    with pytest.raises(RequestError, match=r"(?s)list Nodes \(status 403\).*the role `admin` in the lab's namespace"):
        limited.list(NODES)
    limited.close()


@pytest.fixture
def secret_inputs(namespace, tmp_path):
    path = tmp_path / "credentials.env"
    path.write_text(credentials.render({"POSTGRES_PASSWORD": "first secret"}))
    return CredentialsSecretInputs(
        context=addresses.CONTEXT,
        namespace=namespace.namespace,
        name="lineage-lab-credentials",
        path=str(path),
        labels={STACK_LABEL: STACK},
        fingerprint=credentials.fingerprint(credentials.read(path)),
    )


def test_secret_has_the_credentials_file(secret_inputs, namespace):
    assert CredentialsSecretKind().read(secret_inputs, OperationContext()) is None
    CredentialsSecretKind().create(secret_inputs, OperationContext())
    CredentialsSecretKind().create(secret_inputs, OperationContext())  # of a run whose state is lost
    found = namespace.get("secret", "lineage-lab-credentials")
    text = base64.b64decode(found["data"]["credentials.env"]).decode()
    assert credentials.parse(text) == {"POSTGRES_PASSWORD": "first secret"}
    assert found["metadata"]["labels"] == {STACK_LABEL: STACK}
    assert CredentialsSecretKind().read(secret_inputs, OperationContext()).inputs == secret_inputs


def test_changed_or_damaged_credentials_in_the_secret_are_drift(secret_inputs, namespace):
    CredentialsSecretKind().create(secret_inputs, OperationContext())
    changed = secret_inputs.model_copy(update={"fingerprint": "another"})
    assert CredentialsSecretKind().read(changed, OperationContext()) is None
    Path(secret_inputs.path).write_text(credentials.render({"POSTGRES_PASSWORD": "second"}))
    CredentialsSecretKind().update(secret_inputs, changed, OperationContext())
    assert CredentialsSecretKind().read(secret_inputs, OperationContext()) is None
    damaged = {"data": {"credentials.env": base64.b64encode(b"\xff").decode()}}
    namespace.run("patch", "secret", "lineage-lab-credentials", "-p", json.dumps(damaged))
    assert CredentialsSecretKind().read(secret_inputs, OperationContext()) is None
    CredentialsSecretKind().delete(secret_inputs, OperationContext())
    CredentialsSecretKind().delete(secret_inputs, OperationContext())  # no effect
    assert namespace.get("secret", "lineage-lab-credentials") is None
