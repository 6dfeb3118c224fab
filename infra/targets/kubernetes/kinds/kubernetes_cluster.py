# SPDX-License-Identifier: Apache-2.0
"""`labkit:index:KubernetesCluster`: the cluster and the namespace of a stack, and its folder on this machine."""

import shutil
from pathlib import Path
from typing import Any

from infra.errors import PreflightError
from infra.provider.kind import Kind, OperationContext, ReadResult
from infra.provider.preflight import busy_ports, enforce_preflight
from infra.targets.kubernetes import background
from infra.targets.kubernetes.capacity import free_memory_mib
from infra.targets.kubernetes.client import Cluster, KubernetesObject, shared_cluster
from infra.targets.kubernetes.kind_inputs import KubernetesClusterInputs
from infra.targets.kubernetes.namespace import (
    delete_namespace,
    ensure_namespace,
    hand_over_namespace,
    is_terminating,
    require_owner,
)
from infra.targets.kubernetes.objects import NAMESPACES, NODES, PODS, STORAGE_CLASSES
from infra.targets.kubernetes.port_forward import ForwardFiles
from infra.targets.kubernetes.release_records import remove_records
from infra.targets.kubernetes.request_errors import FORBIDDEN, RequestError
from infra.targets.labels import CHECKOUT_LABEL, STACK_LABEL

DEFAULT_CLASS_ANNOTATION = "storageclass.kubernetes.io/is-default-class"


class KubernetesClusterKind(Kind[KubernetesClusterInputs]):
    """Created first, after the preflight, and deleted last: all other resources of the stack depend on it."""

    name = "KubernetesCluster"
    inputs = KubernetesClusterInputs
    replace_on = frozenset({"context", "namespace", "root", "stack"})

    def create(self, inputs: KubernetesClusterInputs, call: OperationContext) -> dict[str, Any]:
        cluster = _cluster(inputs)
        background.stop(ForwardFiles(Path(inputs.root)).lock, call)  # of a run whose state is lost
        self._preflight(cluster, inputs, call)
        ensure_namespace(cluster, inputs.namespace, _owner(inputs), call)
        remove_records(cluster, inputs.namespace)  # as above
        Path(inputs.root).mkdir(parents=True, exist_ok=True, mode=0o700)
        return {}

    def _preflight(self, cluster: Cluster, inputs: KubernetesClusterInputs, call: OperationContext) -> None:
        _require_storage_class(cluster, inputs, call)
        short = _memory_shortages(cluster, inputs, call)
        enforce_preflight(str(cluster), inputs.stack, busy_ports(inputs.ports), short, inputs.preflight, call.warn)

    def read(
        self, inputs: KubernetesClusterInputs, call: OperationContext
    ) -> ReadResult[KubernetesClusterInputs] | None:
        """Return the inputs; None if the namespace is gone. An unreachable cluster is an error.

        Reporting that as missing would create everything again.
        """
        cluster = _cluster(inputs)
        found = cluster.find(NAMESPACES, "", inputs.namespace)
        if found is None or is_terminating(found):
            return None
        require_owner(cluster, found, _owner(inputs))
        return ReadResult(inputs)

    def update(
        self, old: KubernetesClusterInputs, new: KubernetesClusterInputs, call: OperationContext
    ) -> dict[str, Any]:
        """Check what cannot change, and hand the namespace over to a checkout that was moved.

        Ports, storage and memory are checked before the first start only.
        """
        _require_equal_replicas(old, new)
        hand_over_namespace(_cluster(new), new.namespace, _owner(old), _owner(new))
        return {}

    def delete(self, inputs: KubernetesClusterInputs, call: OperationContext) -> None:
        """Delete the namespace with everything in it, and the stack's folder."""
        delete_namespace(_cluster(inputs), inputs.namespace, _owner(inputs), call)
        background.stop(ForwardFiles(Path(inputs.root)).lock, call)
        shutil.rmtree(inputs.root, ignore_errors=True)


def _require_equal_replicas(old: KubernetesClusterInputs, new: KubernetesClusterInputs) -> None:
    """Raise PreflightError if a service is to get another number of replicas than its data are distributed over."""
    for service in sorted(old.fixed_replicas.keys() | new.fixed_replicas.keys()):
        before, after = old.fixed_replicas.get(service, 1), new.fixed_replicas.get(service, 1)
        if before != after:
            raise PreflightError(
                f"{service} of stack {new.stack} runs with {before} replicas, which hold its data; the settings ask "
                f"for {after}. Set the number back, or create the lab again: bin/lab down --stack {new.stack}"
            )


def _owner(inputs: KubernetesClusterInputs) -> dict[str, str]:
    return {STACK_LABEL: inputs.stack, CHECKOUT_LABEL: inputs.checkout}


def _cluster(inputs: KubernetesClusterInputs) -> Cluster:
    """Return the client of the stack's cluster.

    Raises:
        PreflightError: the context has another API server than the stack's setting.
    """
    cluster = shared_cluster(inputs.context)
    if inputs.server and inputs.server.rstrip("/") != cluster.server:
        raise PreflightError(
            f"context {inputs.context} has the API server {cluster.server}, and stack {inputs.stack} may be deployed "
            f"to {inputs.server} only. Set lineage-lab:kubernetesContext to the context of that server, or change "
            f"lineage-lab:kubernetesServer in Pulumi.{inputs.stack}.yaml"
        )
    return cluster


def _require_storage_class(cluster: Cluster, inputs: KubernetesClusterInputs, call: OperationContext) -> None:
    """Check that the storage class of the volumes exists.

    Raises:
        PreflightError: it does not; with the existing classes.
    """
    if inputs.storage_class is None:
        return
    try:
        classes = cluster.list(STORAGE_CLASSES)
    except RequestError as error:
        _warn_unchecked("the storage class", error, call)
        return
    if inputs.storage_class and inputs.storage_class not in _names(classes):
        problem = f"there is no storage class {inputs.storage_class}"
    elif not inputs.storage_class and not any(map(_is_default, classes)):
        problem = "there is no default storage class"
    else:
        return
    raise PreflightError(
        f"{problem} at {cluster}. Set lineage-lab:storageClass in Pulumi.{inputs.stack}.yaml to one of its classes: "
        f"{', '.join(_names(classes)) or 'none; install a volume provisioner'}"
    )


def _names(found: list[KubernetesObject]) -> list[str]:
    return sorted(item["metadata"]["name"] for item in found)


def _is_default(storage_class: KubernetesObject) -> bool:
    return bool((storage_class["metadata"].get("annotations") or {}).get(DEFAULT_CLASS_ANNOTATION) == "true")


def _memory_shortages(cluster: Cluster, inputs: KubernetesClusterInputs, call: OperationContext) -> list[str]:
    """Return a line if the memory that no pod has requested is insufficient."""
    try:
        pods = [pod for pod in cluster.list(PODS) if pod["metadata"]["namespace"] != inputs.namespace]
        free = free_memory_mib(cluster.list(NODES), pods)
    except RequestError as error:
        _warn_unchecked("free memory", error, call)
        return []
    if free >= inputs.memory_mib:
        return []
    return [f"memory: the chosen services need {inputs.memory_mib} MiB, pods can request {free} MiB more"]


def _warn_unchecked(what: str, error: RequestError, call: OperationContext) -> None:
    """Report a check that needs permissions which a user of one namespace may lack."""
    if error.status != FORBIDDEN:
        raise error
    call.warn(f"{what} is not checked: {error}")
