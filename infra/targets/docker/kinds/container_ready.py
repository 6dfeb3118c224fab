# SPDX-License-Identifier: Apache-2.0
"""`labkit:index:ContainerReady`: readiness of a service's container; dependants of the service depend on it."""

from typing import Any

from docker import DockerClient
from docker.errors import APIError
from docker.models.containers import Container

from infra.errors import LabError, ServiceError
from infra.provider.kind import Kind, OperationContext, ReadResult
from infra.targets.docker.container_state import SIGKILL_STATUS, killed_by
from infra.targets.docker.engine import docker_errors, find_container, log_tail, shared_client
from infra.targets.docker.kind_inputs import ContainerReadyInputs

RECOVERY_TIMEOUT_SECONDS = 15
"""Time limit of a refresh for the daemon to restart a container before it counts as missing."""

INSPECTION_INTERVAL_SECONDS = 0.5
"""Interval of requests to the daemon."""

MIN_RUNNING_INSPECTIONS = 2
"""Inspections after the first one at which a container without a probe must run to count as ready."""

UNHEALTHY_GRACE_SECONDS = 5
"""Time limit for an unhealthy container to pass its probe before it is restarted."""

SECOND_EXIT_SECONDS = 10
"""Time limit for a restarted container to exit again, which yields its exit status."""

PROBE_TIMEOUT_SECONDS = 10
"""Time limit of one run of a probe. A service that is starting may accept a connection and never respond on it."""

RETRY_SCRIPT = f'until timeout {PROBE_TIMEOUT_SECONDS} "$@" 2>/dev/null; do sleep 0.3; done'
"""Shell loop that runs a probe until it succeeds."""


class _NotReadyInTime(ServiceError):
    """A container runs, and was not ready within the time limit."""


class ContainerReadyKind(Kind[ContainerReadyInputs]):
    """Waits until a container is ready; the vendor's container resource creates, starts and removes it.

    Runs the probe itself: Docker runs it twice a minute, and a shorter interval would cost CPU as long as the lab runs.
    """

    name = "ContainerReady"
    inputs = ContainerReadyInputs

    def create(self, inputs: ContainerReadyInputs, call: OperationContext) -> dict[str, Any]:
        """Start a stopped container, restart an unhealthy one, and wait until it is ready.

        One that is not ready in time is restarted once.
        """
        client = shared_client()
        container = _require_container(client, inputs)
        with docker_errors(f"start {inputs.service}"):
            if not _is_running(container):
                container.start()
            elif _stays_unhealthy(client, container, inputs, call):
                container.restart(timeout=inputs.stop_seconds)
        call.report(f"waiting until ready; log: docker logs {container.name}")
        try:
            _await_ready_or_restart(client, container, inputs, call)
        except ServiceError:
            if failed := find_container(client, inputs.container):
                with docker_errors(f"stop {inputs.service}"):
                    failed.stop(timeout=inputs.stop_seconds)  # ends the restart loop
            raise
        return {}

    def read(self, inputs: ContainerReadyInputs, call: OperationContext) -> ReadResult[ContainerReadyInputs] | None:
        """Return the inputs if the container is ready.

        Runs no probe if Docker's last health check has succeeded, to start no process for each of twenty services.
        """
        client = shared_client()
        probe = _ProbeProcess(client, inputs, RECOVERY_TIMEOUT_SECONDS)
        for _ in call.poll(RECOVERY_TIMEOUT_SECONDS, INSPECTION_INTERVAL_SECONDS):
            with docker_errors(f"inspect {inputs.service}"):
                container = find_container(client, inputs.container)
            if container is None or _is_stopped(container):
                return None
            if _is_running(container) and (_passed_last_check(container) or probe.succeeded()):
                return ReadResult(inputs)
        return None

    def update(self, old: ContainerReadyInputs, new: ContainerReadyInputs, call: OperationContext) -> dict[str, Any]:
        return self.create(new, call)

    def delete(self, inputs: ContainerReadyInputs, call: OperationContext) -> None:
        """Do nothing: the vendor's container resource is deleted after this one."""


def _require_container(client: DockerClient, inputs: ContainerReadyInputs) -> Container:
    with docker_errors(f"inspect {inputs.service}"):
        container = find_container(client, inputs.container)
    if container is None or container.attrs["State"]["Dead"] or container.status == "removing":
        raise ServiceError(f"the container of {inputs.service} was removed during its start; repeat bin/lab up")
    return container


def _is_running(container: Container) -> bool:
    state = container.attrs["State"]
    return bool(state["Running"]) and not state["Restarting"]


def _passed_last_check(container: Container) -> bool:
    """Return whether Docker's last health check since the start, at most 50 s ago, has succeeded."""
    health = container.attrs["State"].get("Health") or {}
    return health.get("Status") == "healthy" and health["Log"][-1]["ExitCode"] == 0


