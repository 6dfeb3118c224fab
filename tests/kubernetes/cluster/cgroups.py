# SPDX-License-Identifier: Apache-2.0
"""Control group of the pods: one folder per hierarchy of cgroup v1, or one folder of cgroup v2."""

import signal
from collections.abc import Iterator
from pathlib import Path

from tests.kubernetes.cluster.processes import terminate

CGROUP = "lineage-lab-cluster"

_MOUNT = Path("/sys/fs/cgroup")
_KILL_TIMEOUT = 30


def create_cgroup() -> None:
    """Create the group, which the kubelet requires to exist."""
    for hierarchy in _hierarchies():
        (hierarchy / CGROUP).mkdir(exist_ok=True)


def remove_cgroup() -> None:
    """Kill all processes in the group and remove it."""
    for group in _groups():
        for pid in (group / "cgroup.procs").read_text().split():
            terminate(int(pid), signal.SIGKILL, _KILL_TIMEOUT)
    for group in _groups():
        group.rmdir()


def _hierarchies() -> list[Path]:
    if (_MOUNT / "cgroup.controllers").exists():
        return [_MOUNT]
    return [path for path in _MOUNT.iterdir() if (path / "cgroup.procs").exists() and not path.is_symlink()]


def _groups() -> Iterator[Path]:
    """Yield the group's folders, inner ones first."""
    for hierarchy in _hierarchies():
        root = hierarchy / CGROUP
        if root.exists():
            inner = [path for path in root.rglob("*") if path.is_dir()]
            yield from sorted([root, *inner], key=lambda path: len(path.parts), reverse=True)
