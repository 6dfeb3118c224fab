# SPDX-License-Identifier: Apache-2.0
"""Child processes that do not outlive a killed parent (Linux)."""

import ctypes
import os
import signal
import sys
from collections.abc import Callable

_PR_SET_PDEATHSIG = 1


def die_with_parent(parent: int) -> Callable[[], None] | None:
    """Return the `preexec_fn` of a child that is killed when the thread that starts it ends; None on other systems.

    SIGKILL, as no parent would be left to enforce a graceful stop.

    Args:
        parent: id of the process that starts the child.
    """
    if sys.platform != "linux":
        return None
    prctl = ctypes.CDLL(None).prctl

    def set_death_signal() -> None:
        prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:  # the parent died before prctl took effect
            os.kill(os.getpid(), signal.SIGKILL)

    return set_death_signal
