# SPDX-License-Identifier: Apache-2.0
"""Running the lab's tasks: start, wait, tell how it went."""

import time
from collections.abc import Callable

from infra.errors import LabError, ServiceError
from infra.targets.runtime import Runtime


def run_task(runtime: Runtime, name: str, show: Callable[[str], None] | None = None) -> float:
    """Runs a task to its end and returns the seconds it took. Ctrl-C stops the task.

    `show` gets each line that the task prints while it runs.

    Raises:
        LabError: there is no such task, or it is running already.
        ServiceError: it failed; the text has its exit status and the end of its log.
    """
    before = runtime.require_state(name)
    if before.alive:
        raise LabError(f"{name} is running already (pid {before.pid})")
    started = time.monotonic()
    try:
        state = runtime.run_to_end(name, show)
    except KeyboardInterrupt:
        runtime.stop(name)
        raise
    if state is None:
        raise ServiceError(f"{name} failed: it was removed while it ran. `lab up` makes it anew")
    if state.status != "EXITED" or state.exit_status != 0:
        reason = f", {state.explanation}" if state.status == "FATAL" else ""
        raise ServiceError(
            f"{name} failed (exit status {state.exit_status}{reason}). "
            f"The end of its log, {runtime.log_location(name)}:\n{runtime.log_tail(name)}"
        )
    return time.monotonic() - started
