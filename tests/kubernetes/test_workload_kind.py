# SPDX-License-Identifier: Apache-2.0
"""The kind Workload, on a real cluster."""

import threading
import time

import pytest
from urllib3 import Retry

from infra.errors import Interrupted, LabError
from infra.provider.kind import OperationContext
from infra.targets.kubernetes import pod_stage, workload_start
from infra.targets.kubernetes.client import shared_cluster
from infra.targets.kubernetes.kind_inputs import WorkloadInputs
from infra.targets.kubernetes.kinds.workload import WorkloadKind
from infra.targets.kubernetes.objects import PODS
from tests.kubernetes.cluster import addresses
from tests.kubernetes.lab_workloads import DEFINITION, WAIT_FOR_TERM, service, workload

STACK = "kinds"
SERVICE = "schema_registry"
NAME = "schema-registry"


@pytest.fixture
def apply(namespace):
    """Creates or changes a workload of SERVICE."""

    def create(script=WAIT_FOR_TERM, **options):
        namespace.apply(workload(STACK, SERVICE, script, **options))

    return create


@pytest.fixture
def inputs(namespace):
    """Returns inputs of `Workload`; keyword arguments override the defaults."""

    def create(**changes):
        defaults = {
            "context": addresses.CONTEXT,
            "namespace": namespace.namespace,
            "service": SERVICE,
            "kind": "Deployment",
            "replicas": 1,
            "seconds": 60,
            "definition": DEFINITION,
        }
        return WorkloadInputs(**defaults | changes)

    return create


def pods(namespace):
    return shared_cluster(addresses.CONTEXT).list(PODS, namespace.namespace)


def create_error(inputs):
    """Return the error of `create` and its duration in seconds."""
    started = time.monotonic()
    with pytest.raises(LabError) as raised:
        WorkloadKind().create(inputs, OperationContext())
    return str(raised.value), time.monotonic() - started


def test_create_waits_until_all_pods_are_ready_and_reports_progress(namespace, apply, inputs):
    apply(f"sleep 2; touch /tmp/ready; {WAIT_FOR_TERM}", kind="StatefulSet", replicas=2, ready_file="/tmp/ready")
    wanted, reported = inputs(kind="StatefulSet", replicas=2), []
    WorkloadKind().create(wanted, OperationContext(report=reported.append))
    assert [pod_stage.is_ready_pod(pod) for pod in pods(namespace)] == [True, True]
    assert any("of 2 pods are ready" in line for line in reported)
    assert WorkloadKind().read(wanted, OperationContext()).inputs == wanted


def test_create_waits_for_the_endpoints_of_the_service(namespace, apply, inputs):
    namespace.apply(service(STACK, SERVICE, 8081))
    apply()
    WorkloadKind().create(inputs(), OperationContext())
    slices = namespace.get("endpointslices", "-l", f"kubernetes.io/service-name={NAME}")["items"]
    assert [endpoint["conditions"]["ready"] for item in slices for endpoint in item["endpoints"]] == [True]


def test_update_waits_until_pods_of_the_former_definition_have_ended(namespace, apply, inputs):
    apply()
    WorkloadKind().create(inputs(), OperationContext())
    apply(f"sleep 1; touch /tmp/ready; {WAIT_FOR_TERM}", definition="fedcba9876543210", ready_file="/tmp/ready")
    WorkloadKind().update(inputs(), inputs(definition="fedcba9876543210"), OperationContext())
    found = [pod for pod in pods(namespace) if "deletionTimestamp" not in pod["metadata"]]
    assert [pod["metadata"]["annotations"]["dev.lineage-lab.definition"] for pod in found] == ["fedcba9876543210"]


def test_delete_waits_for_a_graceful_shutdown_and_create_scales_up_again(namespace, apply, inputs):
    apply("trap 'sleep 2; exit 0' TERM; while :; do sleep 0.1; done", terminationGracePeriodSeconds=30)
    WorkloadKind().create(inputs(), OperationContext())
    started = time.monotonic()
    WorkloadKind().delete(inputs(), OperationContext())
    assert time.monotonic() - started > 2
    assert pods(namespace) == []
    assert WorkloadKind().read(inputs(), OperationContext()) is None
    WorkloadKind().create(inputs(), OperationContext())
    assert len(pods(namespace)) == 1


def test_missing_workload_is_deleted_read_as_missing_and_cannot_be_created(inputs):
    WorkloadKind().delete(inputs(), OperationContext())
    WorkloadKind().delete(inputs(namespace="test-of-nobody"), OperationContext())
    assert WorkloadKind().read(inputs(), OperationContext()) is None
    error, _ = create_error(inputs())
    assert f"there is no Deployment {NAME}" in error


def test_read_waits_for_the_replacement_of_a_deleted_pod(namespace, apply, inputs):
    apply()
    WorkloadKind().create(inputs(), OperationContext())
    namespace.run("delete", "pods", "--all", "--wait=false")
    assert WorkloadKind().read(inputs(), OperationContext()).inputs == inputs()


def test_error_about_repeated_exits_has_the_exit_status_and_the_log(apply, inputs):
    apply("echo disk is missing; exit 3")
    error, seconds = create_error(inputs())
    assert f"{SERVICE} ended 2 times while it was starting, the last time it ended with exit status 3" in error
    assert "    disk is missing" in error
    assert f"kubectl --context {addresses.CONTEXT} logs -n" in error
    assert seconds < 60


def test_create_replaces_pods_that_failed_before(namespace, apply, inputs):
    """The cluster would wait for longer and longer before it starts their program again."""
    apply("exit 3")
    create_error(inputs())
    failed = {pod["metadata"]["uid"] for pod in pods(namespace)}
    error, _ = create_error(inputs())
    assert "ended 2 times" in error
    assert failed.isdisjoint(pod["metadata"]["uid"] for pod in pods(namespace))


