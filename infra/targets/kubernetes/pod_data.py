# SPDX-License-Identifier: Apache-2.0
"""Consistent copies of folders in volumes of pods, transferred as archives by commands in the pods."""

import os
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any

from infra.errors import ServiceError
from infra.provider.kind import OperationContext
from infra.targets.container_paths import SCRATCH, VOLUMES
from infra.targets.folder_archive import packed, relative_files, unpack
from infra.targets.kubernetes import workloads
from infra.targets.kubernetes.client import Cluster, KubernetesObject
from infra.targets.kubernetes.names import claim_name
from infra.targets.kubernetes.objects import PODS
from infra.targets.kubernetes.pod_exec import execute
from infra.targets.kubernetes.pod_stage import is_ready_pod, pod_stage
from infra.targets.labels import CHECKOUT_LABEL, ROLE_LABEL, STACK_LABEL

HELPER_SECONDS = 3600
"""Time limit of a helper pod, should it not be removed."""

HELPER_START_SECONDS = 180
"""Time limit for a helper pod to start; its volume may have to be attached to another node."""

HELPER_ROLE = "data"

MAX_REMOVED_AT_ONCE = 100
"""Files per command that removes files: an API server limits the length of a request's URL."""

_RESUME = "kill -CONT -1"

_FROZEN_COPY = f"""
copy={SCRATCH}/lineage-lab-copy.$$
trap 'rm -f "$copy"; {_RESUME} 2>/dev/null' EXIT
trap 'exit 1' HUP INT PIPE TERM
kill -STOP -1
tar cf "$copy" -C "$1" "$2" || exit
{_RESUME}
cat "$copy"
"""
"""Shell script that copies a folder while all processes of the pod are stopped, so that the copy has the files of one
instant, as after a crash. Processes continue before the copy is transferred. A signal to process -1 reaches all
processes but the caller, also those of other containers, as they share a process namespace."""

_COPY = 'exec tar cf - -C "$1" "$2"'
_EXTRACT = 'head -c "$1" | tar xf - -C "$2"'


@contextmanager
def folder_copy(cluster: Cluster, workload: KubernetesObject, folder: PurePosixPath) -> Iterator[Path]:
    """Open a copy of a folder in the volume of a service's first pod.

    The processes of a running pod are stopped while its folder is copied, and changes of the copy are lost. Changes
    of the copy of a stopped service's folder are written back at the end.

    Args:
        cluster: cluster of the service.
        workload: its StatefulSet.
        folder: path of the folder in the pod.

    Raises:
        ServiceError: the folder does not exist, or the pod is not running.
    """
    pods = workloads.pods_of(cluster, workload)
    with tempfile.TemporaryDirectory(prefix="lineage-lab-") as temporary:
        copy = Path(temporary) / folder.name
        if pods:
            _download(cluster, _require_running(pods[0]), folder, Path(temporary), _FROZEN_COPY)
            copy.mkdir(exist_ok=True)
            yield copy
            return
        with _helper_pod(cluster, workload) as pod:
            _download(cluster, pod, folder, Path(temporary), _COPY)
            copy.mkdir(exist_ok=True)
            before = relative_files(copy)
            yield copy
            _upload(cluster, pod, folder, copy, before)


def _require_running(pod: KubernetesObject) -> KubernetesObject:
    if pod["status"].get("phase") != "Running" or "deletionTimestamp" in pod["metadata"]:
        name = pod["metadata"]["name"]
        raise ServiceError(f"the data of pod {name} cannot be read while it starts or stops: repeat the command later")
    return pod


def _download(cluster: Cluster, pod: KubernetesObject, folder: PurePosixPath, destination: Path, script: str) -> None:
    arguments = ["/bin/sh", "-c", script, "sh", str(folder.parent), folder.name]
    with tempfile.TemporaryFile() as file:
        try:
            execute(cluster, pod, arguments, destination=file)
        except BaseException:
            if script == _FROZEN_COPY:  # a script that was killed does not resume the processes
                execute(cluster, pod, ["/bin/sh", "-c", f"{_RESUME}; true"])
            raise
        unpack(file, destination)


