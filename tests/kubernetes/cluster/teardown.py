# SPDX-License-Identifier: Apache-2.0
"""Removal of what components leave behind when they are stopped: containers, mounts, iptables rules, files."""

import os
import shutil
import signal
from pathlib import Path

from tests.kubernetes.cluster.cgroups import remove_cgroup
from tests.kubernetes.cluster.commands import run
from tests.kubernetes.cluster.errors import ClusterError
from tests.kubernetes.cluster.folders import ClusterFolders
from tests.kubernetes.cluster.processes import terminate

_KILL_TIMEOUT = 30
_LOG_LINKS = Path("/var/log/containers")
"""Folder in which the kubelet links the log of each container; not configurable, like the next two."""

_CNI_RESULTS = Path("/var/lib/cni/results")
_DEVICE_PLUGINS = Path("/var/lib/kubelet/device-plugins")
_SHARED_CHAIN = "KUBE-FIREWALL"


def remove_containers(folders: ClusterFolders) -> None:
    """Kill all containers and their shims; containerd must not run."""
    remove_cgroup()
    for pid in _shims(folders):
        terminate(pid, signal.SIGKILL, _KILL_TIMEOUT)
    for address in folders.containerd.glob("state/io.containerd.runtime.v2.task/*/*/address"):
        Path(address.read_text().removeprefix("unix://")).unlink(missing_ok=True)
        for result in _CNI_RESULTS.glob(f"*-{address.parent.name}-*"):
            result.unlink()


def remove_rules(folders: ClusterFolders) -> None:
    """Remove the iptables rules of kube-proxy; it leaves the chain that a kubelet might share. Raises ClusterError."""
    run([folders.programs / "kube-proxy", "--cleanup"])
    iptables = ["iptables", "-w"]
    chain = run([*iptables, "-S", _SHARED_CHAIN], check=False).stdout.splitlines()
    if chain == [f"-N {_SHARED_CHAIN}"]:
        for builtin in ("INPUT", "OUTPUT"):
            run([*iptables, "-D", builtin, "-j", _SHARED_CHAIN])
        run([*iptables, "-X", _SHARED_CHAIN])


def remove_files(folders: ClusterFolders) -> None:
    """Unmount and delete everything below the cluster's folder. Raises ClusterError if a mount remains."""
    for mount in _mounts(folders):
        run(["umount", mount])
    if remaining := _mounts(folders):
        raise ClusterError(f"{remaining[0]} is mounted again; stop what uses it, then repeat the command")
    shutil.rmtree(folders.root)
    for link in _LOG_LINKS.glob("*.log"):
        if link.is_symlink() and Path(os.readlink(link)).is_relative_to(folders.pod_logs):
            link.unlink()
    (_DEVICE_PLUGINS / "kubelet.sock").unlink(missing_ok=True)
    for folder in (_LOG_LINKS, _CNI_RESULTS, _CNI_RESULTS.parent, _DEVICE_PLUGINS, _DEVICE_PLUGINS.parent):
        if folder.exists() and not any(folder.iterdir()):
            folder.rmdir()


def _shims(folders: ClusterFolders) -> list[int]:
    """Return the process ids of containerd's shims that serve the cluster's containerd."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            arguments = path.read_bytes().decode(errors="replace").split("\0")
        except (FileNotFoundError, ProcessLookupError):
            continue
        if "containerd-shim" in arguments[0] and str(folders.containerd_socket) in arguments:
            found.append(int(path.parent.name))
    return found


def _mounts(folders: ClusterFolders) -> list[str]:
    """Return the mount points below the cluster's folder, the last mounted first."""
    lines = Path("/proc/self/mountinfo").read_text().splitlines()
    points = [line.split()[4] for line in lines]
    return [point for point in reversed(points) if Path(point).is_relative_to(folders.root)]
