# SPDX-License-Identifier: Apache-2.0
"""State of a Deployment's or StatefulSet's rollout. Pure functions on the API's JSON."""

from collections.abc import Mapping
from typing import Any

from infra.targets.kubernetes.pod_stage import condition
from infra.targets.labels import DEFINITION_LABEL


def definition_of(workload: Mapping[str, Any]) -> str:
    """Return the hash of the service's values from which the pods of a workload are made."""
    return str(_template_annotations(workload).get(DEFINITION_LABEL, ""))


def _template_annotations(workload: Mapping[str, Any]) -> Mapping[str, Any]:
    return workload["spec"]["template"].get("metadata", {}).get("annotations") or {}


def has_probe(workload: Mapping[str, Any]) -> bool:
    """Return whether the program of a workload has a readiness probe."""
    return "readinessProbe" in workload["spec"]["template"]["spec"]["containers"][0]


def wanted_replicas(workload: Mapping[str, Any]) -> int:
    """Return the number of pods that a workload is scaled to."""
    return int(workload["spec"].get("replicas", 1))


def is_observed(workload: Mapping[str, Any]) -> bool:
    """Return whether the status is that of the latest change."""
    return int(workload["status"].get("observedGeneration", 0)) >= int(workload["metadata"]["generation"])


def is_rolled_out(workload: Mapping[str, Any]) -> bool:
    """Return whether all pods are of the latest definition and ready, and no other pods are left."""
    status, wanted = workload["status"], wanted_replicas(workload)
    counts = (status.get(name, 0) for name in ("updatedReplicas", "readyReplicas", "replicas"))
    return is_observed(workload) and all(count == wanted for count in counts)


def progress_text(workload: Mapping[str, Any]) -> str:
    """Return the number of ready pods, for a progress line."""
    wanted = wanted_replicas(workload)
    if not is_observed(workload):
        return "waiting for the cluster"
    ready = min(workload["status"].get("readyReplicas", 0), workload["status"].get("updatedReplicas", 0))
    return "waiting until ready" if wanted == 1 else f"{ready} of {wanted} pods are ready"


def creation_failure(workload: Mapping[str, Any]) -> str:
    """Return why a Deployment cannot create pods; empty if it can. A StatefulSet reports it by events only."""
    failure = condition(workload, "ReplicaFailure")
    return str(failure.get("message", "")) if failure.get("status") == "True" else ""
