# SPDX-License-Identifier: Apache-2.0
"""`labkit:index:Process`: a service or a task under the stack's supervisord."""

import shutil
from pathlib import Path
from typing import Any

import httpx

from infra.errors import LabError, PreflightError, ServiceError
from infra.http_client import client_for
from infra.provider.connections import accepts_connections
from infra.provider.kind import Kind, OperationContext, ReadResult
from infra.provider.preflight import busy_ports
from infra.targets.local.inputs import ProbeInputs, ProcessInputs
from infra.targets.local.log_files import log_tail, rotate
from infra.targets.local.supervisor import Supervisor
from infra.targets.local.supervisor_config import Program
from infra.targets.runtime import State

RECOVERY_TIMEOUT_SECONDS = 15
"""Time limit of a refresh for supervisord to restart a program before it counts as missing."""

UNPROBED_SECONDS = 60
"""Time limit for a program without a probe to run for 1 s."""


class ProcessKind(Kind[ProcessInputs]):
    """Processes; `create` waits until the process is ready. A missing or permanently stopped one is created again."""

    name = "Process"
    inputs = ProcessInputs
    replace_on = frozenset({"root", "program"})

    def create(self, inputs: ProcessInputs, call: OperationContext) -> dict[str, Any]:
        supervisor = Supervisor(Path(inputs.root))
        log = supervisor.log_path(inputs.program)
        supervisor.remove(inputs.program)
        if busy := busy_ports(inputs.ports):
            # The other process would answer the readiness probe.
            raise PreflightError(f"{inputs.program} cannot start: " + "; ".join(busy))
        self._write_files(inputs)
        rotate(log)
        try:
            supervisor.add(
                Program(
                    name=inputs.program,
                    is_service=inputs.is_service,
                    stop_seconds=inputs.stop_seconds,
                    stop_signal=inputs.stop_signal,
                    restart=inputs.restart,
                )
            )
            if inputs.is_service:
                call.report(f"waiting until ready; log: {log}")
                self._await_ready(inputs, supervisor, call)
        except BaseException:
            supervisor.remove(inputs.program)
            raise
        return {"log": str(log)}

    def read(self, inputs: ProcessInputs, call: OperationContext) -> ReadResult[ProcessInputs] | None:
        supervisor = Supervisor(Path(inputs.root))
        if supervisor.pid() is None:
            return None
        found = ReadResult(inputs, {"log": str(supervisor.log_path(inputs.program))})
        for _ in call.poll(RECOVERY_TIMEOUT_SECONDS):
            state = supervisor.state(inputs.program)
            if state is None or state.status in {"STOPPED", "FATAL"}:
                return found if state and not inputs.is_service else None
            if (
                state.status == "EXITED"
                and state.exit_status == 0
                and inputs.is_service
                and inputs.restart == "on_failure"
            ):
                return None
            if not inputs.is_service or (state.running and _is_ready(inputs.probe)):
                return found
        return None

    def update(self, old: ProcessInputs, new: ProcessInputs, call: OperationContext) -> dict[str, Any]:
        return self.create(new, call)

    def delete(self, inputs: ProcessInputs, call: OperationContext) -> None:
        supervisor = Supervisor(Path(inputs.root))
        if supervisor.pid() is not None:
            supervisor.remove(inputs.program)

    def _write_files(self, inputs: ProcessInputs) -> None:
        """Write script and files, replacing those of an earlier version; volumes are kept."""
        folder = Path(inputs.root) / "services" / inputs.program
        for name in ("files", "scratch"):
            shutil.rmtree(folder / name, ignore_errors=True)
            (folder / name).mkdir(parents=True)
        for name, text in inputs.files.items():
            path = folder / "files" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        for name in inputs.volumes:
            (folder / "volumes" / name).mkdir(parents=True, exist_ok=True)
        script = folder / "run"
        script.write_text(inputs.script, encoding="utf-8")
        script.chmod(0o700)

    def _await_ready(self, inputs: ProcessInputs, supervisor: Supervisor, call: OperationContext) -> None:
        """Wait until the program is ready; one that exits meanwhile has failed."""
        first_pid = 0
        timeout = inputs.probe.seconds if inputs.probe else UNPROBED_SECONDS
        for _ in call.poll(timeout):
            state = supervisor.state(inputs.program)
            if state is None or _has_failed(state, first_pid):
                raise self._failure(inputs, supervisor, "ended while it was starting")
            first_pid = first_pid or state.pid
            if state.running and _is_ready(inputs.probe):
                return
        condition = f"{inputs.probe.host}:{inputs.probe.port}{inputs.probe.path}" if inputs.probe else "running"
        raise self._failure(inputs, supervisor, f"was not ready ({condition}) after {timeout} s")

    def _failure(self, inputs: ProcessInputs, supervisor: Supervisor, problem: str) -> LabError:
        log = supervisor.log_path(inputs.program)
        return ServiceError(f"{inputs.program} {problem}. The end of its log, {log}:\n{log_tail(log)}")


def _has_failed(state: State, first_pid: int) -> bool:
    return state.ended or (first_pid != 0 and state.pid not in {0, first_pid})


def _is_ready(probe: ProbeInputs | None) -> bool:
    if probe is None:
        return True
    try:
        if probe.path:
            scheme = "https" if probe.authority else "http"
            url = f"{scheme}://{probe.host}:{probe.port}{probe.path}"
            answer = client_for(url, probe.authority).get(url, timeout=5)
            return answer.is_success
    except (OSError, httpx.HTTPError):
        return False  # not yet
    return accepts_connections(probe.host, probe.port)
