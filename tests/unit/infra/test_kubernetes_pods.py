# SPDX-License-Identifier: Apache-2.0
"""Pods, workloads and Jobs that were recorded from the API server: their stages, states, and errors about them."""

import json
from pathlib import Path

import pytest

from infra.errors import ServiceError
from infra.targets.kubernetes.capacity import free_memory_mib, quantity
from infra.targets.kubernetes.memory import parse_metrics, parse_node_report
from infra.targets.kubernetes.names import claim_name, object_name
from infra.targets.kubernetes.namespace import deletion_problems, volumes_of
from infra.targets.kubernetes.pod_data import helper_pod
from infra.targets.kubernetes.pod_stage import SCALE_UP_SECONDS, is_failing, pod_stage
from infra.targets.kubernetes.ready_pods import ready_pods
from infra.targets.kubernetes.rollout import creation_failure, is_rolled_out, progress_text
from infra.targets.kubernetes.task_runs import job_of
from infra.targets.kubernetes.workload_failure import MAX_EVENTS, Evidence, failure_message, recent_warnings
from infra.targets.kubernetes.workload_start import is_current
from infra.targets.kubernetes.workload_state import configured_replicas, service_state, task_state

FOLDER = Path(__file__).parent / "kubernetes_objects"
DEFINITION = "0123456789abcdef"


def recorded(name):
    return json.loads((FOLDER / f"{name}.json").read_text())


def stage(name, **options):
    found = recorded(name)
    return pod_stage(found["pods"][0], found["events"], **options)


def state(name):
    found = recorded(name)
    return service_state(found["workload"], found["pods"])


@pytest.mark.parametrize(
    ("name", "expected", "text"),
    [
        ("starting", "starting", "is not ready"),
        ("unready", "starting", "is not ready"),
        ("crashing", "exits", "ended 3 times while it was starting, the last time it ended with exit status 3"),
        ("oom", "memory", "exceeded its memory limit, 16 MiB"),
        ("no-image", "image", "cannot pull its image lab.local/nowhere:1 (ErrImageNeverPull): "),
        ("pull", "image", "dial tcp 127.0.0.1:1: connect: connection refused"),
        ("too-large", "unschedulable", "cannot be scheduled: 0/1 nodes are available: 1 Insufficient memory"),
        ("no-volume", "unschedulable", "unbound immediate PersistentVolumeClaims"),
        ("awaiting", "await", "still waits for other parts of the lab"),
        ("no-secret", "mount", 'secret "lab-nowhere" not found'),
        ("no-config", "create", 'CreateContainerConfigError): configmap "lab-nowhere" not found'),
        ("no-program", "exits", 'exec: "/no/such/program"'),
    ],
)
def test_stage_of_a_pod_has_its_problem(name, expected, text):
    found = stage(name)
    assert found.name == expected
    assert text in found.text


def test_ready_pod_has_no_stage():
    assert stage("ready") is None


def test_pod_that_may_exit_is_ready_after_it_has():
    assert stage("completed").name == "exits"
    assert stage("completed", may_exit=True) is None
    assert stage("crashing", may_exit=True).name == "exits"


def test_restarts_before_the_start_are_not_counted():
    found = stage("crashing", restarts=2)
    assert found.name == "exit"
    assert found.limit is None


@pytest.mark.parametrize("name", ["crashing", "oom", "no-image"])
def test_final_problems_have_no_time_limit(name):
    assert stage(name).limit == 0


@pytest.mark.parametrize(
    ("name", "expected"), [("crashing", True), ("oom", True), ("pull", True), ("starting", False), ("too-large", False)]
)
def test_failing_pods_are_those_that_the_cluster_tries_again(name, expected):
    assert is_failing(recorded(name)["pods"][0]) == expected


def test_program_that_was_started_again_once_is_not_failing():
    pod = recorded("crashing")["pods"][0]
    status = pod["status"]["containerStatuses"][0]
    status["state"] = {"running": {"startedAt": "2026-01-31T12:00:00Z"}}
    assert is_failing(pod)
    status["restartCount"] = 1
    assert not is_failing(pod)


def test_unschedulable_pod_waits_longer_if_a_node_is_being_added():
    found = recorded("too-large")
    event = {"type": "Normal", "reason": "TriggeredScaleUp", "message": "pod triggered scale-up"}
    assert pod_stage(found["pods"][0], [*found["events"], event]).limit == SCALE_UP_SECONDS


