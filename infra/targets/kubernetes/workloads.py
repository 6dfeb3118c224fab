# SPDX-License-Identifier: Apache-2.0
"""Requests about the workloads of a namespace: their pods, events and logs, and how many pods they are scaled to."""

from collections.abc import Mapping
from typing import Any

from infra.errors import ServiceError
from infra.provider.kind import OperationContext
from infra.targets.kubernetes.client import Cluster, KubernetesObject
from infra.targets.kubernetes.objects import CLAIMS, EVENTS, PODS, WORKLOADS, ObjectType
from infra.targets.kubernetes.pod_stage import condition
from infra.targets.kubernetes.request_errors import RequestError
from infra.targets.kubernetes.workload_failure import event_time

LOG_LINES = 30

STOP_MARGIN_SECONDS = 60
"""Time for pods to end beyond their grace period; the node kills them after that period."""

REQUEST_INTERVAL_SECONDS = 0.5
"""Interval of requests to the API server while pods start or end."""


def pods_of(cluster: Cluster, workload: KubernetesObject) -> list[KubernetesObject]:
    """Return the pods of a workload, sorted by name."""
    labels = workload["spec"]["selector"]["matchLabels"]
    pods = cluster.list(PODS, workload["metadata"]["namespace"], labels)
    return sorted(pods, key=lambda pod: str(pod["metadata"]["name"]))


def events_of(cluster: Cluster, kind: ObjectType, namespace: str, name: str) -> list[KubernetesObject]:
    """Return the events of an object in the order of their last occurrence."""
    fields = f"involvedObject.kind={kind.kind},involvedObject.name={name}"
    return sorted(cluster.list(EVENTS, namespace, fields=fields), key=event_time)


def unbound_claims(cluster: Cluster, pod: KubernetesObject) -> list[tuple[KubernetesObject, list[KubernetesObject]]]:
    """Return the claims of a pod that have no volume, each with its events."""
    namespace = pod["metadata"]["namespace"]
    names = (volume.get("persistentVolumeClaim", {}).get("claimName") for volume in pod["spec"].get("volumes") or ())
    claims = (cluster.find(CLAIMS, namespace, name) for name in names if name)
    return [
        (claim, events_of(cluster, CLAIMS, namespace, claim["metadata"]["name"]))
        for claim in claims
        if claim is not None and claim["status"].get("phase") != "Bound"
    ]


def log_tail(cluster: Cluster, pod: KubernetesObject, container: str, previous: bool, lines: int = LOG_LINES) -> str:
    """Return the last lines of a container's log; if there is none, the API server's reason."""
    namespace, name = pod["metadata"]["namespace"], pod["metadata"]["name"]
    query = {"container": container, "tailLines": lines, "previous": str(previous).lower()}
    path = PODS.path(namespace, name, "log")
    try:
        return cluster.text(path, f"read the log of {PODS.described(namespace, name)}", query)
    except RequestError as error:  # the log completes another error
        return f"({error})"


def scale(cluster: Cluster, kind: ObjectType, namespace: str, name: str, replicas: int) -> None:
    """Set the number of pods of a workload."""
    cluster.patch(kind, namespace, name, {"spec": {"replicas": replicas}}, "scale")


def stop(cluster: Cluster, workload: KubernetesObject, kind: ObjectType, call: OperationContext) -> None:
    """Scale a workload to 0 and wait until its pods have ended.

    Raises:
        ServiceError: a pod did not end in time; with the state of its node.
    """
    namespace, name = workload["metadata"]["namespace"], workload["metadata"]["name"]
    scale(cluster, kind, namespace, name, 0)
    limit = grace_seconds(workload) + STOP_MARGIN_SECONDS
    pods: list[KubernetesObject] = []
    for _ in call.poll(limit, REQUEST_INTERVAL_SECONDS):
        pods = pods_of(cluster, workload)
        if not pods:
            return
        call.report(f"waiting for the end of {len(pods)} pods")
    names = [pod["metadata"]["name"] for pod in pods]
    nodes = sorted({pod["spec"].get("nodeName", "no node") for pod in pods})
    raise ServiceError(
        f"{kind.described(namespace, name)} was scaled to 0, and after {limit} s these pods have not ended: "
        f"{', '.join(names)} on {', '.join(nodes)}. If the node is down: kubectl --context {cluster.context} "
        f"delete pod -n {namespace} --force {' '.join(names)}"
    )


def grace_seconds(workload: Mapping[str, Any]) -> int:
    """Return the time that the pods of a workload have for a graceful shutdown; 30 s is Kubernetes' default."""
    return int(workload["spec"]["template"]["spec"].get("terminationGracePeriodSeconds", 30))


def require_workload(cluster: Cluster, kind: str, namespace: str, name: str) -> KubernetesObject:
    """Return a workload.

    Raises:
        ServiceError: the Helm release has not created it.
    """
    found = cluster.find(WORKLOADS[kind], namespace, name)
    if found is None:
        raise ServiceError(
            f"there is no {WORKLOADS[kind].described(namespace, name)}, which the Helm release creates. If somebody "
            "has deleted it: `bin/lab up` creates it again after `pulumi up --refresh`"
        )
    return found


def is_gone(pod: Mapping[str, Any]) -> bool:
    """Return whether a pod is being deleted, or has ended for good, as an evicted one; its workload replaces it."""
    ended = pod["status"].get("phase") in {"Failed", "Succeeded"}
    return ended or "deletionTimestamp" in pod["metadata"] or condition(pod, "DisruptionTarget").get("status") == "True"
