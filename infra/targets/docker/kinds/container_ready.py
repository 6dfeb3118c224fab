# SPDX-License-Identifier: Apache-2.0
"""`labkit:index:ContainerReady`: a service's container runs and answers. What needs the service waits for this."""

from collections.abc import Iterator
from typing import Any

from docker import DockerClient
from docker.errors import APIError
from docker.models.containers import Container

from infra.errors import LabError, ServiceError
from infra.provider.kind import Call, Kind, ReadResult
from infra.targets.docker.engine import docker_errors, find, log_tail, shared_client
from infra.targets.docker.kind_inputs import ContainerReadyInputs

RECOVERY_TIMEOUT_SECONDS = 15
"""Time limit of a refresh for the daemon to restart a container before it counts as missing."""

POLLS_PER_INSPECTION = 5
"""The daemon is polled twice a second, an interrupt ten times a second."""

MIN_RUNNING_POLLS = 10
"""Polls (ten a second) that a container without a probe must run to count as ready."""

UNHEALTHY_GRACE_SECONDS = 5
"""Time limit for an unhealthy container to pass its probe before it is restarted."""

SECOND_EXIT_SECONDS = 10
"""Time limit for a restarted container to exit again, which yields its exit status."""

KILLED = 137
"""The exit status of what was ended by SIGKILL."""

UNTIL = 'until "$@" 2>/dev/null; do sleep 0.3; done'
"""Shell loop that runs a probe until it succeeds."""


class ContainerReadyKind(Kind[ContainerReadyInputs]):
    """The container is made, started and removed by Docker's own resource; here it is waited for and judged.

    The probe is run here rather than waited for: Docker runs it twice a minute, and to do so more often would cost
    processor time for as long as the lab runs.
    """

    name = "ContainerReady"
    inputs = ContainerReadyInputs

    def create(self, inputs: ContainerReadyInputs, call: Call) -> dict[str, Any]:
        """Starts it where it does not run, and starts it anew where it runs and does not answer."""
        client = shared_client()
        container = _inspect(client, inputs)
        with docker_errors(f"start {inputs.service}"):
            if not _running(container):
                container.start()
            elif _still_unhealthy(client, container, inputs, call):
                container.restart(timeout=inputs.stop_seconds)
        call.report(f"waiting until it is ready; its log: docker logs {container.name}")
        try:
            _await_ready(client, container, inputs, call)
        except ServiceError:
            if left := find(client, inputs.container):
                with docker_errors(f"stop {inputs.service}"):
                    left.stop(timeout=inputs.stop_seconds)  # else it would be started again and again
            raise
        return {}

    def read(self, inputs: ContainerReadyInputs, call: Call) -> ReadResult[ContainerReadyInputs] | None:
        """What Docker's last check has found well is not asked again: twenty services would start a process each."""
        client = shared_client()
        probing = _Probing(client, inputs, RECOVERY_TIMEOUT_SECONDS)
        for _ in _inspections(call, RECOVERY_TIMEOUT_SECONDS):
            with docker_errors(f"look at {inputs.service}"):
                container = find(client, inputs.container)
            if container is None or _stopped_for_good(container):
                return None
            if _running(container) and (_healthy(container) or probing.succeeded()):
                return ReadResult(inputs)
        return None

    def update(self, old: ContainerReadyInputs, new: ContainerReadyInputs, call: Call) -> dict[str, Any]:
        return self.create(new, call)

    def delete(self, inputs: ContainerReadyInputs, call: Call) -> None:
        """Do nothing: the container is a resource of its own, deleted after this one."""


def _inspections(call: Call, seconds: float) -> Iterator[int]:
    """Those turns of `Call.poll` at which to ask the daemon."""
    return (turn for turn, _ in enumerate(call.poll(seconds)) if turn % POLLS_PER_INSPECTION == 0)


def _inspect(client: DockerClient, inputs: ContainerReadyInputs) -> Container:
    with docker_errors(f"look at {inputs.service}"):
        container = find(client, inputs.container)
    if container is None or container.attrs["State"]["Dead"] or container.status == "removing":
        raise ServiceError(
            f"the container of {inputs.service} was removed while it was starting; do it again: bin/lab up"
        )
    return container


def _running(container: Container) -> bool:
    state = container.attrs["State"]
    return bool(state["Running"]) and not state["Restarting"]


