# SPDX-License-Identifier: Apache-2.0
"""Driver process: started in its own process group, sent signals, and awaited with all its children."""

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from types import FrameType

from lineagelab_common.death_signal import die_with_parent

GROUP_EXIT_TIMEOUT = 10.0
"""Seconds for the JVM to exit after its Python process: it detects the exit within 3 s and sends its last events."""

POLL_INTERVAL = 0.05

_PR_SET_CHILD_SUBREAPER = 36


@dataclass(frozen=True)
class DriverExit:
    """Exit of a driver. `status` is a return code of `subprocess`: negative for a signal."""

    status: int
    stop_requested: bool = False

    @property
    def succeeded(self) -> bool:
        return self.status == 0

    @property
    def exit_code(self) -> int:
        return self.status if self.status >= 0 else 128 - self.status

    def __str__(self) -> str:
        if self.status < 0:
            names = {known.value: f" ({known.name})" for known in signal.Signals}
            what = f"was ended by signal {-self.status}{names.get(-self.status, '')}"
        elif self.status:
            what = f"ended with exit code {self.status}; its log says why"
        else:
            what = "ended without saying how the run did"
        return f"the driver {what}{', after it was asked to stop' if self.stop_requested else ''}"


def run_driver(command: Sequence[str], environment: Mapping[str, str]) -> DriverExit:
    """Run a driver, forward SIGTERM and SIGINT, and return when its process group has no members left.

    Must be called from the main thread. The driver inherits standard output and error.

    Raises:
        OSError: the command cannot be run.
    """
    _adopt_orphans()
    forwarder = _SignalForwarder()
    with forwarder:
        # A new session: a signal to the group of this process must reach the driver only by forwarding.
        driver = subprocess.Popen(
            list(command),
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            preexec_fn=die_with_parent(os.getpid()),
        )
        forwarder.attach(driver)
        status = driver.wait()
        _await_group(driver.pid)
    return DriverExit(status, stop_requested=forwarder.stop_requested)


class _SignalForwarder:
    """Forwards SIGTERM and SIGINT to the driver; a signal that arrives before its start is kept."""

    SIGNALS = (signal.SIGTERM, signal.SIGINT)

    def __init__(self) -> None:
        self._driver: subprocess.Popen[bytes] | None = None
        self._received: int | None = None

    @property
    def stop_requested(self) -> bool:
        return self._received is not None

    def attach(self, driver: "subprocess.Popen[bytes]") -> None:
        self._driver = driver
        if self._received is not None:
            driver.send_signal(self._received)

    def __enter__(self) -> None:
        self._before = {number: signal.signal(number, self._forward) for number in self.SIGNALS}

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _forward(self, number: int, frame: FrameType | None) -> None:
        self._received = number
        if self._driver is not None:
            self._driver.send_signal(number)  # does nothing once the driver has been waited for


def _await_group(group: int) -> None:
    """Wait until a process group has no members; kill those that exceed `GROUP_EXIT_TIMEOUT`."""
    waiter, deadline = threading.Event(), time.monotonic() + GROUP_EXIT_TIMEOUT
    while _is_alive(group):
        if time.monotonic() > deadline:
            with suppress(ProcessLookupError):  # it has just exited
                os.killpg(group, signal.SIGKILL)
            deadline = float("inf")
        waiter.wait(POLL_INTERVAL)


def _is_alive(group: int) -> bool:
    """Reap exited children of a group; return True if it has members left."""
    try:
        while os.waitpid(-group, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass  # no member of the group is a child of this process
    try:
        os.killpg(group, 0)
    except (ProcessLookupError, PermissionError):  # macOS: zombies of other parents cannot be signalled
        return False
    return True


def _adopt_orphans() -> None:
    """Become subreaper (Linux): an orphaned JVM becomes a child of this process, which can wait for it."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
