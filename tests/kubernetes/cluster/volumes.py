# SPDX-License-Identifier: Apache-2.0
"""Static volumes: the cluster has no provisioner, so folders of this machine are offered as persistent volumes.

The default storage class binds a claim when its first pod is scheduled. After the deletion of a claim Kubernetes
deletes its volume with the folder; `provide_volumes` creates it again.
"""

import os
import shutil
from pathlib import Path

from infra.targets.container_paths import USER
from tests.kubernetes.cluster.api import ApiServer
from tests.kubernetes.cluster.folders import ClusterFolders
from tests.kubernetes.cluster.waiting import wait_for

STORAGE_CLASS = "lab-static"
COUNT = 48
CAPACITY = "20Gi"
"""Stated capacity; nothing enforces it."""

_VOLUMES = "/api/v1/persistentvolumes"
_DELETION_TIMEOUT = 60


def provide_volumes(api: ApiServer, folders: ClusterFolders) -> int:
    """Create the storage class and all missing volumes; replace those whose claim was deleted.

    Returns:
        Number of volumes that are available to claims.

    Raises:
        ClusterError: the API server does not accept an object, or a volume was not deleted in time.
    """
    api.apply(f"/apis/storage.k8s.io/v1/storageclasses/{STORAGE_CLASS}", _storage_class())
    available = 0
    for name in (f"{STORAGE_CLASS}-{number:02}" for number in range(COUNT)):
        phase = _phase(api, name)
        if phase in ("Released", "Failed"):
            _delete(api, name)
            phase = None
        if phase is None:
            _create(api, name, folders.volumes / name)
        available += phase in (None, "Pending", "Available")
    return available


def _phase(api: ApiServer, name: str) -> str | None:
    volume = api.get(f"{_VOLUMES}/{name}")
    return None if volume is None else volume.get("status", {}).get("phase", "Pending")


def _create(api: ApiServer, name: str, folder: Path) -> None:
    """Create a volume on an empty folder of the containers' user: Kubernetes does not change a host path's owner."""
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(mode=0o750)
    os.chown(folder, USER, USER)
    api.apply(f"{_VOLUMES}/{name}", _volume(name, folder))


def _delete(api: ApiServer, name: str) -> None:
    path = f"{_VOLUMES}/{name}"
    api.delete(path)

    def reason() -> str | None:
        return None if api.get(path) is None else "it still exists"

    wait_for(f"deletion of volume {name}", reason, _DELETION_TIMEOUT)


def _storage_class() -> dict[str, object]:
    default = {"storageclass.kubernetes.io/is-default-class": "true"}
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": STORAGE_CLASS, "annotations": default},
        "provisioner": "kubernetes.io/no-provisioner",
        "volumeBindingMode": "WaitForFirstConsumer",
        "reclaimPolicy": "Delete",
    }


def _volume(name: str, folder: Path) -> dict[str, object]:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "capacity": {"storage": CAPACITY},
            "hostPath": {"path": str(folder), "type": "Directory"},
            "persistentVolumeReclaimPolicy": "Delete",
            "storageClassName": STORAGE_CLASS,
        },
    }
