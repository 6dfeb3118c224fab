# SPDX-License-Identifier: Apache-2.0
"""What processes of this machine take of its memory."""

import psutil


def memory_mib(pid: int) -> float:
    """What a process and its children take: the sum of PSS where the system tells it, else of RSS, in MiB."""
    try:
        process = psutil.Process(pid)
        family = [process, *process.children(recursive=True)]
    except psutil.NoSuchProcess:
        return 0.0
    return sum(_bytes(member) for member in family) / 2**20


def _bytes(process: psutil.Process) -> int:
    try:
        info = process.memory_full_info()
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return 0
    return int(getattr(info, "pss", info.rss))
