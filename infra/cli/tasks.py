# SPDX-License-Identifier: Apache-2.0
"""Running the lab's tasks: start, wait, tell how it went."""

import threading
import time
from collections.abc import Callable
from pathlib import Path

from infra.errors import LabError, ServiceError
from infra.supervision import Supervisor, log_tail

POLL_SECONDS = 0.2


def run_task(supervisor: Supervisor, name: str, show: Callable[[str], None] | None = None) -> float:
    """Runs a task to its end and returns the seconds it took. Ctrl-C stops the task.

    `show` gets each line that the task prints while it runs.

    Raises:
        LabError: there is no such task, or it is running already.
        ServiceError: it failed; the text has its exit status and the end of its log.
    """
    before = supervisor.known(name)
    if before.running:
        raise LabError(f"{name} is running already (pid {before.pid})")
    log = supervisor.log_of(name)
    reader = _Follower(log)
    started = time.monotonic()
    supervisor.run(name)
    waiter = threading.Event()
    try:
        while True:
            state = supervisor.state(name)
            reader.pass_on(show)
            if state is None or not (state.running or state.word == "STARTING"):
                break
            waiter.wait(POLL_SECONDS)
    except KeyboardInterrupt:
        supervisor.stop(name)
        raise
    if state is None or state.word != "EXITED" or state.exit_status != 0:
        status = f"exit status {state.exit_status}" if state else "it vanished"
        raise ServiceError(f"{name} failed ({status}). The end of its log, {log}:\n{log_tail(log)}")
    return time.monotonic() - started


class _Follower:
    """Reads what is appended to a file from now on."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._at = path.stat().st_size if path.exists() else 0

    def pass_on(self, show: Callable[[str], None] | None) -> None:
        if show is None or not self._path.exists():
            return
        if self._path.stat().st_size < self._at:  # it was rotated
            self._at = 0
        with self._path.open("rb") as file:
            file.seek(self._at)
            text = file.read()
        whole = text.rfind(b"\n") + 1
        self._at += whole
        for line in text[:whole].decode("utf-8", "replace").splitlines():
            show(line)
