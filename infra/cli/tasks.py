# SPDX-License-Identifier: Apache-2.0
"""Execution of the lab's tasks."""

import time
from collections.abc import Callable, Mapping

from infra.errors import LabError, ServiceError
from infra.targets.runtime import Runtime


def run_task(
    runtime: Runtime,
    name: str,
    show: Callable[[str], None] | None = None,
    variables: Mapping[str, str] | None = None,
) -> float:
    """Run a task to completion and return its duration in seconds; Ctrl-C stops the task.

    `show` receives each line that the task prints, `variables` are environment variables of this run alone.

    Raises:
        LabError: the task does not exist, or is already running.
        ServiceError: the task failed; the message has its exit status and the end of its log.
    """
    previous = runtime.require_state(name)
    if previous.alive:
        raise LabError(f"{name} is already running" + (f" (pid {previous.pid})" if previous.pid else ""))
    started = time.monotonic()
    try:
        state = runtime.run_to_end(name, show, variables)
    except KeyboardInterrupt:
        runtime.stop(name)
        raise
    if state is None:
        raise ServiceError(f"{name} failed: it was removed while it ran; `bin/lab up` creates it again")
    if state.status != "EXITED" or state.exit_status != 0:
        reason = f", {state.explanation}" if state.status == "FATAL" else ""
        raise ServiceError(
            f"{name} failed (exit status {state.exit_status}{reason}). "
            f"Last lines of its log, {runtime.log_location(name)}:\n{runtime.log_tail(name)}"
        )
    return time.monotonic() - started
