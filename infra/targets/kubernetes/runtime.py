# SPDX-License-Identifier: Apache-2.0
"""`Runtime` of the Kubernetes target: the workloads, Jobs and pods of one stack in its namespace."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path

from infra.project import stack_root
from infra.provider.kind import OperationContext
from infra.targets.kubernetes import background, task_runs, workloads
from infra.targets.kubernetes.client import KubernetesObject, shared_cluster
from infra.targets.kubernetes.memory import memory_mib
from infra.targets.kubernetes.names import object_name
from infra.targets.kubernetes.namespace import delete_namespace
from infra.targets.kubernetes.objects import PODS, WORKLOADS
from infra.targets.kubernetes.pod_data import folder_copy, volume_folder
from infra.targets.kubernetes.pod_logs import follow_pod, follow_pods, merged_tail
from infra.targets.kubernetes.port_forward import ForwardFiles
from infra.targets.kubernetes.release_records import (
    has_records,
    release_id,
    remove_records,
    remove_unfinished_records,
)
from infra.targets.kubernetes.rollout import wanted_replicas
from infra.targets.kubernetes.stack_objects import StackObjects
from infra.targets.kubernetes.workload_state import configured_replicas, part_name, service_state, task_state
from infra.targets.labels import stack_labels
from infra.targets.runtime import State, indent_log_lines, unknown_program


class Pods:
    """The services and tasks of one stack (`infra.targets.runtime.Runtime`).

    Each method reads them from the API server, by label, as Pulumi's state may be lost or an update interrupted.

    Args:
        context: name of the kubeconfig context.
        namespace: namespace of the stack.
        stack: name of the stack.
    """

    def __init__(self, context: str, namespace: str, stack: str) -> None:
        self.context = context
        self.namespace = namespace
        self.stack = stack

    @property
    def objects(self) -> StackObjects:
        """Objects of the stack."""
        return StackObjects(shared_cluster(self.context), self.namespace, self.stack)

    def exists(self) -> bool:
        """Return whether the stack has a service or task."""
        return bool(self.objects.workloads() or self.objects.cron_jobs())

    def states(self) -> list[State]:
        """Return the states of all services and tasks, sorted by name."""
        found = self.objects
        pods, jobs, task_pods = found.service_pods_by_part(), found.jobs(), found.task_pods()
        services = [service_state(workload, pods[part_name(workload)]) for workload in found.workloads()]
        tasks = [
            task_state(task, [job for job in jobs if part_name(job) == part_name(task)], task_pods)
            for task in found.cron_jobs()
        ]
        return sorted([*services, *tasks], key=lambda state: state.name)

    def state(self, name: str) -> State | None:
        """Return the state of a service or task; None if it does not exist."""
        return next((state for state in self.states() if state.name == name), None)

    def require_state(self, name: str) -> State:
        """Return the state of a service or task; if it does not exist, raise an error with the existing names."""
        states = self.states()
        found = next((state for state in states if state.name == name), None)
        if found is None:
            raise unknown_program(name, states)
        return found

    def is_service(self, name: str) -> bool:
        """Return True for a service, False for a task."""
        return self._require(name)["kind"] in WORKLOADS

    def memory(self) -> Mapping[str, float]:
        """Return the memory of the pods of each running service and task in MiB, without reclaimable page cache.

        Empty if the user may not read it.
        """
        objects = self.objects
        running = [pod for pod in objects.all_pods() if pod["status"].get("phase") == "Running"]
        figures = memory_mib(objects.cluster, self.namespace, {pod["spec"]["nodeName"] for pod in running})
        found: dict[str, float] = defaultdict(float)
        for pod in running:
            if (name := pod["metadata"]["name"]) in figures:
                found[part_name(pod)] += figures[name]
        return found

    def run(self, name: str, variables: Mapping[str, str] | None = None) -> None:
        """Start a service or task; does nothing if it runs. `variables` are those of a run of a task."""
        item, objects = self._require(name), self.objects
        if item["kind"] not in WORKLOADS:
            task_runs.start(objects, item, variables or {})
        elif wanted_replicas(item) == 0:
            kind, replicas = WORKLOADS[item["kind"]], configured_replicas(item)
            workloads.scale(objects.cluster, kind, self.namespace, object_name(name), replicas)

    def run_to_end(
        self, name: str, show: Callable[[str], None] | None = None, variables: Mapping[str, str] | None = None
    ) -> State | None:
        """Start a task and wait for its end; `show` receives each line of its output."""
        self.run(name, variables)
        return self.state(name) if task_runs.await_end(self.objects, name, show) else None

    def stop(self, name: str) -> None:
        """Stop a service or task gracefully and wait for its end; does nothing if it does not run."""
        item, objects = self._require(name), self.objects
        if item["kind"] in WORKLOADS:
            workloads.stop(objects.cluster, item, WORKLOADS[item["kind"]], OperationContext())
        else:
            task_runs.stop(objects, name)

    def log_location(self, name: str) -> str:
        """Return the command that shows the full log."""
        pods = self._pods(name)
        target = f"pod/{pods[-1]['metadata']['name']}" if pods else f"{self._require(name)['kind']}/{object_name(name)}"
        return f"kubectl --context {self.context} logs -n {self.namespace} {target}"

    def log_tail(self, name: str, lines: int = 25) -> str:
        """Return the last lines of a log, indented by two spaces, or a note that it is empty."""
        found = merged_tail(self.objects.cluster, self._pods(name), lines)
        return indent_log_lines(found, f"{name} has no pod with a log; a log is removed with its pod")

    def follow(self, name: str, lines: int) -> Iterator[str]:
        """Yield the last lines of a log and new ones, across restarts and replacement of pods."""
        objects, first = self.objects, {pod["metadata"]["uid"] for pod in self._pods(name)}

        def follow(pod: KubernetesObject) -> Iterator[str]:
            begin = lines if pod["metadata"]["uid"] in first else None
            return follow_pod(objects.cluster, lambda: objects.current(PODS, pod), begin)

        return follow_pods(lambda: objects.latest_pods(name), follow)

    def remove_unmanaged(self, known: Callable[[], set[str]]) -> None:
        """Remove Helm's records of killed updates, which block further ones; the objects remain and are taken over."""
        cluster = self.objects.cluster
        if not has_records(cluster, self.namespace):
            return
        if release_id(self.namespace) in known():
            remove_unfinished_records(cluster, self.namespace)
        else:
            remove_records(cluster, self.namespace)

    def data(self, name: str, volume: str) -> AbstractContextManager[Path]:
        """Open a consistent copy of a volume's folder; changes are written back if the service is stopped."""
        return folder_copy(self.objects.cluster, self._require(name), volume_folder(volume))

    def volume_location(self, name: str, volume: str) -> str:
        """Return the location of a volume as an argument of `kubectl cp`."""
        return f"{self.namespace}/{object_name(name)}-0:{volume_folder(volume)}"

    def shut_down(self) -> bool:
        """Delete the namespace with everything in it, and stop the port forwarding; return whether it existed."""
        call = OperationContext()
        background.stop(ForwardFiles(stack_root(self.stack)).lock, call)
        return delete_namespace(self.objects.cluster, self.namespace, stack_labels(self.stack), call)

    def _require(self, name: str) -> KubernetesObject:
        """Return the workload of a service or the CronJob of a task."""
        objects = self.objects
        for found in objects.workloads(name):
            return found
        for found in objects.cron_jobs(name):
            return {**found, "kind": "CronJob"}
        raise unknown_program(name, self.states())

    def _pods(self, name: str) -> list[KubernetesObject]:
        """Return the pods of a service, or of the last run of a task, which must exist."""
        self._require(name)
        return self.objects.latest_pods(name)
