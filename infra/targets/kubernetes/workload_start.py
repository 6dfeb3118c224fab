# SPDX-License-Identifier: Apache-2.0
"""Start of a service's pods: waits until they are ready, or until it is known that they will not be."""

import time

from infra.errors import ServiceError
from infra.provider.kind import OperationContext
from infra.targets.kubernetes import rollout, workloads
from infra.targets.kubernetes.client import Cluster, KubernetesObject
from infra.targets.kubernetes.kind_inputs import WorkloadInputs
from infra.targets.kubernetes.names import object_name
from infra.targets.kubernetes.objects import ENDPOINT_SLICES, PODS, WORKLOADS
from infra.targets.kubernetes.pod_stage import Stage, is_ready_pod, pod_stage, restart_count
from infra.targets.kubernetes.ready_pods import SERVICE_LABEL, ready_pods
from infra.targets.kubernetes.workload_failure import Evidence, failure_message
from infra.targets.labels import DEFINITION_LABEL

READS_PER_DIAGNOSIS = 4
"""Reads of a workload that is not ready per look at its pods, with their events."""

CREATE_SECONDS = 30
"""Time limit for the cluster to create pods."""

UNPROBED_SECONDS = 2
"""Time that a program without a readiness probe must run to count as ready."""

ENDPOINT_SECONDS = 30
"""Time limit for ready pods to appear among the endpoints of their Service."""

UNLIMITED_SECONDS = 24 * 3600
"""Time limit of the loop; each stage of the start has its own."""

NO_POD = ""
"""Stands for the workload itself among the names of its pods."""


class Readiness:
    """Readiness of a service's pods over time: a program without a probe is ready when it has run for a while."""

    def __init__(self, cluster: Cluster, inputs: WorkloadInputs) -> None:
        self._cluster = cluster
        self._inputs = inputs
        self._ready: tuple[dict[str, int], float] = {}, 0.0

    def holds(self, workload: KubernetesObject) -> bool:
        """Return whether all pods are ready, or have completed as they may, and clients can reach them."""
        if rollout.is_rolled_out(workload):
            return self._has_run(workload) and _has_endpoints(self._cluster, self._inputs)
        if not self._inputs.may_exit or not rollout.is_observed(workload):
            return False
        pods = self._current_pods(workload)
        return len(pods) == self._inputs.replicas and all(pod_stage(pod, may_exit=True) is None for pod in pods)

    def _has_run(self, workload: KubernetesObject) -> bool:
        """Return whether pods without a probe have run for `UNPROBED_SECONDS` while this object looked at them."""
        if rollout.has_probe(workload):
            return True
        restarts = {pod["metadata"]["uid"]: restart_count(pod) for pod in self._current_pods(workload)}
        if restarts != self._ready[0]:
            self._ready = restarts, time.monotonic()
        return time.monotonic() - self._ready[1] >= UNPROBED_SECONDS

    def _current_pods(self, workload: KubernetesObject) -> list[KubernetesObject]:
        definition = rollout.definition_of(workload)
        return [pod for pod in workloads.pods_of(self._cluster, workload) if is_current(pod, definition)]


def _has_endpoints(cluster: Cluster, inputs: WorkloadInputs) -> bool:
    """Return whether the service's endpoints have its ready pods; they follow the pods' state with a delay."""
    slices = cluster.list(ENDPOINT_SLICES, inputs.namespace, {SERVICE_LABEL: object_name(inputs.service)})
    reachable = {pod for found in slices for pod in ready_pods(found)}
    return not slices or len(reachable) >= inputs.replicas


def is_current(pod: KubernetesObject, definition: str) -> bool:
    """Return whether a pod is of a definition and is to stay."""
    annotations = pod["metadata"].get("annotations") or {}
    return annotations.get(DEFINITION_LABEL, "") == definition and not workloads.is_gone(pod)


