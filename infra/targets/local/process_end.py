# SPDX-License-Identifier: Apache-2.0
"""End of processes that are not children of this one."""

from collections.abc import Sequence
from contextlib import suppress

import psutil


def end_processes(processes: Sequence[psutil.Process], seconds: float) -> None:
    """Send SIGTERM, after `seconds` SIGKILL, and wait for the end of all."""
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            process.terminate()
    _, alive = psutil.wait_procs(processes, timeout=seconds)
    for process in alive:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    psutil.wait_procs(alive, timeout=5)
