# SPDX-License-Identifier: Apache-2.0
"""Waiting for a condition."""

import time
from collections.abc import Callable

from tests.kubernetes.cluster.errors import ClusterError

_INTERVAL = 0.1


def wait_for(description: str, reason: Callable[[], str | None], seconds: float) -> None:
    """Wait until `reason` returns None.

    Args:
        description: what is awaited, for the error.
        reason: returns why the condition is not met, or None; it may raise ClusterError to end the wait.
        seconds: timeout.

    Raises:
        ClusterError: timeout, with the last reason.
    """
    deadline = time.monotonic() + seconds
    while (found := reason()) is not None:
        if time.monotonic() > deadline:
            raise ClusterError(f"{description} not after {seconds:.0f} s: {found}")
        time.sleep(_INTERVAL)