def _stays_unhealthy(
    client: DockerClient, container: Container, inputs: ContainerReadyInputs, call: OperationContext
) -> bool:
    """Return whether Docker reports the container as unhealthy and its probe fails for `UNHEALTHY_GRACE_SECONDS`."""
    if (container.attrs["State"].get("Health") or {}).get("Status") != "unhealthy":
        return False
    probe = _ProbeProcess(client, inputs, UNHEALTHY_GRACE_SECONDS)
    return not any(probe.succeeded() for _ in call.poll(UNHEALTHY_GRACE_SECONDS, INSPECTION_INTERVAL_SECONDS))


def _is_stopped(container: Container) -> bool:
    """Return whether Docker will not start the container by itself."""
    return container.attrs["State"]["Status"] in {"exited", "dead", "created", "paused"}


class _ProbeProcess:
    """Process in the container that repeats the probe until it succeeds, for at most `seconds`.

    One process for all attempts: an `exec` for each would cost the daemon ten times as much CPU.
    """

    def __init__(self, client: DockerClient, inputs: ContainerReadyInputs, seconds: int) -> None:
        self._client = client
        self._container = inputs.container
        retry = ["timeout", str(seconds), "/bin/sh", "-c", RETRY_SCRIPT, "sh"]
        self._command = [*retry, *inputs.probe] if inputs.probe else []
        self._exec_id = ""

    def succeeded(self) -> bool:
        """Return whether the probe has succeeded, starting the process if it does not run."""
        if not self._command:
            return True
        try:
            self._exec_id = self._exec_id or self._start()
            status = self._client.api.exec_inspect(self._exec_id)["ExitCode"]
        except APIError:  # the container has exited, which the caller detects
            status = SIGKILL_STATUS
        if status not in {None, 0}:
            self._exec_id = ""
        return bool(status == 0)

    def _start(self) -> str:
        exec_id = str(self._client.api.exec_create(self._container, self._command, stdout=False, stderr=False)["Id"])
        self._client.api.exec_start(exec_id, detach=True)
        return exec_id


def _await_ready_or_restart(
    client: DockerClient, container: Container, inputs: ContainerReadyInputs, call: OperationContext
) -> None:
    """Wait until a container is ready; restart it once, as a start can hang: Connect's did after one of the daemon."""
    try:
        _await_ready(client, container, inputs, call)
    except _NotReadyInTime:
        call.report(f"not ready after {inputs.seconds} s: restarted; log: docker logs {container.name}")
        with docker_errors(f"restart {inputs.service}"):
            container.restart(timeout=inputs.stop_seconds)
        _await_ready(client, _require_container(client, inputs), inputs, call)


def _await_ready(
    client: DockerClient, container: Container, inputs: ContainerReadyInputs, call: OperationContext
) -> None:
    """Wait until a container is ready.

    Raises:
        _NotReadyInTime: it runs, and was not ready in time.
        ServiceError: it exited; with the exit status and the end of the log.
    """
    restarts = int(container.attrs["RestartCount"])
    probe = _ProbeProcess(client, inputs, inputs.seconds)
    for turn, _ in enumerate(call.poll(inputs.seconds, INSPECTION_INTERVAL_SECONDS)):
        container = _require_container(client, inputs)
        if not _is_running(container) or int(container.attrs["RestartCount"]) > restarts:
            state = _exit_state(client, inputs, call)
            if inputs.may_exit and state["Status"] == "exited" and state["ExitCode"] == 0:
                return
            raise _start_error(container, inputs, f"ended while it was starting{_exit_reason(state, inputs)}")
        if probe.succeeded() and (inputs.probe or turn >= MIN_RUNNING_INSPECTIONS):
            return
    condition = " ".join(inputs.probe) or "running"
    raise _NotReadyInTime(str(_start_error(container, inputs, f"was not ready ({condition}) after {inputs.seconds} s")))


def _exit_state(client: DockerClient, inputs: ContainerReadyInputs, call: OperationContext) -> dict[str, Any]:
    """Return the state of an exited container; if it was restarted, wait for its next exit, as its state was reset."""
    for _ in call.poll(SECOND_EXIT_SECONDS, INSPECTION_INTERVAL_SECONDS):
        container = _require_container(client, inputs)
        if not _is_running(container):
            break
    state: dict[str, Any] = container.attrs["State"]
    return state


def _exit_reason(state: dict[str, Any], inputs: ContainerReadyInputs) -> str:
    if state["Status"] == "running":
        return ", and was restarted"
    if state["OOMKilled"]:
        return (
            f": it exceeded its memory limit, {inputs.memory_mib} MiB. Reduce its heap (lineage-lab:*HeapMib; "
            "`bin/lab doctor --settings` lists them)"
        )
    status = f" with exit status {state['ExitCode']}"
    reason = f", {state['Error']}" if state.get("Error") else ""
    killed = f", {killed_by(inputs.memory_mib)}" if state["ExitCode"] == SIGKILL_STATUS else ""
    return status + reason + killed


def _start_error(container: Container, inputs: ContainerReadyInputs, failure: str) -> LabError:
    with docker_errors(f"read the log of {inputs.service}"):
        log = log_tail(container)
    return ServiceError(f"{inputs.service} {failure}. The end of its log (docker logs {container.name}):\n{log}")
