# SPDX-License-Identifier: Apache-2.0
"""Command lines of etcd, API server, controller manager and scheduler."""

from pathlib import Path

from tests.kubernetes.cluster import addresses
from tests.kubernetes.cluster.folders import ClusterFolders

Command = list[str | Path]


def etcd_command(folders: ClusterFolders) -> Command:
    """Return the command line of etcd; it does not sync to disk, as the data need not survive a power failure."""
    return [
        folders.programs / "etcd",
        f"--data-dir={folders.etcd}",
        f"--listen-client-urls={addresses.ETCD_CLIENT_URL}",
        f"--advertise-client-urls={addresses.ETCD_CLIENT_URL}",
        f"--listen-peer-urls={addresses.ETCD_PEER_URL}",
        f"--initial-advertise-peer-urls={addresses.ETCD_PEER_URL}",
        f"--initial-cluster=default={addresses.ETCD_PEER_URL}",
        "--unsafe-no-fsync",
    ]


def apiserver_command(folders: ClusterFolders) -> Command:
    """Return the command line of the API server, with the default admission plugins and NodeRestriction."""
    credentials = folders.credentials
    return [
        folders.programs / "kube-apiserver",
        f"--etcd-servers={addresses.ETCD_CLIENT_URL}",
        f"--bind-address={addresses.NODE_ADDRESS}",
        f"--advertise-address={addresses.NODE_ADDRESS}",
        f"--secure-port={addresses.API_PORT}",
        f"--tls-cert-file={credentials}/apiserver.crt",
        f"--tls-private-key-file={credentials}/apiserver.key",
        f"--client-ca-file={credentials}/ca.crt",
        f"--token-auth-file={credentials}/tokens.csv",
        "--authorization-mode=Node,RBAC",
        "--enable-admission-plugins=NodeRestriction",
        f"--service-cluster-ip-range={addresses.SERVICE_SUBNET}",
        f"--service-account-issuer=https://kubernetes.default.svc.{addresses.DOMAIN}",
        f"--service-account-key-file={credentials}/service-account.pub",
        f"--service-account-signing-key-file={credentials}/service-account.key",
        f"--kubelet-client-certificate={credentials}/kubelet-client.crt",
        f"--kubelet-client-key={credentials}/kubelet-client.key",
        # exec, logs and port-forward: the host name of the node does not resolve.
        "--kubelet-preferred-address-types=InternalIP",
    ]


def controller_manager_command(folders: ClusterFolders) -> Command:
    """Return the command line of the controller manager; each controller uses its own service account."""
    kubeconfig = folders.kubeconfig_of("controller-manager")
    return [
        folders.programs / "kube-controller-manager",
        f"--kubeconfig={kubeconfig}",
        "--use-service-account-credentials=true",
        f"--service-account-private-key-file={folders.credentials}/service-account.key",
        f"--root-ca-file={folders.credentials}/ca.crt",
        "--allocate-node-cidrs=false",
        "--leader-elect=false",
        "--secure-port=0",
    ]


def scheduler_command(folders: ClusterFolders) -> Command:
    """Return the command line of the scheduler."""
    return [
        folders.programs / "kube-scheduler",
        f"--kubeconfig={folders.kubeconfig_of('scheduler')}",
        "--leader-elect=false",
        "--secure-port=0",
    ]
