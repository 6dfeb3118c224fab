# SPDX-License-Identifier: Apache-2.0
"""The containers of one stack, by their labels: a `Runtime`.

The daemon keeps them running. It is asked anew each time and by labels alone, so that what is found is what is
there: also where Pulumi's state is lost, or an update was interrupted.
"""

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
from infra.targets.docker.container_data import folder_copy
from infra.targets.docker.container_state import is_service, memory_mib, name_of, state_of, unix_time
from infra.targets.docker.engine import closed, docker_errors, shared_client
from infra.targets.docker.names import PART_LABEL, VOLUMES, labels
from infra.targets.runtime import State, indented, unknown_program

POLL_SECONDS = 0.5
"""How often a container that does not run is looked at, while somebody follows its log."""

_DEFAULT_STOP_SECONDS = 10
"""The daemon's own."""

_MAX_PARALLEL_STATS = 32
"""Old daemons take a second for the figures of a container."""

_REMOVED_CODES = {404, 409}
"""What the daemon answers about a container that was removed, or is being removed."""

DockerObject = Container | Network | Volume
"""What the daemon has of a stack."""


class Containers:
    """What the daemon has of one stack."""

    def __init__(self, stack: str) -> None:
        self.stack = stack

    @property
    def client(self) -> DockerClient:
        """The daemon."""
        return shared_client()

    def exists(self) -> bool:
        """Whether the stack has a container."""
        with docker_errors("list containers"):
            return bool(self.client.api.containers(all=True, filters=self._filter(PART_LABEL)))

    def states(self) -> list[State]:
        """Every service's and task's state, by name."""
        return sorted((state_of(found.attrs) for found in self._all()), key=lambda state: state.name)

    def state(self, name: str) -> State | None:
        """The state of one; None where the stack has none of that name."""
        found = self._find(name)
        return None if found is None else state_of(found.attrs)

    def require_state(self, name: str) -> State:
        """The state of one that is meant to be there; the error has the names of those that are."""
        return state_of(self._known(name).attrs)

    def is_service(self, name: str) -> bool:
        """Whether one that is there is a service, rather than a task."""
        return is_service(self._known(name).attrs)

    def memory(self) -> Mapping[str, float]:
        """What each container that runs takes, in MiB, as `docker stats` counts: without files that can be dropped."""
        running = [found for found in self._all() if found.attrs["State"]["Pid"]]
        with ThreadPoolExecutor(_MAX_PARALLEL_STATS) as pool:
            figures = list(pool.map(self._memory_mib, running))
        return {name_of(found.attrs): mib for found, mib in zip(running, figures, strict=True)}

    def _memory_mib(self, container: Container) -> float:
        answer: Any = {"memory_stats": {}}
        with _until_removed(), docker_errors(f"say what {container.name} takes"):
            answer = self.client.api.stats(str(container.id), stream=False, one_shot=True)
        return memory_mib(answer["memory_stats"])

    def run(self, name: str) -> None:
        """Starts one; harmless where it runs."""
        container = self._known(name)
        with docker_errors(f"start {container.name}"):
            container.start()

    def run_to_end(self, name: str, show: Callable[[str], None] | None = None) -> State | None:
        """Starts a task and waits for its end; `show` gets each line that it prints, as it does."""
        container = self._known(name)
        before = self._clock()  # the log has what earlier runs printed too
        self.run(name)
        with _until_removed():
            if show:
                for _, line in self._log_to_end(container, since=before):
                    show(line)
            with docker_errors(f"wait for {container.name}"):
                container.wait()
        return self.state(name)

    def stop(self, name: str) -> None:
        """Stops one by its own signal and within its own time, and waits until it is gone."""
        container = self._known(name)
        patience = container.attrs["Config"].get("StopTimeout") or _DEFAULT_STOP_SECONDS
        with docker_errors(f"stop {container.name}"):
            container.stop(timeout=patience)

    def log_location(self, name: str) -> str:
        """The command that shows all of it."""
        return f"docker logs {self._known(name).name}"

    def log_tail(self, name: str, lines: int = 25) -> str:
        """The last lines of its log, each indented by two; says so where there are none."""
        container = self._known(name)
        return indented((line for _, line in self._log(container, tail=lines)), f"{container.name} has printed nothing")

    def follow(self, name: str, lines: int) -> Iterator[str]:
        """The last lines of its log and all that come, over restarts and a container made anew."""
        self._known(name)
        seen, latest, waiter = "", "", threading.Event()
        while True:
            container = self._find(name)
            if container and (start := container.attrs["State"]["StartedAt"]) != seen:
                seen = start
                options = {"since": unix_time(latest)} if latest else {"tail": lines}
                known = latest  # `since` is not exact
                with _until_removed():
                    for stamp, line in self._log_to_end(container, **options):
                        if stamp > known:
                            latest = max(latest, stamp)
                            yield line
            waiter.wait(POLL_SECONDS)

    def remove_unmanaged(self, known: Callable[[], set[str]]) -> None:
        """Removes containers and networks of the stack whose ids are not `known`; volumes, which hold data, stay."""
        with docker_errors(
            "list containers"
        ):  # their ids alone: to look at each takes its time, and hardly ever matters
            there = {found["Id"] for found in self.client.api.containers(all=True, filters=self._filter())}
        networks = self._networks()
        ours = known() if there or networks else set()
        containers = self._labelled() if there - ours else []
        found: list[DockerObject] = [*containers, *networks]
        for stranger in [thing for thing in found if thing.id not in ours]:
            with docker_errors(f"remove {stranger.name}, which an earlier update left behind"):
                self._remove(stranger)

    def data(self, name: str, volume: str) -> AbstractContextManager[Path]:
        """A copy of what a service keeps: of one instant where it runs, put back at the end where it does not."""
        return folder_copy(self._known(name), PurePosixPath(VOLUMES) / volume)

    def volume_location(self, name: str, volume: str) -> str:
        """As `docker cp` takes it."""
        return f"{self._known(name).name}:{VOLUMES}/{volume}"

    def shut_down(self) -> bool:
        """Removes every container, network and volume of the stack, whatever state they are in."""
        with docker_errors("list volumes"):
            volumes = self.client.volumes.list(filters=self._filter())
        # What uses the others goes first.
        found: list[DockerObject] = [*self._labelled(), *self._networks(), *volumes]
        for thing in found:
            with docker_errors(f"remove {thing.name}"):
                self._remove(thing)
        return bool(found)

    def _remove(self, thing: DockerObject) -> None:
        if isinstance(thing, Container):
            thing.remove(force=True, v=True)
        else:
            thing.remove()

    def _all(self) -> list[Container]:
        return self._labelled(PART_LABEL)

    def _find(self, name: str) -> Container | None:
        return next(iter(self._labelled(f"{PART_LABEL}={name}")), None)

    def _known(self, name: str) -> Container:
        found = self._find(name)
        if found is None:
            raise unknown_program(name, self.states())
        return found

    def _labelled(self, *more: str) -> list[Container]:
        with docker_errors("list containers"):
            # One that goes while it is looked at is left out.
            return self.client.containers.list(all=True, filters=self._filter(*more), ignore_removed=True)

    def _networks(self) -> list[Network]:
        with docker_errors("list networks"):
            return self.client.networks.list(filters=self._filter())

    def _filter(self, *more: str) -> dict[str, str | list[str] | bool]:
        """What is this stack's, and this checkout's: another one may have a stack of the same name."""
        return {"label": [*(f"{name}={value}" for name, value in labels(self.stack).items()), *more]}

    def _clock(self) -> float:
        """The daemon's time, which may not be this machine's."""
        with docker_errors("tell the time"):
            return unix_time(self.client.info()["SystemTime"])

    def _log_to_end(self, container: Container, **options: Any) -> Iterator[tuple[str, str]]:  # noqa: ANN401
        """Lines as they are printed, until the container ends. What follows the log may end before the log does."""
        latest = ""
        for stamp, line in self._log(container, follow=True, **options):
            latest = max(latest, stamp)  # two streams are not always in one order
            yield stamp, line
        rest = {"since": unix_time(latest)} if latest else options
        for stamp, line in self._log(container, **rest):
            if stamp > latest:
                yield stamp, line

    def _log(self, container: Container, follow: bool = False, **options: Any) -> Iterator[tuple[str, str]]:  # noqa: ANN401
        """Lines of a log with the time of each, in the daemon's spelling, which sorts as text."""
        with (
            docker_errors(f"show the log of {container.name}"),
            closed(container.logs(stream=True, follow=follow, timestamps=True, **options)) as chunks,
        ):
            for line in lines_of(chunks):
                stamp, _, text = line.partition(" ")
                yield stamp, text


@contextmanager
def _until_removed() -> Iterator[None]:
    """Leaves off where a container is removed meanwhile: nothing more is to come from it."""
    try:
        yield
    except ServiceError as error:
        if not isinstance(error.__cause__, APIError) or error.__cause__.status_code not in _REMOVED_CODES:
            raise


def lines_of(chunks: Iterator[bytes]) -> Iterator[str]:
    """The lines of a stream that comes in pieces of any length."""
    rest = b""
    for chunk in chunks:
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            yield line.decode("utf-8", "replace").rstrip("\r")
    if rest:
        yield rest.decode("utf-8", "replace")
