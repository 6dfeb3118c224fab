# SPDX-License-Identifier: Apache-2.0
"""Processes that a killed process of Airflow has left: workers of a scheduler keep waiting, and their tasks go on."""

import os

import psutil

from infra.targets.local.process_end import end_processes

COMMAND = "LAB_AIRFLOW_COMMAND"
"""Environment variable of all processes of one command, such as `scheduler`."""

GRACE_SECONDS = 30
"""Time in which a task stops its program."""


def end_orphans(home: str, command: str) -> list[int]:
    """End the processes of earlier runs of a command, and return their ids.

    They get SIGTERM, on which a task stops its program and reports a failure, and after `GRACE_SECONDS` SIGKILL.

    Args:
        home: Airflow's folder (`AIRFLOW_HOME`), which no other lab has.
        command: value of `COMMAND`.
    """
    orphans = [process for process in psutil.process_iter(["environ"]) if _is_orphan(process, home, command)]
    end_processes(orphans, GRACE_SECONDS)
    return [process.pid for process in orphans]


def _is_orphan(process: psutil.Process, home: str, command: str) -> bool:
    """Return True for a process of the command in another process group: each run of a service has its own."""
    found = process.info["environ"] or {}
    if found.get("AIRFLOW_HOME") != home or found.get(COMMAND) != command:
        return False
    try:
        return os.getpgid(process.pid) != os.getpgrp()
    except ProcessLookupError:
        return False
