# SPDX-License-Identifier: Apache-2.0
"""The namespace of a stack: creation, ownership, and deletion with everything in it."""

from collections.abc import Iterable, Mapping
from typing import Any

from infra.errors import PreflightError, ServiceError
from infra.provider.kind import OperationContext
from infra.targets.kubernetes.client import Cluster, KubernetesObject
from infra.targets.kubernetes.names import ENFORCE_LABEL, ENFORCED_LEVEL
from infra.targets.kubernetes.objects import NAMESPACES, VOLUMES
from infra.targets.kubernetes.request_errors import FORBIDDEN, RequestError
from infra.targets.labels import CHECKOUT_LABEL, STACK_LABEL

DELETE_SECONDS = 300
"""Time limit for a namespace to be deleted with its pods and volumes."""

VOLUME_SECONDS = 60
"""Time limit for the provisioner to delete the volumes of a deleted namespace."""

REQUEST_INTERVAL_SECONDS = 1
"""Interval of requests to the API server while an object is being deleted."""


def ensure_namespace(cluster: Cluster, name: str, owner: Mapping[str, str], call: OperationContext) -> None:
    """Create a namespace with the labels `owner`, or take over an existing one that has them.

    Raises:
        PreflightError: the namespace belongs to something else.
        ServiceError: it is being deleted, and its deletion does not end.
    """
    found = cluster.find(NAMESPACES, "", name)
    if found is not None and is_terminating(found):
        await_deletion(cluster, name, call)
        found = None
    labels = {**owner, ENFORCE_LABEL: ENFORCED_LEVEL}
    if found is None:
        body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}
        cluster.create(NAMESPACES, "", body)
        return
    require_owner(cluster, found, owner)
    if not labels.items() <= labels_of(found).items():
        cluster.patch(NAMESPACES, "", name, {"metadata": {"labels": labels}})


def labels_of(found: Mapping[str, Any]) -> dict[str, str]:
    """Return the labels of an object."""
    return dict(found["metadata"].get("labels") or {})


def is_terminating(found: Mapping[str, Any]) -> bool:
    """Return whether an object is being deleted."""
    return "deletionTimestamp" in found["metadata"]


def require_owner(cluster: Cluster, namespace: KubernetesObject, owner: Mapping[str, str]) -> None:
    """Check that a namespace has the labels of its stack.

    Raises:
        PreflightError: with the labels that it has, and the remedies.
    """
    name, labels = namespace["metadata"]["name"], labels_of(namespace)
    if owner.items() <= labels.items():
        return
    stack = labels.get(STACK_LABEL)
    holder = f"stack {stack} of checkout {labels.get(CHECKOUT_LABEL)}" if stack else "something else than this lab"
    command = " ".join(f"{label}={value}" for label, value in sorted(owner.items()))
    raise PreflightError(
        f"namespace {name} at {cluster} belongs to {holder}. Choose another one: lineage-lab:kubernetesNamespace. If "
        "everything in it may be deleted with the lab, let the lab take it over: "
        f"kubectl --context {cluster.context} label --overwrite namespace {name} {command}"
    )


def hand_over_namespace(cluster: Cluster, name: str, former: Mapping[str, str], owner: Mapping[str, str]) -> None:
    """Change the owner of a namespace: the checkout of the stack was moved.

    Raises:
        PreflightError: the namespace belongs to something else than its former owner.
    """
    require_owner(cluster, cluster.get(NAMESPACES, "", name), former)
    if former != owner:
        cluster.patch(NAMESPACES, "", name, {"metadata": {"labels": dict(owner)}})


def delete_namespace(cluster: Cluster, name: str, owner: Mapping[str, str], call: OperationContext) -> bool:
    """Delete a namespace and wait until everything in it is gone; return whether it existed.

    Warns of volumes that remain.

    Raises:
        PreflightError: the namespace belongs to something else.
        ServiceError: it could not be deleted in time; with what remains.
    """
    found = cluster.find(NAMESPACES, "", name)
    if found is None:
        return False
    require_owner(cluster, found, owner)
    cluster.delete(NAMESPACES, "", name)
    await_deletion(cluster, name, call)
    if remaining := _await_volumes(cluster, name, call):
        call.warn(
            f"volumes of namespace {name} remain, as their storage class retains them or its provisioner has not "
            f"deleted them: kubectl --context {cluster.context} delete persistentvolume {' '.join(remaining)}"
        )
    return True


def await_deletion(cluster: Cluster, name: str, call: OperationContext) -> None:
    """Wait until a namespace that is being deleted is gone."""
    for _ in call.poll(DELETE_SECONDS, REQUEST_INTERVAL_SECONDS):
        found = cluster.find(NAMESPACES, "", name)
        if found is None:
            return
        if problems := deletion_problems(found):
            call.report("waiting for the deletion: " + "; ".join(problems))
    remaining = "".join(f"\n  {problem}" for problem in deletion_problems(cluster.get(NAMESPACES, "", name)))
    raise ServiceError(
        f"namespace {name} at {cluster} was not deleted within {DELETE_SECONDS} s. What remains:"
        f"{remaining or ' the API server does not report it'}\n"
        f"Look at it with `kubectl --context {cluster.context} get namespace {name} -o yaml`, remove what blocks it, "
        "and repeat the command"
    )


def deletion_problems(namespace: Mapping[str, Any]) -> list[str]:
    """Return what the API server reports about the deletion of a namespace: remaining objects, finalizers, failures."""
    conditions = namespace["status"].get("conditions") or []
    return [condition["message"] for condition in conditions if condition["status"] == "True"]


def _await_volumes(cluster: Cluster, namespace: str, call: OperationContext) -> list[str]:
    """Wait until the volumes of a namespace are deleted, without those that are retained; return what remains."""
    try:
        for _ in call.poll(VOLUME_SECONDS, REQUEST_INTERVAL_SECONDS):
            volumes = volumes_of(cluster.list(VOLUMES), namespace)
            if all(retained for _, retained in volumes):
                break
    except RequestError as error:
        if error.status != FORBIDDEN:
            raise
        call.warn(f"whether volumes remain is unknown: {error}")
        return []
    return [name for name, _ in volumes]


def volumes_of(volumes: Iterable[Mapping[str, Any]], namespace: str) -> list[tuple[str, bool]]:
    """Return the volumes that claims of a namespace use or used, and whether they are kept without their claim."""
    return [
        (volume["metadata"]["name"], volume["spec"].get("persistentVolumeReclaimPolicy") == "Retain")
        for volume in volumes
        if (volume["spec"].get("claimRef") or {}).get("namespace") == namespace
    ]