def _healthy(container: Container) -> bool:
    """Docker's last check of it, which is no older than 50 s, has succeeded. It forgets them at a start."""
    health = container.attrs["State"].get("Health") or {}
    return health.get("Status") == "healthy" and health["Log"][-1]["ExitCode"] == 0


def _still_unhealthy(client: DockerClient, container: Container, inputs: ContainerReadyInputs, call: Call) -> bool:
    """Docker has found that it does not answer, and that is still so. While it starts, it may take its time."""
    if (container.attrs["State"].get("Health") or {}).get("Status") != "unhealthy":
        return False
    probing = _Probing(client, inputs, UNHEALTHY_GRACE_SECONDS)
    return not any(probing.succeeded() for _ in _inspections(call, UNHEALTHY_GRACE_SECONDS))


def _stopped_for_good(container: Container) -> bool:
    """It ended, and nobody starts it again."""
    return container.attrs["State"]["Status"] in {"exited", "dead", "created", "paused"}


class _Probing:
    """A container that asks itself, again and again, whether it is ready, for at most `seconds`.

    It is one process there; to have the daemon run the probe each time would cost it ten times as much.
    """

    def __init__(self, client: DockerClient, inputs: ContainerReadyInputs, seconds: int) -> None:
        self._client = client
        self._container = inputs.container
        self._words = ["timeout", str(seconds), "/bin/sh", "-c", UNTIL, "sh", *inputs.probe] if inputs.probe else []
        self._process = ""

    def succeeded(self) -> bool:
        """Whether it has. Where the container ended meanwhile, that is for another look to find out."""
        if not self._words:
            return True
        try:
            self._process = self._process or self._begin()
            status = self._client.api.exec_inspect(self._process)["ExitCode"]
        except APIError:
            status = KILLED
        if status not in {None, 0}:
            self._process = ""
        return bool(status == 0)

    def _begin(self) -> str:
        begun = str(self._client.api.exec_create(self._container, self._words, stdout=False, stderr=False)["Id"])
        self._client.api.exec_start(begun, detach=True)
        return begun


def _await_ready(client: DockerClient, container: Container, inputs: ContainerReadyInputs, call: Call) -> None:
    """Waits until it is ready; one that ends meanwhile has failed, whatever the reason.

    Raises:
        ServiceError: with the exit status and the end of the log.
    """
    restarts = int(container.attrs["RestartCount"])
    probing = _Probing(client, inputs, inputs.seconds)
    for turn in _inspections(call, inputs.seconds):
        container = _inspect(client, inputs)
        if not _running(container) or int(container.attrs["RestartCount"]) > restarts:
            state = _exit_state(client, inputs, call)
            if inputs.may_exit and state["Status"] == "exited" and state["ExitCode"] == 0:
                return
            raise _failure(container, inputs, f"ended while it was starting{_exit_reason(state, inputs)}")
        if probing.succeeded() and (inputs.probe or turn >= MIN_RUNNING_POLLS):
            return
    wanted = " ".join(inputs.probe) or "running"
    raise _failure(container, inputs, f"was not ready ({wanted}) after {inputs.seconds} s")


def _exit_state(client: DockerClient, inputs: ContainerReadyInputs, call: Call) -> dict[str, Any]:
    """The state that a container ended in. One that was started again has forgotten it, until it ends again."""
    for _ in _inspections(call, SECOND_EXIT_SECONDS):
        container = _inspect(client, inputs)
        if not _running(container):
            break
    state: dict[str, Any] = container.attrs["State"]
    return state


def _exit_reason(state: dict[str, Any], inputs: ContainerReadyInputs) -> str:
    if state["Status"] == "running":
        return ", and was started again"
    if state["OOMKilled"]:
        return (
            f": it wanted more memory than its limit, {inputs.memory_mib} MiB. A smaller heap fits "
            "(lineage-lab:*HeapMib; `bin/lab doctor --settings` lists them)"
        )
    status = f" with exit status {state['ExitCode']}"
    reason = f", {state['Error']}" if state.get("Error") else ""
    killed = " (killed from outside: by hand, or the machine ran out of memory)"
    return status + reason + (killed if state["ExitCode"] == KILLED else "")


def _failure(container: Container, inputs: ContainerReadyInputs, what: str) -> LabError:
    with docker_errors(f"show the log of {inputs.service}"):
        log = log_tail(container)
    return ServiceError(f"{inputs.service} {what}. The end of its log (docker logs {container.name}):\n{log}")
