# SPDX-License-Identifier: Apache-2.0
"""Memory use of processes on this machine."""

import psutil


def memory_mib(pid: int) -> float:
    """Return the memory of a process and its children in MiB: the sum of PSS if available, else of RSS."""
    try:
        process = psutil.Process(pid)
        family = [process, *process.children(recursive=True)]
    except psutil.NoSuchProcess:
        return 0.0
    return sum(_process_bytes(member) for member in family) / 2**20


def _process_bytes(process: psutil.Process) -> int:
    try:
        info = process.memory_full_info()
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return 0
    return int(getattr(info, "pss", info.rss))
