# SPDX-License-Identifier: Apache-2.0
"""Thread that runs the query observers of an application."""

import threading
import time

from lineagelab_spark.query_observer import POLL_INTERVAL, QueryObserver


class ObserverThread:
    """Runs the steps of each observer when due, and when woken."""

    def __init__(self) -> None:
        self._observers: list[QueryObserver] = []
        self._condition = threading.Condition()
        self._is_woken = self._closing = False
        self._thread: threading.Thread | None = None

    def add(self, observer: QueryObserver) -> None:
        """Run an observer until its query has ended."""
        with self._condition:
            self._observers.append(observer)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="lineage", daemon=True)
                self._thread.start()

    def wake(self) -> None:
        """Run all steps now."""
        with self._condition:
            self._is_woken = True
            self._condition.notify_all()

    def close(self, seconds: float) -> bool:
        """Run a closing step of all observers; return False if that takes longer than `seconds`."""
        with self._condition:
            self._closing = True
            self._condition.notify_all()
        if self._thread is not None:
            self._thread.join(seconds)
        return self._thread is None or not self._thread.is_alive()

    def _run(self) -> None:
        while True:
            with self._condition:
                closing, observers = self._closing, list(self._observers)
                self._is_woken = False
            due = time.monotonic() + min(
                [self._step(observer, closing) for observer in observers], default=POLL_INTERVAL
            )
            with self._condition:
                self._observers = [observer for observer in self._observers if not observer.has_ended]
                if closing:
                    return
                self._condition.wait_for(lambda: self._is_woken or self._closing, max(0.0, due - time.monotonic()))

    def _step(self, observer: QueryObserver, closing: bool) -> float:
        with observer.warnings.log_exceptions("it is incomplete"):
            return observer.step(closing=closing)
        return POLL_INTERVAL
