# SPDX-License-Identifier: Apache-2.0
"""`Runtime` of the Docker target: the containers of one stack."""

import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path, PurePosixPath
from typing import Any

from docker import DockerClient
from docker.errors import APIError
from docker.models.containers import Container
from docker.models.networks import Network
from docker.models.volumes import Volume

from infra.errors import ServiceError
from infra.targets.container_paths import SCRATCH, VOLUMES
from infra.targets.docker.container_data import folder_copy
from infra.targets.docker.container_state import is_service, parse_state, part_name, used_memory_mib
from infra.targets.docker.engine import closing_stream, docker_errors, shared_client
from infra.targets.docker.file_archive import file_archive
from infra.targets.labels import PART_LABEL, stack_labels
from infra.targets.launch_script import RUN_VARIABLES, run_variables
from infra.targets.runtime import State, indent_log_lines, split_lines, unix_time, unknown_program

POLL_SECONDS = 0.5
"""Interval at which `follow` checks for a restart of a container."""

_DEFAULT_STOP_SECONDS = 10
"""Docker's default time limit of a graceful shutdown."""

_MAX_PARALLEL_STATS = 32
"""Parallel requests of `docker stats`; old daemons take 1 s for each container."""

_REMOVED_CODES = {404, 409}
"""HTTP status codes of requests for a container that was removed or is being removed."""

DockerObject = Container | Network | Volume


