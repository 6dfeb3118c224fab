# SPDX-License-Identifier: Apache-2.0
"""Waiting for a condition of a running part of the lab."""

import threading
import time

POLL_SECONDS = 0.1

HANGING_SECONDS = 300
"""Time after which a test no longer waits: many times what anything takes, also if other tests use the processor."""


def until(condition, seconds=HANGING_SECONDS):
    """Poll a condition and return its first true value.

    Raises:
        AssertionError: it was false for `seconds`.
    """
    deadline, waiter = time.monotonic() + seconds, threading.Event()
    while not (found := condition()):
        assert time.monotonic() < deadline, f"the condition did not hold within {seconds} s"
        waiter.wait(POLL_SECONDS)
    return found
