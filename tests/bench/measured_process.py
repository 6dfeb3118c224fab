# SPDX-License-Identifier: Apache-2.0
"""Wall time and CPU time of a command and of every process that it starts, measured from outside.

A Spark driver is a Python process whose JVM is a child that is never waited for, so that the operating system adds
its CPU time to no parent. Therefore `python -m tests.bench.measured_process LOG COMMAND ...` runs the command as a
child subreaper (Linux): it adopts orphaned descendants, waits for all of them, and prints the usage as JSON.
"""

import ctypes
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil

from infra.project import python_path
from infra.targets.local.log_files import log_tail
from tests.bench.service_process import REPOSITORY

PR_SET_CHILD_SUBREAPER = 36
"""Option of prctl(2); Python has no constant for it."""


@dataclass(frozen=True)
class ProcessUsage:
    """Usage of a command. `wall_seconds` end with the command itself, `cpu_seconds` with its last descendant."""

    status: int
    wall_seconds: float
    cpu_seconds: float


def run_measured(words: Sequence[str], environment: Mapping[str, str], log: Path, seconds: float = 600) -> ProcessUsage:
    """Run a command to its end; its output goes to `log`.

    Raises:
        RuntimeError: the command failed; the message has the end of its log.
        subprocess.TimeoutExpired: the command did not end in time.
    """
    with measured_process(words, environment, log) as subreaper:
        usage = ProcessUsage(**json.loads(subreaper.communicate(timeout=seconds)[0]))
    if usage.status != 0:
        command = " ".join(words)
        raise RuntimeError(f"{command} failed with exit status {usage.status}. End of {log}:\n{log_tail(log)}")
    return usage


@contextmanager
def measured_process(
    words: Sequence[str], environment: Mapping[str, str], log: Path
) -> Iterator[subprocess.Popen[str]]:
    """Start a command below a subreaper and yield the subreaper's process; kill all remaining processes at the end."""
    with log.open("w") as output:
        subreaper = subprocess.Popen(
            [sys.executable, "-m", __name__, str(log), *words],
            cwd=REPOSITORY,
            env={**environment, "PYTHONPATH": python_path(REPOSITORY)},
            stdout=subprocess.PIPE,
            stderr=output,
            text=True,
        )
    try:
        yield subreaper
    finally:
        while subreaper.poll() is None:
            _kill_descendants(subreaper.pid)
            with suppress(subprocess.TimeoutExpired):
                subreaper.wait(1)
        assert subreaper.stdout is not None
        subreaper.stdout.close()


def _kill_descendants(pid: int) -> None:
    for process in psutil.Process(pid).children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            process.kill()


def measure_process_tree(words: Sequence[str], log: Path) -> ProcessUsage:
    """Run a command in this process, wait for all of its descendants, and return their usage."""
    become_subreaper()
    with log.open("a") as output:
        began = time.monotonic()
        process = subprocess.Popen(words, stdout=output, stderr=subprocess.STDOUT)
    status = process.wait()
    wall = time.monotonic() - began
    with suppress(ChildProcessError):  # raised once no descendant is left
        while True:
            os.wait()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return ProcessUsage(status, wall, used.ru_utime + used.ru_stime)


def become_subreaper() -> None:
    """Make this process the parent of orphaned descendants.

    Raises:
        RuntimeError: the operating system is not Linux.
        OSError: the system call failed.
    """
    if not sys.platform.startswith("linux"):
        raise RuntimeError(f"the CPU time of a Spark driver can only be measured on Linux, not on {sys.platform}")
    library = ctypes.CDLL(None, use_errno=True)
    if library.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"prctl(PR_SET_CHILD_SUBREAPER): {os.strerror(number)}")


if __name__ == "__main__":
    print(json.dumps(asdict(measure_process_tree(sys.argv[2:], Path(sys.argv[1])))))
