# SPDX-License-Identifier: Apache-2.0
"""Memory of pods, as the kubelets report it or, for users without access to nodes, as the metrics API does."""

from collections.abc import Iterable, Mapping
from typing import Any

from infra.targets.kubernetes.capacity import MIB, quantity
from infra.targets.kubernetes.client import Cluster
from infra.targets.kubernetes.objects import NODES
from infra.targets.kubernetes.request_errors import FORBIDDEN, NOT_FOUND, RequestError

METRICS_PATH = "/apis/metrics.k8s.io/v1beta1/namespaces/{}/pods"

_NOT_AVAILABLE = {FORBIDDEN, NOT_FOUND, 503}
"""Status of requests without permission, or to a cluster without (running) metrics server."""


def memory_mib(cluster: Cluster, namespace: str, nodes: Iterable[str]) -> dict[str, float]:
    """Return the memory of a namespace's pods in MiB, without reclaimable page cache.

    Empty if the user may not read it from the nodes, and the cluster has no metrics server.

    Args:
        cluster: the cluster.
        namespace: namespace of the pods.
        nodes: names of the nodes that run them.
    """
    try:
        reports = [_node_report(cluster, node) for node in nodes]
    except RequestError as error:
        if error.status != FORBIDDEN:
            raise
        return _metrics(cluster, namespace)
    return {name: size for report in reports for name, size in parse_node_report(report, namespace).items()}


def _node_report(cluster: Cluster, node: str) -> Mapping[str, Any]:
    return cluster.json(NODES.path("", node, "proxy/stats/summary"), f"read the memory of pods on node {node}")


def parse_node_report(report: Mapping[str, Any], namespace: str) -> dict[str, float]:
    """Return the memory of a namespace's pods in a kubelet's `/stats/summary`."""
    return {
        pod["podRef"]["name"]: int(pod.get("memory", {}).get("workingSetBytes", 0)) / MIB
        for pod in report.get("pods") or ()
        if pod["podRef"]["namespace"] == namespace
    }


def _metrics(cluster: Cluster, namespace: str) -> dict[str, float]:
    try:
        found = cluster.json(METRICS_PATH.format(namespace), f"read the memory of pods in namespace {namespace}")
    except RequestError as error:
        if error.status not in _NOT_AVAILABLE:
            raise
        return {}
    return parse_metrics(found)


def parse_metrics(found: Mapping[str, Any]) -> dict[str, float]:
    """Return the memory of pods in a response of the metrics API."""
    return {
        item["metadata"]["name"]: sum(quantity(entry["usage"]["memory"]) for entry in item["containers"]) / MIB
        for item in found["items"]
    }
