# SPDX-License-Identifier: Apache-2.0
"""Interface to the processes or containers of a running stack, as the `lab` command uses it.

Implementations: `infra.targets.local.supervisor.Supervisor` for processes of this machine, and
`infra.targets.docker.runtime.Containers` for containers of a Docker daemon. The command does not depend on either.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from infra.errors import ServiceError


@dataclass(frozen=True)
class State:
    """A program's state.

    Attributes:
        name: of the service or task.
        status: as supervisord names it: RUNNING, STARTING, STOPPING, STOPPED, EXITED, BACKOFF, FATAL, UNKNOWN; of a
            container also UNHEALTHY (it runs, and its probe does not answer) and PAUSED.
        pid: process id, on the machine that it runs on; 0 where there is none.
        started: when, in seconds since 1970; 0 where it never was.
        exit_status: of the last end.
        explanation: what else there is to say, in a line.
    """

    name: str
    status: str
    pid: int
    started: int
    exit_status: int
    explanation: str

    @property
    def running(self) -> bool:
        return self.status == "RUNNING"

    @property
    def alive(self) -> bool:
        """It has a process, well or not: it must not be started a second time."""
        return self.status in {"RUNNING", "STARTING", "STOPPING", "UNHEALTHY", "PAUSED"}

    @property
    def ended(self) -> bool:
        """It ran, or tried to, and is not running now."""
        return self.status in {"EXITED", "BACKOFF", "FATAL", "UNKNOWN"}

    @property
    def healthy(self) -> bool:
        """Nothing has to be done about it."""
        if self.status == "EXITED":
            return self.exit_status == 0
        return self.status in {"RUNNING", "STARTING", "STOPPING", "STOPPED"}


class Runtime(Protocol):
    """What runs of one stack. Any question may raise a ServiceError: who was asked what, and what to do."""

    def exists(self) -> bool:
        """Whether anything of the stack is there to be asked for."""

    def states(self) -> list[State]:
        """Every service's and task's state, by name."""

    def state(self, name: str) -> State | None:
        """The state of one; None where there is none of that name."""

    def require_state(self, name: str) -> State:
        """The state of one that is meant to be there; the error has the names of those that are."""

    def is_service(self, name: str) -> bool:
        """Whether one that is there is a service, rather than a task."""

    def memory(self) -> Mapping[str, float]:
        """What each one takes that has a process, in MiB."""

    def run(self, name: str) -> None:
        """Starts one; harmless where it runs."""

    def run_to_end(self, name: str, show: Callable[[str], None] | None = None) -> State | None:
        """Starts a task and waits for its end; its last state, None where it vanished meanwhile.

        `show` gets each line that it prints, as it does. An interrupt leaves it running.
        """

    def stop(self, name: str) -> None:
        """Stops one in good order and waits until it is gone; harmless where it does not run."""

    def log_location(self, name: str) -> str:
        """Where the whole log is, for a person: a path or a command."""

    def log_tail(self, name: str, lines: int = 25) -> str:
        """The last lines of its log, each indented by two; says so where there are none."""

    def follow(self, name: str, lines: int) -> Iterator[str]:
        """The last lines of its log and all that come, over restarts too, until the caller has enough."""

    def data(self, name: str, volume: str) -> AbstractContextManager[Path]:
        """The folder of a service's volume, or a copy of it as it was at one instant.

        It may be changed only where the service does not run: what is done to a copy takes effect at the end.
        """

    def volume_location(self, name: str, volume: str) -> str:
        """Where that folder is, for a person: a path, or what `docker cp` takes."""

    def remove_unmanaged(self, known: Callable[[], set[str]]) -> None:
        """Ends what an update that was killed has left, and an update would stumble over: what is not `known`.

        `known` gives the ids of what is in Pulumi's state; it is asked where anything is there at all.
        """

    def shut_down(self) -> bool:
        """Ends everything of the stack and waits until it is gone; what it keeps on this machine's disk stays.

        Returns whether there was anything.
        """


def indented(lines: Iterable[str], none: str) -> str:
    """The end of a log as an error shows it: what is blank left out, what is very long cut; `none` for nothing."""
    return "\n".join(f"  {line[:400]}" for line in lines if line.strip()) or f"  ({none})"


def unknown_program(name: str, states: Iterable[State]) -> ServiceError:
    """The error about a name that the stack does not have."""
    names = ", ".join(state.name for state in states)
    return ServiceError(f"the lab has no service or task {name}; it has {names or 'none at all'}")
