# SPDX-License-Identifier: Apache-2.0
"""Execution of package managers and compilers: output to a log, progress by line, termination of all children."""

import errno
import os
import shutil
import signal
import subprocess
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from infra.toolchain.cache import CACHE_VARIABLE
from infra.toolchain.errors import ArtifactError, Cancelled

_TAIL_LINES = 15
_TERMINATION_GRACE_SECONDS = 5
_LOW_DISK_BYTES = 200 * 1024**2


@dataclass(frozen=True, kw_only=True)
class Command:
    """Command line. `attempt` and `remedy` are parts of the error; `env` is added to this process's environment."""

    arguments: Sequence[str | Path]
    attempt: str
    remedy: str
    log: Path
    env: Mapping[str, str] = field(default_factory=dict)
    directory: Path | None = None


class Runner:
    """Runs commands from several threads; `stop` terminates all of them."""

    def __init__(self, tmp: Path) -> None:
        self._tmp = tmp
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[str]] = set()
        self._stopped = False

    def run(self, command: Command, on_line: Callable[[str], None] = lambda line: None) -> None:
        """Run a command to completion. Raises ArtifactError with the end of its output; Cancelled after `stop`."""
        tail: deque[str] = deque(maxlen=_TAIL_LINES)
        with command.log.open("w", encoding="utf-8") as log:
            process = self._start(command)
            assert process.stdout is not None
            try:
                for line in process.stdout:
                    log.write(line)
                    if text := line.rstrip():
                        tail.append(text)
                        on_line(text)
                code = process.wait()
            except BaseException:
                _terminate(process)
                raise
            finally:
                process.stdout.close()
                with self._lock:
                    self._running.discard(process)
        self.raise_if_stopped()
        if code != 0:
            raise ArtifactError(
                command.attempt,
                f"{Path(command.arguments[0]).name} exited with status {code} (log: {command.log})",
                self._disk_remedy() or command.remedy,
                "\n".join(tail),
            )

    def stop(self) -> None:
        """Terminate running commands and reject further ones."""
        with self._lock:
            self._stopped = True
            running = list(self._running)
        for process in running:
            _terminate(process)

    def raise_if_stopped(self) -> None:
        """Raise Cancelled after `stop`; for long work that runs no command."""
        if self._stopped:
            raise Cancelled

    def _start(self, command: Command) -> subprocess.Popen[str]:
        arguments = [str(argument) for argument in command.arguments]
        try:
            with self._lock:
                self.raise_if_stopped()
                process = subprocess.Popen(
                    arguments,
                    cwd=command.directory,
                    env={**os.environ, "TMPDIR": str(self._tmp), **command.env},
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    text=True,
                    errors="replace",
                    start_new_session=True,
                )
                self._running.add(process)
        except OSError as error:
            raise ArtifactError(command.attempt, f"cannot run {arguments[0]}: {error}", command.remedy) from error
        return process

    def _disk_remedy(self) -> str | None:
        free = shutil.disk_usage(self._tmp).free
        return disk_remedy(self._tmp.parent) if free < _LOW_DISK_BYTES else None


@contextmanager
def sigterm_as_keyboard_interrupt() -> Iterator[None]:
    """Raise KeyboardInterrupt in the main thread on SIGTERM, so that children end and unfinished work is removed."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def disk_remedy(cache: Path) -> str:
    """Return the remedy for a full file system of the cache."""
    free = shutil.disk_usage(cache).free
    return (
        f"free disk space for {cache} ({free / 1e9:.1f} GB left), or set {CACHE_VARIABLE} to a folder on another disk"
    )


def is_disk_full(error: OSError) -> bool:
    return error.errno in (errno.ENOSPC, errno.EDQUOT)


def _terminate(process: subprocess.Popen[str]) -> None:
    """Terminate a process group (Maven is a shell script around Java): SIGTERM, after the grace period SIGKILL."""
    _signal_group(process, signal.SIGTERM)
    with suppress(subprocess.TimeoutExpired):
        process.wait(_TERMINATION_GRACE_SECONDS)
    _signal_group(process, signal.SIGKILL)
    process.wait()


def _signal_group(process: subprocess.Popen[str], number: signal.Signals) -> None:
    with suppress(ProcessLookupError):  # all processes of the group have exited
        os.killpg(process.pid, number)
