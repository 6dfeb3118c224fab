# SPDX-License-Identifier: Apache-2.0
"""`Runtime` of the Kubernetes target, on a real cluster."""

import os
import uuid

import pytest

from infra.cli.tasks import run_task
from infra.errors import PreflightError, ServiceError
from infra.provider.kind import OperationContext
from infra.provider.notes import read_notes
from infra.targets import kinds  # noqa: F401 - registers the readers of notes
from infra.targets.container_paths import SCRATCH, VOLUMES
from infra.targets.kubernetes.client import shared_cluster
from infra.targets.kubernetes.namespace import ensure_namespace
from infra.targets.kubernetes.objects import CRON_JOBS, NAMESPACES, PODS, SECRETS, WORKLOADS
from infra.targets.kubernetes.pod_notes import pod_location
from infra.targets.kubernetes.runtime import Pods
from infra.targets.labels import stack_labels
from tests.kubernetes.cluster import addresses
from tests.kubernetes.cluster.volumes import STORAGE_CLASS
from tests.kubernetes.lab_workloads import WAIT_FOR_TERM, task, workload
from tests.runtime_contract import *  # noqa: F403 - its tests are collected here
from tests.runtime_contract import await_truthy


class ShellPods(Pods):
    """Pods that run shell scripts (`tests.runtime_contract`)."""

    def create(self, name, script, is_service, **options):
        if is_service:
            item = workload(self.stack, name, script, **options)
            self.objects.cluster.create(WORKLOADS[item["kind"]], self.namespace, item)
        else:
            self.objects.cluster.create(CRON_JOBS, self.namespace, task(self.stack, name, script, **options))

    def process(self, name):
        return [pod["metadata"]["uid"] for pod in self.objects.service_pods(name)]

    def scratch(self, name):
        return SCRATCH


@pytest.fixture
def runtime(cluster):
    stack = f"test-{uuid.uuid4().hex[:8]}"
    namespace, shared = f"lineage-lab-{stack}", shared_cluster(addresses.CONTEXT)
    ensure_namespace(shared, namespace, stack_labels(stack), OperationContext())
    yield ShellPods(addresses.CONTEXT, namespace, stack)
    shared.delete(NAMESPACES, "", namespace)


def test_replicas_of_a_stopped_service_are_restored(runtime):
    runtime.create("brokers", f"echo started; {WAIT_FOR_TERM}", True, kind="StatefulSet", replicas=2)
    await_truthy(lambda: runtime.require_state("brokers").running)
    lines = sorted(line.strip() for line in runtime.log_tail("brokers").splitlines())
    assert lines == ["brokers-0: started", "brokers-1: started"]
    runtime.stop("brokers")
    assert runtime.require_state("brokers").status == "STOPPED"
    assert "a log is removed with its pod" in runtime.log_tail("brokers")
    runtime.run("brokers")
    await_truthy(lambda: runtime.require_state("brokers").running)
    assert len(runtime.process("brokers")) == 2


def test_log_location_is_a_command_that_works(runtime, kubectl):
    runtime.create("server", f"echo hello; {WAIT_FOR_TERM}", True)
    await_truthy(lambda: "hello" in runtime.log_tail("server"))
    assert kubectl.run(*runtime.log_location("server").split()[1:]) == "hello"


def test_error_of_a_task_killed_by_its_memory_limit_names_the_limit(runtime):
    allocate = "i=0; x=; while :; do x=$x$x.; done"
    runtime.create("allocator", allocate, False, container={"resources": {"limits": {"memory": "16Mi"}}})
    with pytest.raises(ServiceError, match=r"allocator failed .*exceeded its memory limit, 16 MiB"):
        run_task(runtime, "allocator")


def test_task_whose_image_is_missing_is_fatal(runtime):
    runtime.create("lost", "true", False, container={"image": "lab.local/nowhere:1", "imagePullPolicy": "Never"})
    runtime.run("lost")
    await_truthy(lambda: runtime.require_state("lost").status == "FATAL")
    assert "cannot pull its image lab.local/nowhere:1" in runtime.require_state("lost").explanation
    runtime.stop("lost")
    assert runtime.require_state("lost").status == "STOPPED"


def test_task_removed_while_it_runs_has_failed(runtime):
    runtime.create("sleeper", "echo started; exec sleep 600", False)
    with pytest.raises(ServiceError, match="sleeper failed: it was removed"):
        run_task(runtime, "sleeper", lambda line: runtime.stop("sleeper"))


def test_repeatedly_failing_service_is_in_backoff_with_its_exit_status(runtime):
    runtime.create("failing", "exit 3", True)
    state = await_truthy(lambda: next((state for state in runtime.states() if state.status == "BACKOFF"), None))
    assert state.explanation == "exit status 3"
    assert not state.healthy


def test_service_whose_probe_fails_is_unhealthy(runtime):
    script = f"touch /tmp/ready; sleep 3; rm /tmp/ready; {WAIT_FOR_TERM}"
    runtime.create("server", script, True, ready_file="/tmp/ready")
    await_truthy(lambda: runtime.require_state("server").running)
    await_truthy(lambda: runtime.require_state("server").status == "UNHEALTHY")
    assert runtime.require_state("server").alive