def test_image_that_is_being_pulled_is_no_problem():
    found = recorded("no-secret")
    pulling = {"type": "Normal", "reason": "Pulling", "message": "Pulling image"}
    assert pod_stage(found["pods"][0], [pulling]).name == "pull"
    assert pod_stage(found["pods"][0], []).text == "waits for its containers to be created"


def test_log_of_the_run_that_failed_is_shown():
    """The log of a container that was started again is that of its current run."""
    found = recorded("crashing")
    assert stage("crashing").previous
    status = found["pods"][0]["status"]["containerStatuses"][0]
    status["state"] = {"terminated": status["lastState"]["terminated"]}
    assert not pod_stage(found["pods"][0], found["events"]).previous


@pytest.mark.parametrize(
    ("name", "status", "explanation"),
    [
        ("ready", "RUNNING", ""),
        ("starting", "STARTING", ""),
        ("unready", "UNHEALTHY", "its readiness probe fails"),
        ("crashing", "BACKOFF", "exit status 3"),
        ("oom", "BACKOFF", "exceeded its memory limit, 16 MiB"),
        ("awaiting", "STARTING", ""),
        ("no-config", "FATAL", 'it cannot start container main (CreateContainerConfigError): configmap "lab-nowhere"'),
        ("too-large", "FATAL", "it cannot be scheduled: "),
    ],
)
def test_state_of_a_service(name, status, explanation):
    assert state(name).status == status
    assert state(name).explanation.startswith(explanation)
    assert bool(state(name).started) == (name in {"ready", "starting", "unready"})


def test_state_of_a_service_is_that_of_its_least_healthy_pod():
    workload, ready = recorded("ready")["workload"], recorded("ready")["pods"][0]
    workload["spec"]["replicas"] = 2
    assert service_state(workload, [ready, recorded("crashing")["pods"][0]]).status == "BACKOFF"
    assert service_state(workload, [ready]).status == "STARTING"
    assert service_state(workload, [ready, ready]).status == "RUNNING"


def test_evicted_pod_does_not_change_the_state():
    workload, ready = recorded("ready")["workload"], recorded("ready")["pods"][0]
    evicted = recorded("starting")["pods"][0]
    evicted["status"] = {"phase": "Failed", "reason": "Evicted"}
    assert service_state(workload, [evicted, ready]).status == "RUNNING"
    assert not is_current(evicted, DEFINITION)


def test_state_of_a_stopped_service():
    workload, pods = recorded("ready")["workload"], recorded("ready")["pods"]
    workload["spec"]["replicas"] = 0
    assert service_state(workload, []).status == "STOPPED"
    pods[0]["metadata"]["deletionTimestamp"] = "2026-01-31T12:00:00Z"
    assert service_state(workload, pods).status == "STOPPING"


def test_rejected_pods_of_a_deployment_are_reported():
    workload = recorded("ready")["workload"]
    rejected = {"type": "ReplicaFailure", "status": "True", "message": "exceeded quota"}
    workload["status"]["conditions"] = [*workload["status"]["conditions"], rejected]
    assert creation_failure(workload) == "exceeded quota"
    assert service_state(workload, []).status == "FATAL"


@pytest.mark.parametrize(
    ("name", "status", "exit_status"),
    [
        ("task-ok", "EXITED", 0),
        ("task-failed", "EXITED", 7),
        ("task-oom", "FATAL", 137),
        ("task-lost", "FATAL", 1),
        ("task-running", "RUNNING", 0),
    ],
)
def test_state_of_a_task_is_that_of_its_last_run(name, status, exit_status):
    found = recorded(name)
    state = task_state(found["cronJob"], found["jobs"], found["pods"])
    assert (state.name, state.status, state.exit_status) == (name, status, exit_status)
    assert state.started
    assert task_state(found["cronJob"], [], found["pods"]).status == "STOPPED"


def test_job_is_made_from_the_template_of_its_task():
    found = recorded("task-ok")
    job = job_of(found["cronJob"], "12345", {})
    assert job["metadata"]["name"] == "task-ok-12345"
    assert job["metadata"]["labels"]["dev.lineage-lab.part"] == "task-ok"
    assert job["metadata"]["ownerReferences"][0]["uid"] == found["cronJob"]["metadata"]["uid"]
    assert job["spec"] == found["cronJob"]["spec"]["jobTemplate"]["spec"]


