# SPDX-License-Identifier: Apache-2.0
"""Command lines and configuration files of containerd, kubelet and kube-proxy."""

import json
from pathlib import Path

from tests.kubernetes.cluster import addresses
from tests.kubernetes.cluster.cgroups import CGROUP
from tests.kubernetes.cluster.control_plane import Command
from tests.kubernetes.cluster.files import write_if_changed
from tests.kubernetes.cluster.folders import ClusterFolders
from tests.kubernetes.cluster.images import PAUSE_IMAGE
from tests.kubernetes.cluster.requirements import CNI_PLUGINS

_CONTAINERD = """version = 2
root = "{folders.containerd}/root"
state = "{folders.containerd}/state"
disabled_plugins = [
  "io.containerd.internal.v1.opt", "io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.btrfs",
  "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.zfs",
]
[grpc]
  address = "{folders.containerd_socket}"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{pause_image}"
  netns_mounts_under_state_dir = true
  disable_apparmor = true
  # Without CAP_SYS_RESOURCE no process can lower its score.
  restrict_oom_score_adj = true
[plugins."io.containerd.grpc.v1.cri".cni]
  bin_dir = "{plugins}"
  conf_dir = "{folders.cni}"
[plugins."io.containerd.grpc.v1.cri".containerd]
  snapshotter = "overlayfs"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
  SystemdCgroup = false
  Root = "{folders.containerd}/runc"
"""


def containerd_command(folders: ClusterFolders) -> Command:
    """Write containerd's configuration and return its command line."""
    path = folders.configuration / "containerd.toml"
    write_if_changed(path, _CONTAINERD.format(folders=folders, pause_image=PAUSE_IMAGE, plugins=CNI_PLUGINS))
    return ["containerd", "--config", path]


def kubelet_command(folders: ClusterFolders) -> Command:
    """Write the kubelet's configuration and return its command line."""
    return [
        folders.programs / "kubelet",
        f"--config={_write(folders, 'kubelet', _kubelet_configuration(folders))}",
        f"--kubeconfig={folders.kubeconfig_of('kubelet')}",
        f"--hostname-override={addresses.NODE}",
        f"--node-ip={addresses.NODE_ADDRESS}",
        f"--root-dir={folders.kubelet}",
        f"--cert-dir={folders.kubelet}/certificates",
    ]


def proxy_command(folders: ClusterFolders) -> Command:
    """Write the configuration of kube-proxy and return its command line."""
    configuration = _write(folders, "proxy", _proxy_configuration(folders))
    return [folders.programs / "kube-proxy", f"--config={configuration}"]


def _kubelet_configuration(folders: ClusterFolders) -> dict[str, object]:
    return {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "address": addresses.NODE_ADDRESS,
        "port": addresses.KUBELET_PORT,
        "healthzPort": addresses.KUBELET_HEALTH_PORT,
        "authentication": {
            "anonymous": {"enabled": False},
            "webhook": {"enabled": True},
            "x509": {"clientCAFile": f"{folders.credentials}/ca.crt"},
        },
        "authorization": {"mode": "Webhook"},
        "containerRuntimeEndpoint": f"unix://{folders.containerd_socket}",
        "podLogsDir": str(folders.pod_logs),
        "volumePluginDir": f"{folders.kubelet}/plugins",
        "clusterDNS": [addresses.NODE_ADDRESS],
        "clusterDomain": addresses.DOMAIN,
        "resolvConf": "",  # pods do not search the domains of this machine
        "cgroupDriver": "cgroupfs",
        "cgroupRoot": f"/{CGROUP}",
        "enforceNodeAllocatable": [],
        "failCgroupV1": False,
        "failSwapOn": False,
        "oomScoreAdj": 0,
        "makeIPTablesUtilChains": False,
        # Images are imported, and cannot be pulled again after garbage collection.
        "imageGCHighThresholdPercent": 100,
        "evictionHard": {"memory.available": "100Mi", "nodefs.available": "1%", "imagefs.available": "1%"},
    }


def _proxy_configuration(folders: ClusterFolders) -> dict[str, object]:
    return {
        "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
        "kind": "KubeProxyConfiguration",
        "bindAddress": addresses.NODE_ADDRESS,
        "healthzBindAddress": f"127.0.0.1:{addresses.PROXY_HEALTH_PORT}",
        "metricsBindAddress": f"127.0.0.1:{addresses.PROXY_METRICS_PORT}",
        "clientConnection": {"kubeconfig": str(folders.kubeconfig_of("proxy"))},
        "clusterCIDR": addresses.POD_SUBNET,
        "hostnameOverride": addresses.NODE,
        "mode": "iptables",
        "iptables": {"localhostNodePorts": False},
        "nodePortAddresses": [addresses.POD_SUBNET],
        "oomScoreAdj": 0,
        "conntrack": {"maxPerCore": 0, "tcpEstablishedTimeout": "0s", "tcpCloseWaitTimeout": "0s"},
    }


def _write(folders: ClusterFolders, name: str, content: dict[str, object]) -> Path:
    path = folders.configuration / f"{name}.json"
    write_if_changed(path, json.dumps(content, indent=2))
    return path