def test_pod_that_fits_no_node_is_fatal_with_the_schedulers_words(runtime):
    runtime.create("large", "true", True, container={"resources": {"requests": {"memory": "999Gi"}}})
    await_truthy(lambda: runtime.require_state("large").status == "FATAL")
    assert "Insufficient memory" in runtime.require_state("large").explanation


def test_shut_down_rejects_a_namespace_of_another_checkout(runtime):
    shared_cluster(addresses.CONTEXT).patch(
        NAMESPACES, "", runtime.namespace, {"metadata": {"labels": {"dev.lineage-lab.checkout": "elsewhere"}}}
    )
    with pytest.raises(PreflightError, match=f"stack {runtime.stack} of checkout elsewhere"):
        runtime.shut_down()


def helm_record(version, status):
    labels = {"owner": "helm", "name": "lineage-lab", "status": status, "version": str(version)}
    metadata = {"name": f"sh.helm.release.v1.lineage-lab.v{version}", "labels": labels}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata}


def test_records_of_killed_operations_are_removed_and_all_of_a_lost_state(runtime):
    shared = shared_cluster(addresses.CONTEXT)
    runtime.remove_unmanaged(lambda: pytest.fail("the state was read"))
    for version, status in ((1, "deployed"), (2, "pending-upgrade")):
        shared.create(SECRETS, runtime.namespace, helm_record(version, status))

    def statuses():
        return [found["metadata"]["labels"]["status"] for found in shared.list(SECRETS, runtime.namespace)]

    runtime.remove_unmanaged(lambda: {f"{runtime.namespace}/lineage-lab"})
    assert statuses() == ["deployed"]
    runtime.remove_unmanaged(set)
    assert statuses() == []


VOLUME_SCRIPT = f"""
mkdir -p {VOLUMES}/data && cd {VOLUMES}/data
cat first second removed 2>/dev/null; echo "end of files"
[ -e first ] || {{ echo kept > first; echo old > removed; }}
{WAIT_FOR_TERM}
"""
"""Service that prints the files of its volume, and creates two in an empty one."""

COUNTING_SCRIPT = f"""
mkdir -p {VOLUMES}/data && cd {VOLUMES}/data
for i in 1 2 3 4 5 6 7 8; do mkdir $i; head -c 5000000 /dev/zero > $i/large; done
count() {{ n=0; while :; do n=$((n + 1)); for i in *; do echo $n > $i/new; mv $i/new $i/count; done; done; }}
count & trap 'kill $!; exit 0' TERM; sleep 1; echo counting; wait
"""
"""Service that writes numbers to several files in turn, among large files whose copies take long."""


@pytest.fixture
def store(runtime):
    """Runtime of a service with a volume."""
    runtime.create("store", VOLUME_SCRIPT, True, kind="StatefulSet", volume=STORAGE_CLASS)
    await_truthy(lambda: "end of files" in runtime.log_tail("store"))
    # The API server learns later than the log that the program runs.
    await_truthy(lambda: runtime.require_state("store").running)
    return runtime


def test_data_is_copied_while_the_pod_runs_and_replaced_while_it_is_stopped(store, kubectl):
    with store.data("store", "data") as data:
        assert (data / "first").read_text() == "kept\n"
        (data / "first").write_text("lost\n")
    assert store.require_state("store").running
    location = store.volume_location("store", "data")
    assert location == f"{store.namespace}/store-0:{VOLUMES}/data"
    store.stop("store")
    with store.data("store", "data") as data:
        assert (data / "first").read_text() == "kept\n"
        (data / "second").write_text("added\n")
        (data / "large").write_bytes(os.urandom(3_000_000))
        (data / "removed").unlink()
    with store.data("store", "data") as data:
        assert (data / "large").stat().st_size == 3_000_000
    helpers = shared_cluster(addresses.CONTEXT).list(PODS, store.namespace, {"dev.lineage-lab.role": "data"})
    assert [pod for pod in helpers if "deletionTimestamp" not in pod["metadata"]] == []
    store.run("store")
    await_truthy(lambda: "end of files" in store.log_tail("store"))
    assert store.log_tail("store").split() == ["kept", "added", "end", "of", "files"]


def test_copy_has_the_files_of_one_instant_and_processes_continue_after_it(runtime):
    runtime.create("counter", COUNTING_SCRIPT, True, kind="StatefulSet", volume=STORAGE_CLASS)
    await_truthy(lambda: "counting" in runtime.log_tail("counter"))

    def counts():
        with runtime.data("counter", "data") as data:
            return [int(file.read_text()) for file in data.glob("*/count")]

    first, second = counts(), counts()
    assert len(first) == 8
    assert max(first) - min(first) <= 1
    assert max(second) - min(second) <= 1
    assert min(second) > max(first)


def test_missing_folder_of_a_volume_is_reported(store):
    with pytest.raises(ServiceError, match="nothing"), store.data("store", "nothing"):
        pass
    assert store.require_state("store").running


def test_notes_of_a_pod_are_read(store):
    def location(path, service="store"):
        return pod_location(addresses.CONTEXT, store.namespace, service, path)

    assert read_notes(location(f"{VOLUMES}/data/first")) == "kept\n"
    with pytest.raises(FileNotFoundError, match=r"pod store-0 has no file /missing\.json"):
        read_notes(location("/missing.json"))
    with pytest.raises(FileNotFoundError, match="launcher has no running pod"):
        read_notes(location("/missing.json", "launcher"))
