# SPDX-License-Identifier: Apache-2.0
"""Context of a batch run that reports its start and its end."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from types import TracebackType
from typing import TypeVar

from lineagelab_common.events import Json
from lineagelab_common.identifiers import new_run_id
from lineagelab_common.open_runs import OpenRuns

Self = TypeVar("Self", bound="ReportedRun")


class ReportedRun(ABC):
    """Run that begins and ends with a block of code.

    An exception in the block is a FAIL, Ctrl-C an ABORT; without one, the run decides. No exception is suppressed.

    Args:
        send: takes each event, such as `Spool(url).add`.
        open_runs: file by which a later process ends the run if this one is killed.
    """

    def __init__(self, send: Callable[[Json], None], open_runs: OpenRuns | None = None) -> None:
        self.run_id = new_run_id()
        self._send = send
        self._open_runs = open_runs or OpenRuns(None)

    @abstractmethod
    def _event(self, event_type: str, error: str = "") -> Json:
        """Return a run event; `error` is the message of a failed run."""

    @abstractmethod
    def _failure(self) -> str:
        """Return why a run that raised nothing has failed; empty if it completed."""

    def __enter__(self: Self) -> Self:
        """Report the start."""
        event = self._event("START")
        self._open_runs.store(event)
        self._send(event)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Report the end."""
        if error is not None and not isinstance(error, Exception):
            event = self._event("ABORT")
        elif failure := self._failure() if error is None else f"{type(error).__name__}: {error}":
            event = self._event("FAIL", failure)
        else:
            event = self._event("COMPLETE")
        self._send(event)
        self._open_runs.remove(self.run_id)
