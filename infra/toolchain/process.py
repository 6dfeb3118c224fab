# SPDX-License-Identifier: Apache-2.0
"""Running package managers and compilers: output to a log, progress by line, an end that leaves nothing."""

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
_GRACE_SECONDS = 5
_NEARLY_FULL = 200 * 1024**2


@dataclass(frozen=True)
class Command:
    """What to run. `attempt` and `remedy` are for the error; `env` is added to this process's environment."""

    arguments: Sequence[str | Path]
    attempt: str
    remedy: str
    log: Path
    env: Mapping[str, str] = field(default_factory=dict)
    directory: Path | None = None


class Runner:
    """Runs commands from several threads and can end all of them at once."""

    def __init__(self, tmp: Path) -> None:
        self._tmp = tmp
        self._guard = threading.Lock()
        self._running: set[subprocess.Popen[str]] = set()
        self._stopped = False

    def run(self, command: Command, on_line: Callable[[str], None] = lambda line: None) -> None:
        """Run to the end. Raises ArtifactError with the end of the output, or Cancelled after `stop`."""
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
                _end(process)
                raise
            finally:
                process.stdout.close()
                with self._guard:
                    self._running.discard(process)
        self.check()
        if code != 0:
            raise ArtifactError(
                command.attempt,
                f"{Path(command.arguments[0]).name} ended with exit code {code} (log: {command.log})",
                self._disk_remedy() or command.remedy,
                "\n".join(tail),
            )

    def stop(self) -> None:
        """End what runs, and everything that is started from now on."""
        with self._guard:
            self._stopped = True
            running = list(self._running)
        for process in running:
            _end(process)

    def check(self) -> None:
        """Raise Cancelled after `stop`; for loops that run no command."""
        if self._stopped:
            raise Cancelled

    def _start(self, command: Command) -> subprocess.Popen[str]:
        arguments = [str(argument) for argument in command.arguments]
        try:
            with self._guard:
                self.check()
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
        return disk_remedy(self._tmp.parent) if free < _NEARLY_FULL else None


@contextmanager
def sigterm_as_keyboard_interrupt() -> Iterator[None]:
    """Let SIGTERM end the main thread the way Ctrl-C does: children ended, unfinished work removed."""

    def end(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def disk_remedy(cache: Path) -> str:
    """What to do when the cache's file system is full."""
    free = shutil.disk_usage(cache).free
    return f"free some space for {cache} ({free / 1e9:.1f} GB left) or point {CACHE_VARIABLE} to another disk"


def is_disk_full(error: OSError) -> bool:
    return error.errno in (errno.ENOSPC, errno.EDQUOT)


def _end(process: subprocess.Popen[str]) -> None:
    """End the process and its children (Maven is a shell script around Java): SIGTERM, and for the rest SIGKILL."""
    _signal(process, signal.SIGTERM)
    with suppress(subprocess.TimeoutExpired):
        process.wait(_GRACE_SECONDS)
    _signal(process, signal.SIGKILL)
    process.wait()


def _signal(process: subprocess.Popen[str], number: signal.Signals) -> None:
    with suppress(ProcessLookupError):  # nobody of the group is left
        os.killpg(process.pid, number)
