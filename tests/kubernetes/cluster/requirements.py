# SPDX-License-Identifier: Apache-2.0
"""Requirements of the test cluster on this machine: Linux, root, Debian's packages."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from tests.kubernetes.cluster.errors import ClusterUnavailable

CNI_PLUGINS = Path("/usr/lib/cni")
"""Folder of Debian's CNI plugins."""

BUSYBOX = Path("/bin/busybox")

_COMMANDS = {
    "containerd": "containerd",
    "runc": "runc",
    "iptables": "iptables",
    "conntrack": "conntrack",
    "ip": "iproute2",
    "openssl": "openssl",
}
"""Required command -> Debian package."""

_LOCK_TIMEOUT = 300
"""Seconds to wait for another apt-get."""


def missing_packages() -> list[str]:
    """Return the Debian packages to install. An installed package is never upgraded."""
    missing = [package for command, package in _COMMANDS.items() if not shutil.which(command)]
    if not (CNI_PLUGINS / "bridge").exists():
        missing.append("containernetworking-plugins")
    if not _is_static(BUSYBOX):
        missing.append("busybox-static")
    return missing


def check_machine() -> None:
    """Raise ClusterUnavailable if this is not Linux, or the user is not root."""
    if sys.platform != "linux":
        raise ClusterUnavailable(f"no cluster: the kubelet requires Linux, this is {sys.platform}")
    if os.geteuid() != 0:
        raise ClusterUnavailable("no cluster: only root can run the kubelet and containerd")


def install_packages(note: Callable[[str], None]) -> None:
    """Install missing packages. Raises ClusterUnavailable if they cannot be installed."""
    missing = missing_packages()
    if not missing:
        return
    packages = " ".join(missing)
    if not shutil.which("apt-get"):
        raise ClusterUnavailable(f"no cluster: Debian's packages {packages} are missing, and there is no apt-get")
    note(f"installing {packages}")
    _run_apt("update", "-qq")
    _run_apt("install", "-y", "-qq", "--no-install-recommends", *missing)


def _run_apt(*arguments: str) -> None:
    command = ["apt-get", "-o", f"DPkg::Lock::Timeout={_LOCK_TIMEOUT}", *arguments]
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, env=environment)
    if done.returncode != 0:
        end = " ".join(done.stderr.split())[-300:]
        raise ClusterUnavailable(f"no cluster: apt-get {arguments[0]} failed: {end}")


def _is_static(program: Path) -> bool:
    """Return True if an ELF program exists and names no dynamic loader."""
    return program.exists() and b"ld-linux" not in program.read_bytes()[:4096]
