# SPDX-License-Identifier: Apache-2.0
"""What a job is, and finding out what it reads and writes while the job itself is submitted and watched."""

import logging
import threading
from typing import Protocol

from lineagelab_flink.errors import FlinkError
from lineagelab_flink.launcher_state import Described

TRIES = 3
"""How often it is tried."""

log = logging.getLogger(__name__)


class Definition(Protocol):
    """What is to run. `identity` changes when that does."""

    name: str
    identity: str
    job_type: str

    def submit(self, job_id: str, restore: str, parameters: str) -> None:
        """Submits the job under an id.

        Args:
            job_id: Flink refuses a second job of that id.
            restore: a checkpoint or savepoint to begin from; empty for none.
            parameters: the job's global parameters, as Flink writes a map.

        Raises:
            FlinkError: it was not taken, or nobody knows whether it was.
        """

    def describe(self) -> Described:
        """What the job reads and writes.

        Raises:
            FlinkError: it cannot be found out.
        """


class Inquiry:
    """Asks a definition, in a thread of its own: Flink's planner takes from 2 s to half a minute."""

    def __init__(self, definition: Definition) -> None:
        self._definition = definition
        self._answer: Described | None = None
        self._thread: threading.Thread | None = None
        self._tries = TRIES

    def begin(self) -> None:
        """Asks, unless somebody is asking, the answer is there, or it was tried often enough."""
        asks = self._thread is not None and self._thread.is_alive()
        if asks or self._answer is not None or not self._tries:
            return
        self._tries -= 1
        self._thread = threading.Thread(target=self._ask, name="inquiry", daemon=True)
        self._thread.start()

    def answer(self, seconds: float) -> Described | None:
        """The answer, waited for so long; None where there is none."""
        if self._thread is not None:
            self._thread.join(seconds)
        return self._answer

    def _ask(self) -> None:
        try:
            self._answer = self._definition.describe()
        except FlinkError as error:
            log.warning("what %s reads and writes is not known: %s", self._definition.name, error)