def test_variables_of_a_run_are_those_of_its_job_alone():
    cron_job = recorded("task-ok")["cronJob"]
    before = json.dumps(cron_job)
    (container,) = job_of(cron_job, "12345", {"B": "2", "A": "1"})["spec"]["template"]["spec"]["containers"]
    assert container["env"][-2:] == [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]
    assert json.dumps(cron_job) == before


def test_rollout_ends_with_the_last_pod_of_the_former_definition():
    workload = recorded("ready")["workload"]
    assert is_rolled_out(workload)
    assert progress_text(workload) == "waiting until ready"
    assert not is_rolled_out({**workload, "status": {**workload["status"], "replicas": 2}})
    assert not is_rolled_out({**workload, "metadata": {**workload["metadata"], "generation": 99}})
    assert not is_rolled_out(recorded("starting")["workload"])


def test_replicas_of_a_stopped_service_are_in_its_annotation():
    workload = recorded("ready")["workload"]
    assert configured_replicas(workload) == 1
    workload["metadata"]["annotations"]["dev.lineage-lab.replicas"] = "3"
    assert configured_replicas(workload) == 3


def evidence(name, **changes):
    found = recorded(name)
    pod = found["pods"][0]
    defaults = {
        "service": "schema_registry",
        "stage": stage(name),
        "context": "docker-desktop",
        "namespace": "lab",
        "pod": pod["metadata"]["name"],
        "events": found["events"],
        "claims": found.get("claims", ()),
    }
    return failure_message(Evidence(**defaults | changes))


def test_error_has_cause_events_log_and_the_command_that_shows_it():
    text = evidence("crashing", log="loading\ndisk is missing\n")
    first, *rest = text.splitlines()
    assert first.startswith("schema_registry ended 3 times while it was starting")
    assert any("BackOff: Back-off restarting failed container" in line for line in rest)
    command = "kubectl --context docker-desktop logs -n lab crashing-5f894df464-78gl9 -c main --previous"
    assert rest[-3:] == [f"The end of its log ({command}):", "    loading", "    disk is missing"]


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("oom", "Reduce its heap (lineage-lab:*HeapMib"),
        ("pull", "lineage-lab:imagePullSecret"),
        ("too-large", "Add a node, stop other pods, or reduce the heaps"),
        ("no-volume", "Set lineage-lab:storageClass"),
    ],
)
def test_error_has_the_remedy(name, remedy):
    assert remedy in evidence(name).splitlines()[0]


def test_error_about_a_pending_claim_has_its_storage_class_and_events():
    lines = evidence("no-volume").splitlines()
    assert lines[1] == "Its claim data-no-volume-0 is pending (storage class no-such-class):"
    assert lines[2].strip() == 'ProvisioningFailed: storageclass.storage.k8s.io "no-such-class" not found'


def test_time_in_a_stage_is_shown_if_there_is_no_other_cause():
    assert evidence("starting", seconds=240).startswith("schema_registry is not ready after 240 s.\n")
    assert " after " not in evidence("too-large", seconds=60).splitlines()[0]


def test_last_warnings_are_shown_once_each():
    def event(number, kind="Warning"):
        metadata = {"creationTimestamp": f"2026-01-31T12:00:{number:02}Z"}
        return {"type": kind, "reason": "Failed", "message": f"attempt {number % 10}", "metadata": metadata}

    found = recent_warnings([*(event(number) for number in range(20)), event(30, "Normal")])
    assert found == [f"Failed: attempt {number}" for number in range(10 - MAX_EVENTS, 10)]


