# SPDX-License-Identifier: Apache-2.0
"""A process of this machine that outlives the command that started it, identified by a locked file.

The lock, unlike a process id, cannot be confused with another process after a crash or a restart of the machine.
"""

import fcntl
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, TypeVar

from infra.errors import LabError, ServiceError
from infra.project import PROJECT, python_path
from infra.provider.kind import OperationContext

T = TypeVar("T")

STOP_SECONDS = 10
"""Time limit of a graceful shutdown before the process is killed."""

START_SECONDS = 60

_READY = "ready"


def detach(lock: Path, log: Path, prepare: Callable[[], T], serve: Callable[[T], None]) -> int:
    """Run `serve` with the result of `prepare` in a child process, and return the exit status of this one.

    This process returns when `prepare` has returned, with 0, or failed, with 1; it then prints the error.

    Args:
        lock: file that the child locks; contains its process id.
        log: file that receives the child's standard output and errors.
        prepare: checks and preparations, whose LabError or OSError is the user's.
        serve: runs until the process is stopped.
    """
    outcome, report = os.pipe()
    if os.fork():
        os.close(report)
        with os.fdopen(outcome) as pipe:
            text = pipe.read()
        if text != _READY:
            print(text or f"it ended at once; see {log}", file=sys.stderr)
        return 0 if text == _READY else 1
    os.close(outcome)
    os.setsid()
    try:
        held = _acquire(lock)
        _redirect(log)
        prepared = prepare()
    except (LabError, OSError) as error:
        os.write(report, str(error).encode())
        os._exit(1)
    os.write(report, _READY.encode())
    os.close(report)
    with held:
        serve(prepared)
    os._exit(0)


def _acquire(lock: Path) -> IO[str]:
    """Lock a file and write this process's id to it; the lock ends with the process."""
    file = lock.open("a+")
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    file.truncate(0)
    file.write(f"{os.getpid()}\n")
    file.flush()
    return file


def _redirect(log: Path) -> None:
    with Path(os.devnull).open() as nothing, log.open("a") as output:
        os.dup2(nothing.fileno(), 0)
        os.dup2(output.fileno(), 1)
        os.dup2(output.fileno(), 2)


def start(module: str, *arguments: str) -> None:
    """Run a module that detaches itself (`detach`), and wait until it is ready.

    Raises:
        ServiceError: it failed; with its message.
    """
    environment = {**os.environ, "PYTHONPATH": python_path(PROJECT)}
    try:
        done = subprocess.run(
            [sys.executable, "-m", module, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
            timeout=START_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise ServiceError(f"it was not ready within {START_SECONDS} s") from error
    if done.returncode != 0:
        raise ServiceError(done.stderr.strip())


def process_id(lock: Path) -> int | None:
    """Return the id of the process that holds a lock; None if there is none."""
    try:
        with lock.open() as file:
            if _is_free(file):
                return None
            return int(file.read() or 0) or None
    except FileNotFoundError:
        return None


def _is_free(file: IO[str]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def stop(lock: Path, call: OperationContext) -> None:
    """Stop the process that holds a lock, and wait for its end; does nothing if there is none."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        pid = process_id(lock)
        if pid is None:
            return
        with suppress(ProcessLookupError):
            os.kill(pid, number)
        for _ in call.poll(STOP_SECONDS):
            if process_id(lock) is None:
                return
    raise ServiceError(f"process {pid} could not be stopped: kill -9 {pid}")
