# SPDX-License-Identifier: Apache-2.0
"""`labkit:index:Workload`: readiness of a service's pods; dependants of the service depend on it."""

from typing import Any

from infra.provider.kind import Kind, OperationContext, ReadResult
from infra.targets.kubernetes import rollout, workloads
from infra.targets.kubernetes.client import Cluster, KubernetesObject, shared_cluster
from infra.targets.kubernetes.kind_inputs import WorkloadInputs
from infra.targets.kubernetes.names import object_name
from infra.targets.kubernetes.objects import PODS, WORKLOADS
from infra.targets.kubernetes.pod_stage import is_failing
from infra.targets.kubernetes.workload_start import Readiness, WorkloadStart

RECOVERY_TIMEOUT_SECONDS = 15
"""Time limit of a refresh for the cluster to replace a pod before the service counts as missing."""


class WorkloadKind(Kind[WorkloadInputs]):
    """Waits until a service's pods are ready, and stops them; the chart's Helm release creates and removes them."""

    name = "Workload"
    inputs = WorkloadInputs
    replace_on = frozenset({"context", "namespace", "service", "kind"})

    def create(self, inputs: WorkloadInputs, call: OperationContext) -> dict[str, Any]:
        """Scale a stopped service up, replace pods that failed before, and wait until all are ready."""
        cluster, name = shared_cluster(inputs.context), object_name(inputs.service)
        workload = workloads.require_workload(cluster, inputs.kind, inputs.namespace, name)
        if rollout.wanted_replicas(workload) != inputs.replicas:
            workloads.scale(cluster, WORKLOADS[inputs.kind], inputs.namespace, name, inputs.replicas)
        _replace_failed_pods(cluster, workload)
        WorkloadStart(cluster, inputs, call).wait()
        return {}

    def read(self, inputs: WorkloadInputs, call: OperationContext) -> ReadResult[WorkloadInputs] | None:
        """Return the inputs if the pods are ready; None if the service is stopped, failed or missing."""
        cluster, name = shared_cluster(inputs.context), object_name(inputs.service)
        readiness = Readiness(cluster, inputs)
        for _ in call.poll(RECOVERY_TIMEOUT_SECONDS, workloads.REQUEST_INTERVAL_SECONDS):
            workload = cluster.find(WORKLOADS[inputs.kind], inputs.namespace, name)
            if workload is None or rollout.wanted_replicas(workload) == 0:
                return None
            if readiness.holds(workload):
                return ReadResult(inputs)
        return None

    def update(self, old: WorkloadInputs, new: WorkloadInputs, call: OperationContext) -> dict[str, Any]:
        return self.create(new, call)

    def delete(self, inputs: WorkloadInputs, call: OperationContext) -> None:
        """Stop the pods gracefully; dependants have been stopped before."""
        cluster, name = shared_cluster(inputs.context), object_name(inputs.service)
        workload = cluster.find(WORKLOADS[inputs.kind], inputs.namespace, name)
        if workload is not None:
            workloads.stop(cluster, workload, WORKLOADS[inputs.kind], call)


def _replace_failed_pods(cluster: Cluster, workload: KubernetesObject) -> None:
    """Delete pods whose program or image failed: the cluster waits up to 5 min before it tries them again."""
    for pod in workloads.pods_of(cluster, workload):
        if is_failing(pod):
            cluster.delete(PODS, pod["metadata"]["namespace"], pod["metadata"]["name"])
