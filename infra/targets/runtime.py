# SPDX-License-Identifier: Apache-2.0
"""Interface to the processes, containers or pods of a running stack, as the `lab` command uses it.

Implementations: `infra.targets.local.supervisor.Supervisor` for processes of this machine,
`infra.targets.docker.runtime.Containers` for containers of a Docker daemon, and `infra.targets.kubernetes.runtime.Pods`
for pods of a cluster. The command depends on none of them.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol

from infra.errors import ServiceError


@dataclass(frozen=True)
class State:
    """State of a service or task.

    Attributes:
        name: name of the service or task.
        status: as supervisord names it: RUNNING, STARTING, STOPPING, STOPPED, EXITED, BACKOFF, FATAL, UNKNOWN; of a
            container also UNHEALTHY (running, but its probe fails) and PAUSED, of a pod also UNHEALTHY.
        pid: process id on the machine that runs it; 0 without a process, and of a pod.
        started: start time in seconds since 1970; 0 if never started.
        exit_status: exit status of the last run.
        explanation: details on one line.
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
        """True if it has a process, healthy or not, and must not be started again."""
        return self.status in {"RUNNING", "STARTING", "STOPPING", "UNHEALTHY", "PAUSED"}

    @property
    def ended(self) -> bool:
        """True if it ran or failed to start, and is not running."""
        return self.status in {"EXITED", "BACKOFF", "FATAL", "UNKNOWN"}

    @property
    def healthy(self) -> bool:
        """True if no intervention is needed."""
        if self.status == "EXITED":
            return self.exit_status == 0
        return self.status in {"RUNNING", "STARTING", "STOPPING", "STOPPED"}


class Runtime(Protocol):
    """Processes, containers or pods of one stack. Every method may raise ServiceError."""

    def exists(self) -> bool:
        """Return whether the stack has a running supervisord, or any container or workload."""

    def states(self) -> list[State]:
        """Return the states of all services and tasks, sorted by name."""

    def state(self, name: str) -> State | None:
        """Return the state of a service or task; None if it does not exist."""

    def require_state(self, name: str) -> State:
        """Return the state of a service or task; if it does not exist, raise an error with the existing names."""

    def is_service(self, name: str) -> bool:
        """Return True for a service, False for a task."""

    def memory(self) -> Mapping[str, float]:
        """Return the memory use of each running service and task, in MiB."""

    def run(self, name: str) -> None:
        """Start a service or task; does nothing if it runs."""

    def run_to_end(
        self, name: str, show: Callable[[str], None] | None = None, variables: Mapping[str, str] | None = None
    ) -> State | None:
        """Start a task and wait for its end; return its last state, None if it was removed meanwhile.

        `show` receives each line of its output, `variables` are environment variables of this run alone. An interrupt
        leaves the task running.
        """

    def stop(self, name: str) -> None:
        """Stop a service or task gracefully and wait for its end; does nothing if it does not run."""

    def log_location(self, name: str) -> str:
        """Return the location of the full log for messages: a path or a command."""

    def log_tail(self, name: str, lines: int = 25) -> str:
        """Return the last lines of a log, indented by two spaces, or a note that it is empty."""

    def follow(self, name: str, lines: int) -> Iterator[str]:
        """Yield the last lines of a log and new ones, across restarts, until the caller stops."""

    def data(self, name: str, volume: str) -> AbstractContextManager[Path]:
        """Open the folder of a service's volume, or a consistent copy of it.

        Changes are allowed only while the service is stopped; changes of a copy are written back at the end.
        """

    def volume_location(self, name: str, volume: str) -> str:
        """Return the location of a volume for messages: a path, or an argument of `docker cp` or `kubectl cp`."""

    def remove_unmanaged(self, known: Callable[[], set[str]]) -> None:
        """Remove resources of a killed update, which are not in Pulumi's state and would block the next update.

        `known` returns the ids in Pulumi's state; it is called only if there are resources to compare.
        """

    def shut_down(self) -> bool:
        """Remove all processes, containers or pods of the stack and wait for their end; files on this disk stay.

        Returns whether there were any.
        """


def indent_log_lines(lines: Iterable[str], none: str) -> str:
    """Return log lines for an error message: indented, without blank lines, cut at 400 characters; else `(none)`."""
    return "\n".join(f"  {line[:400]}" for line in lines if line.strip()) or f"  ({none})"


def unknown_program(name: str, states: Iterable[State]) -> ServiceError:
    """Return the error about an unknown service or task."""
    names = ", ".join(state.name for state in states)
    return ServiceError(f"the lab has no service or task {name}; it has {names or 'none at all'}")


def unix_time(text: str) -> float:
    """Return a time in RFC 3339 format, as Docker and Kubernetes report it, in seconds since 1970."""
    return datetime.fromisoformat(text).timestamp()


def split_lines(chunks: Iterator[bytes]) -> Iterator[str]:
    """Yield the lines of a stream of chunks, which need not end at line boundaries."""
    rest = b""
    for chunk in chunks:
        *complete, rest = (rest + chunk).split(b"\n")
        for line in complete:
            yield line.decode("utf-8", "replace").rstrip("\r")
    if rest:
        yield rest.decode("utf-8", "replace")