def _upload(cluster: Cluster, pod: KubernetesObject, folder: PurePosixPath, copy: Path, before: set[Path]) -> None:
    """Write a copy back, and remove the files that were deleted from it."""
    with packed(copy, folder.name) as file:
        size = os.fstat(file.fileno()).st_size
        execute(cluster, pod, ["/bin/sh", "-c", _EXTRACT, "sh", str(size), str(folder.parent)], source=file)
    removed = [str(folder / path) for path in sorted(before - relative_files(copy))]
    for first in range(0, len(removed), MAX_REMOVED_AT_ONCE):
        execute(cluster, pod, ["rm", "-f", "--", *removed[first : first + MAX_REMOVED_AT_ONCE]])


@contextmanager
def _helper_pod(cluster: Cluster, workload: KubernetesObject) -> Iterator[KubernetesObject]:
    """Run a pod that mounts the volume of a stopped service's first pod."""
    namespace = workload["metadata"]["namespace"]
    created = cluster.create(PODS, namespace, helper_pod(workload, uuid.uuid4().hex[:5]))
    name = created["metadata"]["name"]
    try:
        yield _await_helper(cluster, namespace, name)
    finally:
        cluster.delete(PODS, namespace, name, grace_seconds=0)


def _await_helper(cluster: Cluster, namespace: str, name: str) -> KubernetesObject:
    for _ in OperationContext().poll(HELPER_START_SECONDS, workloads.REQUEST_INTERVAL_SECONDS):
        pod = cluster.get(PODS, namespace, name)
        if is_ready_pod(pod):
            return pod
    stage = pod_stage(pod, workloads.events_of(cluster, PODS, namespace, name))
    raise ServiceError(
        f"pod {name} in namespace {namespace}, which mounts the volume of a stopped service, did not start within "
        f"{HELPER_START_SECONDS} s: it {stage.text if stage else 'is ready now'}"
    )


def helper_pod(workload: KubernetesObject, suffix: str) -> KubernetesObject:
    """Return a pod with the image, the restrictions and the volume of a StatefulSet's first pod.

    Raises:
        ServiceError: the workload has no volume.
    """
    name, spec = workload["metadata"]["name"], workload["spec"]["template"]["spec"]
    claims = [template["metadata"]["name"] for template in workload["spec"].get("volumeClaimTemplates") or ()]
    if not claims:
        raise ServiceError(f"{workload['kind']} {name} has no volume")
    main = spec["containers"][0]
    mounts = [mount for mount in main["volumeMounts"] if mount["name"] in claims]
    container = {
        "name": "main",
        "image": main["image"],
        "command": ["sleep", str(HELPER_SECONDS)],
        "volumeMounts": mounts,
        **{key: main[key] for key in ("imagePullPolicy", "securityContext") if key in main},
    }
    kept = ("imagePullSecrets", "nodeSelector", "tolerations", "affinity", "securityContext")
    labels = workload["metadata"].get("labels") or {}
    own: dict[str, Any] = {
        "automountServiceAccountToken": False,
        "activeDeadlineSeconds": HELPER_SECONDS,
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": 0,
        "containers": [container],
        "volumes": [
            {"name": claim, "persistentVolumeClaim": {"claimName": claim_name(name, 0, claim)}} for claim in claims
        ],
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"{name}-data-{suffix}",
            "labels": {
                **{label: labels[label] for label in (STACK_LABEL, CHECKOUT_LABEL) if label in labels},
                ROLE_LABEL: HELPER_ROLE,
            },
        },
        "spec": {**own, **{key: spec[key] for key in kept if key in spec}},
    }


def volume_folder(volume: str) -> PurePosixPath:
    """Return the path of a volume's folder in pods."""
    return PurePosixPath(VOLUMES) / volume
