# SPDX-License-Identifier: Apache-2.0
"""Network of the pods: bridge, masquerading, forwarding, kernel settings; created by `up`, removed by `down`."""

import ipaddress
import json
from pathlib import Path

from tests.kubernetes.cluster import addresses
from tests.kubernetes.cluster.commands import run
from tests.kubernetes.cluster.files import write_if_changed
from tests.kubernetes.cluster.folders import ClusterFolders

_RULES = (
    ("filter", "FORWARD", ("-i", addresses.BRIDGE, "-j", "ACCEPT")),
    ("filter", "FORWARD", ("-o", addresses.BRIDGE, "-j", "ACCEPT")),
    ("nat", "POSTROUTING", ("-s", addresses.POD_SUBNET, "!", "-o", addresses.BRIDGE, "-j", "MASQUERADE")),
)
"""Rules at the end of iptables chains. A Docker daemon sets the policy of FORWARD to DROP."""

_SYSCTLS = {"net/ipv4/ip_forward": "1", "net/bridge/bridge-nf-call-iptables": "1"}
"""Settings that Services between pods of one node require."""

_KUBELET_SYSCTLS = (
    "kernel/keys/root_maxbytes",
    "kernel/keys/root_maxkeys",
    "kernel/panic",
    "kernel/panic_on_oops",
    "vm/overcommit_memory",
    "vm/panic_on_oom",
)
"""Settings that the kubelet changes at its start; `down` restores them."""


def create_network(folders: ClusterFolders) -> None:
    """Create bridge, rules and the CNI configuration, as far as missing. Raises ClusterError."""
    _save_sysctls(folders)
    for name, value in _SYSCTLS.items():
        _sysctl_file(name).write_text(value)
    if addresses.BRIDGE not in _bridges():
        run(["ip", "link", "add", addresses.BRIDGE, "type", "bridge"])
    run(["ip", "link", "set", addresses.BRIDGE, "address", addresses.NODE_HARDWARE_ADDRESS])
    length = ipaddress.ip_network(addresses.POD_SUBNET).prefixlen
    run(["ip", "address", "replace", f"{addresses.NODE_ADDRESS}/{length}", "dev", addresses.BRIDGE])
    run(["ip", "link", "set", addresses.BRIDGE, "up"])
    for table, chain, rule in _RULES:
        if run(["iptables", "-w", "-t", table, "-C", chain, *rule], check=False).returncode != 0:
            run(["iptables", "-w", "-t", table, "-A", chain, *rule])
    write_if_changed(folders.cni / "10-pods.conflist", json.dumps(_cni_configuration(folders), indent=2))


def remove_network(folders: ClusterFolders) -> None:
    """Remove what `create_network` created, and restore the kernel settings. Raises ClusterError."""
    for table, chain, rule in _RULES:
        while run(["iptables", "-w", "-t", table, "-D", chain, *rule], check=False).returncode == 0:
            pass
    if addresses.BRIDGE in _bridges():
        run(["ip", "link", "delete", addresses.BRIDGE])
    _restore_sysctls(folders)


def _cni_configuration(folders: ClusterFolders) -> dict[str, object]:
    """Return the CNI configuration; this module does what its options for gateway and masquerading would do."""
    ipam = {
        "type": "host-local",
        "ranges": [[{"subnet": addresses.POD_SUBNET, "gateway": addresses.NODE_ADDRESS}]],
        "routes": [{"dst": "0.0.0.0/0"}],
        "dataDir": str(folders.cni / "addresses"),
    }
    bridge = {"type": "bridge", "bridge": addresses.BRIDGE, "isGateway": True, "hairpinMode": True, "ipam": ipam}
    return {"cniVersion": "0.4.0", "name": "lineage-lab-cluster", "plugins": [bridge]}


def _saved_sysctls(folders: ClusterFolders) -> Path:
    return folders.configuration / "sysctls.json"


def _save_sysctls(folders: ClusterFolders) -> None:
    if not _saved_sysctls(folders).exists():
        files = {name: _sysctl_file(name) for name in (*_SYSCTLS, *_KUBELET_SYSCTLS)}
        values = {name: file.read_text() for name, file in files.items() if file.exists()}
        _saved_sysctls(folders).write_text(json.dumps(values))


def _restore_sysctls(folders: ClusterFolders) -> None:
    """Restore the settings; those of the network only if no other bridge, as Docker's, requires them."""
    if not _saved_sysctls(folders).exists():
        return
    other_bridge = bool(_bridges())
    for name, value in json.loads(_saved_sysctls(folders).read_text()).items():
        if not (name in _SYSCTLS and other_bridge):
            _sysctl_file(name).write_text(value)


def _bridges() -> list[str]:
    """Return the names of the bridges of this machine."""
    return [link["ifname"] for link in json.loads(run(["ip", "-json", "link", "show", "type", "bridge"]).stdout)]


def _sysctl_file(name: str) -> Path:
    return Path("/proc/sys") / name
