# SPDX-License-Identifier: Apache-2.0
"""The driver as a process: started in a group of its own, told to stop, and gone for good at the end."""

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from types import FrameType

GROUP_SECONDS = 10.0
"""How long the JVM has after its Python is gone. It notices that within 3 s and tells what it had to."""

POLL_SECONDS = 0.05

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


@dataclass(frozen=True)
class Ending:
    """How a driver ended. `status` is as in `subprocess`: negative for a signal."""

    status: int
    was_asked_for: bool = False

    @property
    def well(self) -> bool:
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
        return f"the driver {what}{', after it was asked to stop' if self.was_asked_for else ''}"


def run_to_its_end(command: Sequence[str], environment: Mapping[str, str]) -> Ending:
    """Runs a driver, passes on SIGTERM and SIGINT, and returns when it and all that it started in its group is gone.

    Only for the main thread. Standard output and error are this process's.

    Raises:
        OSError: the command cannot be run.
    """
    _adopt_orphans()
    relay = _Relay()
    with relay:
        # A session of its own: a signal to this process's group is for this process to pass on.
        driver = subprocess.Popen(
            list(command),
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            preexec_fn=_die_with_parent(os.getpid()),
        )
        relay.to(driver)
        status = driver.wait()
        _await_group(driver.pid)
    return Ending(status, was_asked_for=relay.asked)


class _Relay:
    """Passes on what asks this process to stop. What comes before there is a driver is kept for it."""

    SIGNALS = (signal.SIGTERM, signal.SIGINT)

    def __init__(self) -> None:
        self._driver: subprocess.Popen[bytes] | None = None
        self._asked_by: int | None = None

    @property
    def asked(self) -> bool:
        return self._asked_by is not None

    def to(self, driver: "subprocess.Popen[bytes]") -> None:
        self._driver = driver
        if self._asked_by is not None:
            driver.send_signal(self._asked_by)

    def __enter__(self) -> None:
        self._before = {number: signal.signal(number, self._pass_on) for number in self.SIGNALS}

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _pass_on(self, number: int, frame: FrameType | None) -> None:
        self._asked_by = number
        if self._driver is not None:
            self._driver.send_signal(number)  # does nothing once the driver has been waited for


def _await_group(group: int) -> None:
    """Waits until nothing of a process group is left; what stays too long is killed."""
    waiter, deadline = threading.Event(), time.monotonic() + GROUP_SECONDS
    while _is_alive(group):
        if time.monotonic() > deadline:
            with suppress(ProcessLookupError):  # it left just now
                os.killpg(group, signal.SIGKILL)
            deadline = float("inf")
        waiter.wait(POLL_SECONDS)


def _is_alive(group: int) -> bool:
    """Whether a group has members, after those were buried that are dead and ours."""
    try:
        while os.waitpid(-group, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass  # nobody of the group is a child of ours
    try:
        os.killpg(group, 0)
    except (ProcessLookupError, PermissionError):  # macOS: the dead of others are no longer ours to signal
        return False
    return True


def _adopt_orphans() -> None:
    """Where the system can: the JVM becomes our child when its Python dies, so that its end can be waited for."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _die_with_parent(parent: int) -> Callable[[], None] | None:
    """What the driver does before it is one: where the system can, it asks to be killed when its launcher is.

    With SIGKILL, as nobody would be left to see that it stops; its JVM leaves with it.
    """
    if sys.platform != "linux":
        return None
    prctl = ctypes.CDLL(None).prctl

    def ask() -> None:
        prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:  # it was killed before the kernel knew
            os.kill(os.getpid(), signal.SIGKILL)

    return ask