class Containers:
    """The containers, networks and volumes of one stack (`infra.targets.runtime.Runtime`).

    Each method reads them from the daemon, by label, as Pulumi's state may be lost or an update interrupted.
    """

    def __init__(self, stack: str) -> None:
        self.stack = stack

    @property
    def client(self) -> DockerClient:
        """Client of the daemon."""
        return shared_client()

    def ids(self) -> set[str]:
        """Return the ids of all containers of the stack."""
        with docker_errors("list containers"):  # ids only: inspecting each is slow and rarely needed
            return {found["Id"] for found in self.client.api.containers(all=True, filters=self._filter())}

    def exists(self) -> bool:
        """Return whether the stack has a container."""
        with docker_errors("list containers"):
            return bool(self.client.api.containers(all=True, filters=self._filter(PART_LABEL)))

    def states(self) -> list[State]:
        """Return the states of all services and tasks, sorted by name."""
        return sorted((parse_state(found.attrs) for found in self._part_containers()), key=lambda state: state.name)

    def state(self, name: str) -> State | None:
        """Return the state of a service or task; None if it does not exist."""
        found = self._find(name)
        return None if found is None else parse_state(found.attrs)

    def require_state(self, name: str) -> State:
        """Return the state of a service or task; if it does not exist, raise an error with the existing names."""
        return parse_state(self._require(name).attrs)

    def is_service(self, name: str) -> bool:
        """Return True for a service, False for a task."""
        return is_service(self._require(name).attrs)

    def memory(self) -> Mapping[str, float]:
        """Return the memory of each running container in MiB like `docker stats`, without reclaimable page cache."""
        running = [found for found in self._part_containers() if found.attrs["State"]["Pid"]]
        with ThreadPoolExecutor(_MAX_PARALLEL_STATS) as pool:
            figures = list(pool.map(self._memory_mib, running))
        return {part_name(found.attrs): mib for found, mib in zip(running, figures, strict=True)}

    def _memory_mib(self, container: Container) -> float:
        answer: Any = {"memory_stats": {}}
        with _ignore_removed(), docker_errors(f"report the memory of {container.name}"):
            answer = self.client.api.stats(str(container.id), stream=False, one_shot=True)
        return used_memory_mib(answer["memory_stats"])

    def run(self, name: str) -> None:
        """Start a service or task; does nothing if it runs."""
        container = self._require(name)
        with docker_errors(f"start {container.name}"):
            container.start()

    def run_to_end(
        self, name: str, show: Callable[[str], None] | None = None, variables: Mapping[str, str] | None = None
    ) -> State | None:
        """Start a task and wait for its end; `show` receives each line of its output."""
        container = self._require(name)
        if variables:
            with docker_errors(f"pass variables to {container.name}"):
                container.put_archive(SCRATCH, file_archive({RUN_VARIABLES: run_variables(variables).encode()}))
        before = self._daemon_time()  # the log has the output of earlier runs too
        self.run(name)
        with _ignore_removed():
            if show:
                for _, line in self._log_to_end(container, since=before):
                    show(line)
            with docker_errors(f"wait for {container.name}"):
                container.wait()
        return self.state(name)

    def stop(self, name: str) -> None:
        """Stop a service or task gracefully, with its own signal and time limit, and wait for its end."""
        container = self._require(name)
        timeout = container.attrs["Config"].get("StopTimeout") or _DEFAULT_STOP_SECONDS
        with docker_errors(f"stop {container.name}"):
            container.stop(timeout=timeout)

    def log_location(self, name: str) -> str:
        """Return the command that shows the full log."""
        return f"docker logs {self._require(name).name}"

    def log_tail(self, name: str, lines: int = 25) -> str:
        """Return the last lines of a log, indented by two spaces, or a note that it is empty."""
        container = self._require(name)
        return indent_log_lines(
            (line for _, line in self._log(container, tail=lines)), f"the log of {container.name} is empty"
        )

    def follow(self, name: str, lines: int) -> Iterator[str]:
        """Yield the last lines of a log and new ones, across restarts and replacement of the container."""
        self._require(name)
        last_start, latest, waiter = "", "", threading.Event()
        while True:
            container = self._find(name)
            if container and (start := container.attrs["State"]["StartedAt"]) != last_start:
                last_start = start
                options = {"since": unix_time(latest)} if latest else {"tail": lines}
                printed = latest  # `since` may repeat lines
                with _ignore_removed():
                    for stamp, line in self._log_to_end(container, **options):
                        if stamp > printed:
                            latest = max(latest, stamp)
                            yield line
            waiter.wait(POLL_SECONDS)

    def remove_unmanaged(self, known: Callable[[], set[str]]) -> None:
        """Remove containers and networks of the stack whose ids are not `known`; volumes, which hold data, are kept."""
        existing = self.ids()
        networks = self._networks()
        managed = known() if existing or networks else set()
        containers = self._containers() if existing - managed else []
        found: list[DockerObject] = [*containers, *networks]
        for orphan in [item for item in found if item.id not in managed]:
            with docker_errors(f"remove {orphan.name}, which is not in Pulumi's state"):
                self._remove(orphan)

    def data(self, name: str, volume: str) -> AbstractContextManager[Path]:
        """Open a consistent copy of a volume's folder; changes are written back if the service is stopped."""
        return folder_copy(self._require(name), PurePosixPath(VOLUMES) / volume)

    def volume_location(self, name: str, volume: str) -> str:
        """Return the location of a volume as an argument of `docker cp`."""
        return f"{self._require(name).name}:{VOLUMES}/{volume}"

    def shut_down(self) -> bool:
        """Remove all containers, networks and volumes of the stack; return whether there were any."""
        with docker_errors("list volumes"):
            volumes = self.client.volumes.list(filters=self._filter())
        found: list[DockerObject] = [*self._containers(), *self._networks(), *volumes]  # users before what they use
        for item in found:
            with docker_errors(f"remove {item.name}"):
                self._remove(item)
        return bool(found)

    def _remove(self, item: DockerObject) -> None:
        if isinstance(item, Container):
            item.remove(force=True, v=True)
        else:
            item.remove()

    def _part_containers(self) -> list[Container]:
        return self._containers(PART_LABEL)

    def _find(self, name: str) -> Container | None:
        return next(iter(self._containers(f"{PART_LABEL}={name}")), None)

    def _require(self, name: str) -> Container:
        found = self._find(name)
        if found is None:
            raise unknown_program(name, self.states())
        return found

    def _containers(self, *more: str) -> list[Container]:
        with docker_errors("list containers"):
            # A container that is removed meanwhile is omitted.
            return self.client.containers.list(all=True, filters=self._filter(*more), ignore_removed=True)

    def _networks(self) -> list[Network]:
        with docker_errors("list networks"):
            return self.client.networks.list(filters=self._filter())

    def _filter(self, *more: str) -> dict[str, str | list[str] | bool]:
        """Return the filter for objects of this stack of this checkout; another one may have a stack of the name."""
        return {"label": [*(f"{name}={value}" for name, value in stack_labels(self.stack).items()), *more]}

    def _daemon_time(self) -> float:
        """Return the time of the daemon's clock, which may differ from this machine's."""
        with docker_errors("report its time"):
            return unix_time(self.client.info()["SystemTime"])

    def _log_to_end(self, container: Container, **options: Any) -> Iterator[tuple[str, str]]:  # noqa: ANN401
        """Yield lines until the container exits. Following a log may end before its last lines: these are read last."""
        latest = ""
        for stamp, line in self._log(container, follow=True, **options):
            latest = max(latest, stamp)  # stdout and stderr may interleave out of order
            yield stamp, line
        rest = {"since": unix_time(latest)} if latest else options
        for stamp, line in self._log(container, **rest):
            if stamp > latest:
                yield stamp, line

    def _log(self, container: Container, follow: bool = False, **options: Any) -> Iterator[tuple[str, str]]:  # noqa: ANN401
        """Yield the lines of a log, each with its time in RFC 3339 format, which sorts as text."""
        with (
            docker_errors(f"show the log of {container.name}"),
            closing_stream(container.logs(stream=True, follow=follow, timestamps=True, **options)) as chunks,
        ):
            for line in split_lines(chunks):
                stamp, _, text = line.partition(" ")
                yield stamp, text


@contextmanager
def _ignore_removed() -> Iterator[None]:
    """Suppress errors of requests for a container that is removed meanwhile."""
    try:
        yield
    except ServiceError as error:
        if not isinstance(error.__cause__, APIError) or error.__cause__.status_code not in _REMOVED_CODES:
            raise
