# SPDX-License-Identifier: Apache-2.0
"""Event that signal handlers set."""

import os
import select
import signal
import threading
from types import FrameType

STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)


class StopSignal(threading.Event):
    """Event without locks, which a signal handler can set at any time.

    `threading.Event.set` deadlocks in a handler that interrupts `wait` of the same thread while that holds the
    event's lock. This one is a pipe, which is readable once the event is set.
    """

    def __init__(self) -> None:
        super().__init__()
        self._is_set = False
        self._reader, self._writer = os.pipe()

    def __del__(self) -> None:
        os.close(self._reader)
        os.close(self._writer)

    def is_set(self) -> bool:
        return self._is_set

    def set(self) -> None:
        if not self._is_set:
            self._is_set = True
            os.write(self._writer, b"\0")  # never read, so that all threads see it

    def wait(self, timeout: float | None = None) -> bool:
        if not self._is_set:
            waiter = select.poll()
            waiter.register(self._reader, select.POLLIN)
            waiter.poll(None if timeout is None else max(0, timeout) * 1000)
        return self._is_set

    def clear(self) -> None:
        """Not supported: a request to stop is final.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError("a request to stop cannot be withdrawn")

    def install(self) -> None:
        """Let SIGTERM and SIGINT set the event. Only the main thread can call it."""
        for number in STOP_SIGNALS:
            signal.signal(number, self._handle)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        self.set()