def test_error_about_the_memory_limit_names_the_limit(apply, inputs):
    allocate = "i=0; x=; while :; do x=$x$x.; done"
    apply(allocate, container={"resources": {"limits": {"memory": "16Mi"}}})
    error, seconds = create_error(inputs())
    assert "exceeded its memory limit, 16 MiB" in error
    assert "HeapMib" in error
    assert seconds < 60


def test_error_about_a_missing_image_names_it(apply, inputs):
    apply(container={"image": "lab.local/no-such-image:1", "imagePullPolicy": "Never"})
    error, seconds = create_error(inputs())
    assert "cannot pull its image lab.local/no-such-image:1 (ErrImageNeverPull)" in error
    assert "bin/lab images load" in error
    assert seconds < 30


def test_error_about_an_image_that_cannot_be_pulled_has_the_cause(apply, inputs, monkeypatch):
    monkeypatch.setattr(pod_stage, "PULL_RETRY_SECONDS", 5)
    apply(container={"image": "127.0.0.1:1/missing:1"})
    error, _ = create_error(inputs())
    assert "cannot pull its image 127.0.0.1:1/missing:1" in error
    assert "connection refused" in error


def test_error_about_a_pod_that_fits_no_node_has_the_schedulers_words(apply, inputs, monkeypatch):
    monkeypatch.setattr(pod_stage, "UNSCHEDULABLE_SECONDS", 3)
    apply(container={"resources": {"requests": {"memory": "999Gi"}}})
    error, _ = create_error(inputs())
    assert "cannot be scheduled: 0/1 nodes are available: 1 Insufficient memory" in error
    assert "HeapMib" in error


def test_error_about_a_pending_claim_names_the_storage_class(apply, inputs, monkeypatch):
    monkeypatch.setattr(pod_stage, "UNSCHEDULABLE_SECONDS", 5)
    apply(kind="StatefulSet", volume="no-such-class")
    error, _ = create_error(inputs(kind="StatefulSet"))
    assert f"Its claim data-{NAME}-0 is pending (storage class no-such-class)" in error
    assert 'storageclass.storage.k8s.io "no-such-class" not found' in error
    assert "lineage-lab:storageClass" in error


def test_error_about_a_waiting_init_container_has_its_log(apply, inputs, monkeypatch):
    monkeypatch.setattr(pod_stage, "AWAIT_SECONDS", 3)
    waiting = {
        "name": "await",
        "image": "lab.local/busybox:1",
        "command": ["sh", "-c", "echo waiting for topic/orders; exec sleep 600"],
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
    }
    apply(initContainers=[waiting])
    error, _ = create_error(inputs())
    assert "still waits for other parts of the lab" in error
    assert "    waiting for topic/orders" in error


def test_error_about_rejected_pods_has_the_reason(apply, inputs, monkeypatch):
    monkeypatch.setattr(workload_start, "CREATE_SECONDS", 5)
    apply(hostNetwork=True)
    error, _ = create_error(inputs())
    assert "has no pod" in error
    assert "violates PodSecurity" in error


def test_error_about_a_missing_secret_names_it(apply, inputs, monkeypatch):
    monkeypatch.setattr(pod_stage, "CREATE_SECONDS", 5)
    apply(volumes=[{"name": "tmp", "secret": {"secretName": "lab-nowhere"}}])
    error, _ = create_error(inputs())
    assert "cannot mount its volumes" in error
    assert 'secret "lab-nowhere" not found' in error


def test_error_about_a_service_that_does_not_become_ready_has_the_log(apply, inputs):
    apply(f"echo loading; {WAIT_FOR_TERM}", ready_file="/tmp/ready")
    error, _ = create_error(inputs(seconds=4))
    assert f"{SERVICE} is not ready after 4 s" in error
    assert "    loading" in error


def test_service_that_may_exit_counts_as_ready_after_it_has(namespace, apply, inputs):
    apply("echo submitted; sleep 1", ready_file="/tmp/ready")
    WorkloadKind().create(inputs(may_exit=True), OperationContext())
    assert WorkloadKind().read(inputs(may_exit=True), OperationContext())


def test_program_without_a_probe_that_ends_at_once_is_never_ready(apply, inputs):
    """Its pods are ready for a moment at each of its starts."""
    apply("sleep 1; exit 3")
    assert "exit status 3" in create_error(inputs())[0]
    assert WorkloadKind().read(inputs(), OperationContext()) is None


def test_interrupt_ends_the_wait(apply, inputs):
    apply(ready_file="/tmp/ready")
    call = OperationContext()
    threading.Timer(1, call.stopped.set).start()
    with pytest.raises(Interrupted):
        WorkloadKind().create(inputs(seconds=600), call)


def test_outage_of_the_api_server_interrupts_no_start(apply, inputs, relay):
    apply(f"sleep 6; touch /tmp/ready; {WAIT_FOR_TERM}", ready_file="/tmp/ready")
    threading.Timer(2, relay.stop).start()
    threading.Timer(5, relay.start).start()
    WorkloadKind().create(inputs(context="relayed"), OperationContext())


def test_unreachable_api_server_is_an_error_and_not_a_missing_workload(inputs, relay, monkeypatch):
    monkeypatch.setattr(shared_cluster("relayed"), "retries", Retry(0))
    relay.stop()
    for operation in (WorkloadKind().read, WorkloadKind().delete):
        with pytest.raises(LabError, match="cannot be reached to read Deployment schema-registry"):
            operation(inputs(context="relayed"), OperationContext())
    relay.start()
