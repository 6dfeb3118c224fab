# SPDX-License-Identifier: Apache-2.0
"""The thread on which the queries of an application are watched."""

import threading
import time

from lineagelab_spark.watch import POLL_SECONDS, Watch


class Worker:
    """Lets each watch take its steps, when it is due and when somebody calls."""

    def __init__(self) -> None:
        self._watches: list[Watch] = []
        self._called = threading.Condition()
        self._is_called = self._closing = False
        self._thread: threading.Thread | None = None

    def add(self, watch: Watch) -> None:
        """Watches one more query, until it has ended."""
        with self._called:
            self._watches.append(watch)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="lineage", daemon=True)
                self._thread.start()

    def call(self) -> None:
        """There is something to do now."""
        with self._called:
            self._is_called = True
            self._called.notify_all()

    def close(self, seconds: float) -> bool:
        """Ends all watches, and waits at most so long for it. Whether that was enough."""
        with self._called:
            self._closing = True
            self._called.notify_all()
        if self._thread is not None:
            self._thread.join(seconds)
        return self._thread is None or not self._thread.is_alive()

    def _run(self) -> None:
        while True:
            with self._called:
                closing, watches = self._closing, list(self._watches)
                self._is_called = False
            due = time.monotonic() + min([self._step(watch, closing) for watch in watches], default=POLL_SECONDS)
            with self._called:
                self._watches = [watch for watch in self._watches if not watch.is_over]
                if closing:
                    return
                self._called.wait_for(lambda: self._is_called or self._closing, max(0.0, due - time.monotonic()))

    def _step(self, watch: Watch, closing: bool) -> float:
        with watch.complaints.survived("it is incomplete"):
            return watch.step(closing=closing)
        return POLL_SECONDS