def test_helper_pod_has_image_restrictions_and_volume_of_the_first_pod():
    workload = recorded("no-volume")["workload"]
    main = workload["spec"]["template"]["spec"]["containers"][0]
    main["volumeMounts"] = [{"name": "data", "mountPath": "/data"}, {"name": "tmp", "mountPath": "/tmp"}]
    main["securityContext"] = {"readOnlyRootFilesystem": True}
    pod = helper_pod(workload, "12345")
    [container] = pod["spec"]["containers"]
    assert (container["image"], container["securityContext"]) == (main["image"], {"readOnlyRootFilesystem": True})
    assert container["volumeMounts"] == [{"name": "data", "mountPath": "/data"}]
    assert pod["spec"]["volumes"] == [
        {"name": "data", "persistentVolumeClaim": {"claimName": claim_name("no-volume", 0, "data")}}
    ]
    assert "app.kubernetes.io/component" not in pod["metadata"]["labels"]  # not selected by the service
    with pytest.raises(ServiceError, match="Deployment ready has no volume"):
        helper_pod(recorded("ready")["workload"], "12345")


def test_names_follow_those_of_the_chart():
    assert object_name("schema_registry") == "schema-registry"
    assert claim_name("object_store", 2, "data") == "data-object-store-2"


@pytest.mark.parametrize(
    ("text", "value"),
    [("128974848", 128974848), ("129M", 129e6), ("123Mi", 123 * 2**20), ("1e3", 1000), ("250m", 0.25), ("2", 2)],
)
def test_quantities_of_the_api(text, value):
    assert quantity(text) == value


def test_invalid_quantity_is_an_error():
    with pytest.raises(ValueError, match="'2 GiB' is not a quantity"):
        quantity("2 GiB")


def node(name, **spec):
    return {"metadata": {"name": name}, "spec": spec, "status": {"allocatable": {"memory": "4Gi"}}}


def requesting_pod(node_name, memory, phase="Running"):
    containers = [{"resources": {"requests": {"memory": memory}}}, {"resources": {}}, {}]
    return {"spec": {"nodeName": node_name, "containers": containers}, "status": {"phase": phase}}


def test_free_memory_is_what_running_pods_on_schedulable_nodes_leave():
    pods = [
        requesting_pod("one", "1Gi"),
        requesting_pod("one", "9Gi", "Succeeded"),
        requesting_pod("two", "5Gi"),
        {"spec": {"containers": [{}]}, "status": {"phase": "Pending"}},
    ]
    assert free_memory_mib([node("one"), node("two"), node("drained", unschedulable=True)], pods) == 3 * 1024


def test_memory_of_pods_in_a_kubelets_report():
    report = recorded("summary")
    figures = parse_node_report(report, "lab")
    assert len(figures) == len(report["pods"])
    assert all(0 < size < 20 for size in figures.values())
    assert parse_node_report(report, "other") == {}


def test_memory_of_pods_in_the_metrics_api():
    item = {"metadata": {"name": "kafka-0"}, "containers": [{"usage": {"memory": "512Mi"}}]}
    assert parse_metrics({"items": [item]}) == {"kafka-0": 512}


def test_ready_endpoints_are_pods_without_a_negative_condition():
    def endpoint(name, conditions, kind="Pod"):
        return {"conditions": conditions, "targetRef": {"kind": kind, "name": name}}

    found = [
        endpoint("kafka-0", {"ready": True}),
        endpoint("kafka-1", {"ready": False, "terminating": True}),
        endpoint("kafka-2", {}),
        endpoint("node", {"ready": True}, "Node"),
        {"conditions": {"ready": True}},
    ]
    assert ready_pods({"endpoints": found}) == {"kafka-0", "kafka-2"}
    assert ready_pods({"endpoints": None}) == set()


def test_remaining_objects_of_a_namespace_are_reported():
    conditions = [
        {"type": "NamespaceDeletionDiscoveryFailure", "status": "False", "message": "All resources discovered"},
        {"type": "NamespaceFinalizersRemaining", "status": "True", "message": "finalizers remaining: lab.local/never"},
    ]
    assert deletion_problems({"status": {"conditions": conditions}}) == ["finalizers remaining: lab.local/never"]
    assert deletion_problems({"status": {}}) == []


def test_volumes_of_a_namespace_are_found_by_their_claims():
    def volume(name, policy, namespace):
        claim = {"claimRef": {"namespace": namespace}} if namespace else {}
        return {"metadata": {"name": name}, "spec": {"persistentVolumeReclaimPolicy": policy, **claim}}

    found = [volume("one", "Retain", "lab"), volume("two", "Delete", "lab"), volume("three", "Retain", "other")]
    assert volumes_of([*found, volume("four", "Retain", "")], "lab") == [("one", True), ("two", False)]
