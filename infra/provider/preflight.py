# SPDX-License-Identifier: Apache-2.0
"""Can this machine, or a daemon, carry the lab? Asked before the first process is started."""

import shutil
import socket
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal

import psutil

from infra.errors import PreflightError

Preflight = Literal["strict", "warn"]
"""Whether a lab that is short of memory or disk is refused, or only told."""


def busy_ports(ports: Mapping[str, int], host: str = "127.0.0.1") -> list[str]:
    """One line for each port that cannot be bound, with the holder's name and process id where it shows.

    `ports` is what wants the port -> the port.
    """
    return [f"port {port} ({what}) is held by {_holder(port)}" for what, port in ports.items() if not _free(host, port)]


def short_of(root: Path, memory_mib: int, disk_mib: int) -> list[str]:
    """One line each where memory or the disk under `root` is less than the lab needs."""
    problems = []
    available = psutil.virtual_memory().available // 2**20
    if available < memory_mib:
        problems.append(f"memory: the chosen services need {memory_mib} MiB, {available} MiB are available")
    place = next(folder for folder in (root, *root.parents) if folder.exists())
    free = shutil.disk_usage(place).free // 2**20
    if free < disk_mib:
        problems.append(f"disk: the lab needs {disk_mib} MiB under {place}, {free} MiB are free")
    return problems


def judge(
    carrier: str,
    stack: str,
    busy: Sequence[str],
    short: Sequence[str],
    preflight: Preflight,
    warn: Callable[[str], None],
) -> None:
    """Refuses a lab that cannot be carried; what is only short goes to `warn` where that is enough.

    Args:
        carrier: what cannot, for the message: `this machine`.
        stack: the stack's name.
        busy: lines of `busy_ports`.
        short: one line for each thing of which there is too little, as of `short_of`.
        preflight: the setting.
        warn: is told each line of `short` that is no reason to refuse.

    Raises:
        PreflightError: with every line, and what to do.
    """
    if busy or (short and preflight == "strict"):
        set_it = f"lineage-lab:%s in Pulumi.{stack}.yaml"
        remedies = [
            *([f"end the holder, or move the lab: {set_it % 'portOffset: 10000'}"] if busy else []),
            *([f"to start all the same: {set_it % 'preflight: warn'}"] if short else []),
        ]
        raise PreflightError(
            f"{carrier} cannot carry the lab as it is configured:\n"
            + "\n".join(f"  {line}" for line in (*busy, *short))
            + "\n"
            + "\n".join(remedies)
        )
    for line in short:
        warn(f"warning: {line}")


def _free(host: str, port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as servers do
        try:
            probe.bind((host, port))
            probe.listen(1)
        except OSError:
            return False
    return True


def _holder(port: int) -> str:
    try:
        connections = psutil.net_connections("tcp")
    except psutil.AccessDenied:  # macOS shows other people's sockets to root only
        connections = []
    for connection in connections:
        local = connection.laddr
        if connection.status == psutil.CONN_LISTEN and local and local.port == port and connection.pid:
            try:
                process = psutil.Process(connection.pid)
                return f"{process.name()} (pid {process.pid}: {' '.join(process.cmdline())[:120]})"
            except psutil.NoSuchProcess:
                break
    return "a process that this user cannot see"
