# SPDX-License-Identifier: Apache-2.0
"""Checks of ports, memory and disk before the first process of a lab starts."""

import shutil
import socket
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal

import psutil

from infra.errors import PreflightError

Preflight = Literal["strict", "warn"]
"""Handling of too little memory or disk: an error, or a warning."""


def busy_ports(ports: Mapping[str, int], host: str = "127.0.0.1") -> list[str]:
    """Return one line per port that cannot be bound, with its holder's name and process id if visible.

    `ports` maps the purpose of a port to its number.
    """
    return [
        f"port {port} ({what}) is held by {_port_holder(port)}"
        for what, port in ports.items()
        if not _is_free_port(host, port)
    ]


def resource_shortages(root: Path, memory_mib: int, disk_mib: int) -> list[str]:
    """Return one line each if available memory, or disk space under `root`, is less than required."""
    problems = []
    available = psutil.virtual_memory().available // 2**20
    if available < memory_mib:
        problems.append(f"memory: the chosen services need {memory_mib} MiB, {available} MiB are available")
    place = next(folder for folder in (root, *root.parents) if folder.exists())
    free = shutil.disk_usage(place).free // 2**20
    if free < disk_mib:
        problems.append(f"disk: the lab needs {disk_mib} MiB under {place}, {free} MiB are free")
    return problems


def enforce_preflight(
    host: str,
    stack: str,
    busy: Sequence[str],
    short: Sequence[str],
    preflight: Preflight,
    warn: Callable[[str], None],
) -> None:
    """Reject a lab whose ports are in use or, with preflight `strict`, whose resources are insufficient.

    Args:
        host: what the lab was to run on, for the message: `this machine`.
        stack: the stack's name.
        busy: lines of `busy_ports`.
        short: lines of `resource_shortages`.
        preflight: the setting.
        warn: receives the lines of `short` if preflight is `warn`.

    Raises:
        PreflightError: with every line and the remedies.
    """
    if busy or (short and preflight == "strict"):
        set_it = f"lineage-lab:%s in Pulumi.{stack}.yaml"
        remedies = [
            *([f"stop that process, or move the lab's ports: {set_it % 'portOffset: 10000'}"] if busy else []),
            *([f"to start the lab anyway: {set_it % 'preflight: warn'}"] if short else []),
        ]
        raise PreflightError(
            f"{host} cannot run the lab as configured:\n"
            + "\n".join(f"  {line}" for line in (*busy, *short))
            + "\n"
            + "\n".join(remedies)
        )
    for line in short:
        warn(f"warning: {line}")


def _is_free_port(host: str, port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as servers set it
        try:
            probe.bind((host, port))
            probe.listen(1)
        except OSError:
            return False
    return True


def _port_holder(port: int) -> str:
    try:
        connections = psutil.net_connections("tcp")
    except psutil.AccessDenied:  # macOS shows the sockets of other users to root only
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
