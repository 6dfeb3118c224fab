# SPDX-License-Identifier: Apache-2.0
"""Detached processes with pid files and logs."""

import os
import select
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.kubernetes.cluster.errors import ClusterError

_TAIL_BYTES = 2000


@dataclass(frozen=True)
class DetachedProcess:
    """Process that survives its starter; the pid file also holds the start time, so that a reused pid is noticed."""

    folder: Path
    name: str

    @property
    def log(self) -> Path:
        return self.folder / f"{self.name}.log"

    @property
    def pid(self) -> int | None:
        """Process id; None if the process does not run."""
        try:
            pid, started = self._pid_file.read_text().split()
        except FileNotFoundError:
            return None
        return int(pid) if start_time(int(pid)) == started else None

    def start(self, command: Sequence[str | Path]) -> None:
        """Start the process unless it runs. Its output is appended to the log."""
        if self.pid is not None:
            return
        with self.log.open("ab") as log:
            process = subprocess.Popen(
                [str(part) for part in command],
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._pid_file.write_text(f"{process.pid} {start_time(process.pid)}")

    def stop(self, seconds: float = 30) -> None:
        """Terminate the process if it runs, and wait for its end; after `seconds` it is killed."""
        pid = self.pid
        if pid is not None and not terminate(pid, signal.SIGTERM, seconds):
            terminate(pid, signal.SIGKILL, seconds)
        self._pid_file.unlink(missing_ok=True)

    def check(self) -> None:
        """Raise ClusterError with the end of the log if the process does not run."""
        if self.pid is None:
            raise ClusterError(f"{self.name} has exited; end of {self.log}:\n{self.log_tail()}")

    def log_tail(self) -> str:
        with self.log.open("rb") as log:
            log.seek(max(0, self.log.stat().st_size - _TAIL_BYTES))
            return log.read().decode(errors="replace").strip()

    @property
    def memory(self) -> int:
        """Resident memory in bytes; 0 if the process does not run."""
        pid = self.pid
        if pid is None:
            return 0
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    @property
    def _pid_file(self) -> Path:
        return self.folder / f"{self.name}.pid"


def start_time(pid: int) -> str | None:
    """Return the start time of a process in clock ticks since boot; None if it has exited."""
    try:
        state, *rest = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if state in "ZX" else rest[18]


def terminate(pid: int, number: signal.Signals, seconds: float) -> bool:
    """Send a signal and wait up to `seconds` for the end of the process; return True if it has ended."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        signal.pidfd_send_signal(descriptor, number)
        waiter = select.poll()
        waiter.register(descriptor, select.POLLIN)
        return bool(waiter.poll(seconds * 1000))
    except ProcessLookupError:
        return True
    finally:
        os.close(descriptor)