class WorkloadStart:
    """Start of a service's pods; each pod has a time limit for each stage of its start."""

    def __init__(self, cluster: Cluster, inputs: WorkloadInputs, call: OperationContext) -> None:
        self._cluster = cluster
        self._inputs = inputs
        self._call = call
        self._kind = WORKLOADS[inputs.kind]
        self._name = object_name(inputs.service)
        self._readiness = Readiness(cluster, inputs)
        self._restarts: dict[str, int] = {}
        self._stages: dict[str, tuple[str, float]] = {}

    def wait(self) -> None:
        """Wait until the pods are ready.

        Raises:
            ServiceError: a pod failed or stayed in a stage for too long.
        """
        for turn, _ in enumerate(self._call.poll(UNLIMITED_SECONDS, workloads.REQUEST_INTERVAL_SECONDS)):
            workload = workloads.require_workload(self._cluster, self._inputs.kind, self._inputs.namespace, self._name)
            current = rollout.definition_of(workload) == self._inputs.definition
            if current and self._readiness.holds(workload):
                return
            if turn % READS_PER_DIAGNOSIS == 0:
                self._check(workload, current)

    def _check(self, workload: KubernetesObject, current: bool) -> None:
        """Report the stage of the start, and check its time limit."""
        pods = workloads.pods_of(self._cluster, workload)
        stages = [(pod, self._pod_stage(pod)) for pod in pods if is_current(pod, self._inputs.definition)]
        starting = [(pod, stage) for pod, stage in stages if stage is not None]
        if starting:
            self._stages.pop(NO_POD, None)
        else:
            self._check_stage(self._workload_stage(workload, pods, current))
        for pod, stage in starting:
            self._check_stage(stage, pod)
        other = [f"{pod['metadata']['name']} {stage.text}" for pod, stage in starting if stage.limit is not None]
        self._call.report("; ".join(other) or rollout.progress_text(workload))

    def _pod_stage(self, pod: KubernetesObject) -> Stage | None:
        """Return the stage of a pod; restarts before the first look at it are not counted."""
        name = pod["metadata"]["name"]
        restarts = self._restarts.setdefault(pod["metadata"]["uid"], restart_count(pod))
        if is_ready_pod(pod):
            self._stages.pop(name, None)
            return None
        events = workloads.events_of(self._cluster, PODS, self._inputs.namespace, name)
        return pod_stage(pod, events, restarts, self._inputs.may_exit)

    def _workload_stage(self, workload: KubernetesObject, pods: list[KubernetesObject], current: bool) -> Stage:
        """Return what a workload waits for that has no pod which is starting."""
        if not current:
            return Stage("release", "was not changed by the Helm release", CREATE_SECONDS)
        if not pods:
            reason = rollout.creation_failure(workload) or self._last_creation_event()
            return Stage("no pods", f"has no pod{f': {reason}' if reason else ''}", CREATE_SECONDS)
        if rollout.is_rolled_out(workload):
            return Stage("endpoints", "is ready, but is not among the endpoints of its Service", ENDPOINT_SECONDS)
        seconds = workloads.grace_seconds(workload) + workloads.STOP_MARGIN_SECONDS
        return Stage("rollout", "waits for the end of its former pods", seconds)

    def _last_creation_event(self) -> str:
        """Return why pods are rejected: by a quota, Pod Security or an admission controller."""
        events = workloads.events_of(self._cluster, self._kind, self._inputs.namespace, self._name)
        failures = [str(event.get("message", "")) for event in events if event.get("reason") == "FailedCreate"]
        return next(iter(failures[-1:]), "")

    def _check_stage(self, stage: Stage, pod: KubernetesObject | None = None) -> None:
        key, now = pod["metadata"]["name"] if pod else NO_POD, time.monotonic()
        name, since = self._stages.get(key, ("", now))
        if name != stage.name:
            since = now
        self._stages[key] = stage.name, since
        limit = self._inputs.seconds if stage.limit is None else stage.limit
        if now - since >= limit:
            raise self._failure(stage, int(now - since), pod)

    def _failure(self, stage: Stage, seconds: int, pod: KubernetesObject | None) -> ServiceError:
        cluster, namespace = self._cluster, self._inputs.namespace
        kind, name = (PODS, pod["metadata"]["name"]) if pod else (self._kind, self._name)
        evidence = Evidence(
            service=self._inputs.service,
            stage=stage,
            context=self._inputs.context,
            namespace=namespace,
            pod=name if pod else "",
            seconds=seconds,
            events=workloads.events_of(cluster, kind, namespace, name),
            claims=workloads.unbound_claims(cluster, pod) if pod else [],
            log=workloads.log_tail(cluster, pod, stage.container, stage.previous) if pod and stage.container else "",
        )
        return ServiceError(failure_message(evidence))
