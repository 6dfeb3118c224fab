# SPDX-License-Identifier: Apache-2.0
"""Folders and files of the test cluster; all of them are below one folder, which `down` deletes."""

import os
from dataclasses import dataclass
from pathlib import Path

WORK_VARIABLE = "LINEAGE_LAB_CLUSTER_WORK"


@dataclass(frozen=True)
class ClusterFolders:
    """Paths below the cluster's folder.

    The folder is below /tmp because the host path plugin of Kubernetes deletes volumes only there.
    """

    root: Path

    @classmethod
    def default(cls) -> "ClusterFolders":
        return cls(Path(os.environ.get(WORK_VARIABLE) or "/tmp/lineage-lab-cluster").absolute())

    @property
    def kubeconfig(self) -> Path:
        """Kubeconfig of the administrator."""
        return self.root / "kubeconfig"

    @property
    def programs(self) -> Path:
        """Links to the binaries, for PATH."""
        return self.root / "bin"

    @property
    def credentials(self) -> Path:
        return self.root / "credentials"

    @property
    def configuration(self) -> Path:
        return self.root / "configuration"

    @property
    def processes(self) -> Path:
        """Process ids and logs."""
        return self.root / "processes"

    @property
    def etcd(self) -> Path:
        return self.root / "etcd"

    @property
    def containerd(self) -> Path:
        return self.root / "containerd"

    @property
    def containerd_socket(self) -> Path:
        return self.containerd / "containerd.sock"

    @property
    def cni(self) -> Path:
        return self.root / "cni"

    @property
    def kubelet(self) -> Path:
        return self.root / "kubelet"

    @property
    def pod_logs(self) -> Path:
        return self.root / "pod-logs"

    @property
    def volumes(self) -> Path:
        return self.root / "volumes"

    def kubeconfig_of(self, component: str) -> Path:
        return self.credentials / f"{component}.kubeconfig"

    def create(self) -> None:
        """Create the folders; those with credentials are readable only by root."""
        self.root.mkdir(parents=True, exist_ok=True)
        for folder in (self.configuration, self.etcd, self.containerd, self.cni, self.kubelet, self.pod_logs):
            folder.mkdir(exist_ok=True)
        for folder in (self.processes, self.programs, self.volumes):
            folder.mkdir(exist_ok=True)
        self.credentials.mkdir(mode=0o700, exist_ok=True)
