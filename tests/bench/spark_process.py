# SPDX-License-Identifier: Apache-2.0
"""A command with all that it starts, watched from outside: what CPU time it takes, and how long.

A Spark driver is a Python process whose JVM is a child that nobody waits for, so that the operating system counts it
to no one. Here a watcher, `python -m tests.bench.spark_process COMMAND ...`, adopts what a command leaves behind
(Linux's child subreaper), waits for all of it, and prints what it was as one line of JSON.
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
"""Of prctl(2), which Python does not have."""


@dataclass(frozen=True)
class Usage:
    """What a command took. `wall_seconds` end with the command itself, `cpu_seconds` with the last it started."""

    status: int
    wall_seconds: float
    cpu_seconds: float


def run(words: Sequence[str], environment: Mapping[str, str], log: Path, seconds: float = 600) -> Usage:
    """Runs a command to its end. `log` has what it prints.

    Raises:
        RuntimeError: it failed; the text has the end of its log.
        subprocess.TimeoutExpired: it did not end in time.
    """
    with watched(words, environment, log) as watcher:
        usage = Usage(**json.loads(watcher.communicate(timeout=seconds)[0]))
    if usage.status != 0:
        raise RuntimeError(f"{' '.join(words)} failed ({usage.status}). The end of {log}:\n{log_tail(log)}")
    return usage


@contextmanager
def watched(words: Sequence[str], environment: Mapping[str, str], log: Path) -> Iterator[subprocess.Popen[str]]:
    """The process that watches a command which has just been started; at the end all is killed that has not ended."""
    with log.open("w") as output:
        watcher = subprocess.Popen(
            [sys.executable, "-m", __name__, str(log), *words],
            cwd=REPOSITORY,
            env={**environment, "PYTHONPATH": python_path(REPOSITORY)},
            stdout=subprocess.PIPE,
            stderr=output,
            text=True,
        )
    try:
        yield watcher
    finally:
        while watcher.poll() is None:
            _kill_children(watcher.pid)
            with suppress(subprocess.TimeoutExpired):
                watcher.wait(1)
        assert watcher.stdout is not None
        watcher.stdout.close()


def _kill_children(pid: int) -> None:
    for process in psutil.Process(pid).children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            process.kill()


def watch(words: Sequence[str], log: Path) -> Usage:
    """Runs a command; returns when all that it has started is gone."""
    adopt_orphans()
    with log.open("a") as output:
        began = time.monotonic()
        process = subprocess.Popen(words, stdout=output, stderr=subprocess.STDOUT)
    status = process.wait()
    wall = time.monotonic() - began
    with suppress(ChildProcessError):  # there is none left
        while True:
            os.wait()
    taken = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Usage(status, wall, taken.ru_utime + taken.ru_stime)


def adopt_orphans() -> None:
    """Become the parent of what children leave behind.

    Raises:
        RuntimeError: this system is no Linux.
        OSError: the system refuses.
    """
    if not sys.platform.startswith("linux"):
        raise RuntimeError(
            f"the CPU time of a whole Spark driver can be measured on Linux alone, not on {sys.platform}"
        )
    library = ctypes.CDLL(None, use_errno=True)
    if library.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"prctl(PR_SET_CHILD_SUBREAPER): {os.strerror(number)}")


if __name__ == "__main__":
    print(json.dumps(asdict(watch(sys.argv[2:], Path(sys.argv[1])))))
