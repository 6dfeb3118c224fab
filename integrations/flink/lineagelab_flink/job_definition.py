# SPDX-License-Identifier: Apache-2.0
"""Definition of a job, and derivation of its lineage while the job is submitted and watched."""

import logging
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from lineagelab_flink.errors import FlinkError
from lineagelab_flink.launcher_state import JobLineage

MAX_ATTEMPTS = 3
"""Attempts to derive the lineage of a job."""

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ApplicationProgram:
    """Program that the JobManager of an application cluster runs (`application_cluster`).

    Attributes:
        options: of Flink's `StandaloneApplicationClusterEntryPoint` that name the program.
        arguments: of the program's main class.
        configuration: further options of Flink.
    """

    options: tuple[str, ...]
    arguments: tuple[str, ...] = ()
    configuration: Mapping[str, str] = field(default_factory=dict)


class JobDefinition(Protocol):
    """Job to run.

    Attributes:
        identity: changes with its content.
        names_datasets: `describe` names the datasets that the job reads and writes.
    """

    name: str
    identity: str
    job_type: str
    names_datasets: bool

    def submit(self, job_id: str, restore: str, parameters: str) -> None:
        """Submit the job under an id.

        Args:
            job_id: Flink rejects a second job of that id.
            restore: checkpoint or savepoint to start from; empty for none.
            parameters: the job's global parameters, in Flink's notation of a map.

        Raises:
            FlinkError: the job was rejected, or it is unknown whether it was accepted.
        """

    def application(self, folder: Path) -> ApplicationProgram:
        """Return the job as the program of an application cluster.

        Args:
            folder: for files of the program.
        """

    def describe(self) -> JobLineage:
        """Return what the job reads and writes.

        Raises:
            FlinkError: it cannot be derived.
        """


class LineageLookup:
    """Derives the lineage of a job in a background thread: Flink's planner takes 2 to 30 s.

    Attributes:
        failure: of the last attempt; empty for none.
    """

    def __init__(self, definition: JobDefinition) -> None:
        self._definition = definition
        self._lineage: JobLineage | None = None
        self._thread: threading.Thread | None = None
        self._attempts_left = MAX_ATTEMPTS
        self.failure = ""

    def begin(self) -> None:
        """Start an attempt, unless one is running, one has succeeded or none is left."""
        if self._is_running or self._lineage is not None or not self._attempts_left:
            return
        self._attempts_left -= 1
        self._thread = threading.Thread(target=self._derive, name="lineage lookup", daemon=True)
        self._thread.start()

    @property
    def is_pending(self) -> bool:
        """True while an attempt is running, or a failed one is to be repeated."""
        return self._lineage is None and (self._is_running or self._attempts_left > 0)

    @property
    def _is_running(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def wait(self, seconds: float) -> JobLineage | None:
        """Wait up to `seconds` for the running attempt; return the lineage, None where it is not known."""
        if self._thread is not None:
            self._thread.join(seconds)
        return self._lineage

    def _derive(self) -> None:
        try:
            self._lineage = self._definition.describe()
            self.failure = ""
        except FlinkError as error:
            self.failure = str(error)
            log.warning("cannot derive the lineage of %s: %s", self._definition.name, error)
