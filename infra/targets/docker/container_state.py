# SPDX-License-Identifier: Apache-2.0
"""Mapping of the daemon's reports about a container (`docker inspect`, `docker stats`) to `State` and MiB."""

import signal
from collections.abc import Mapping
from typing import Any

from infra.targets.labels import PART_LABEL, ROLE_LABEL, SERVICE_ROLE
from infra.targets.runtime import State, unix_time

_ON_FAILURE = "on-failure"
"""Restart policy of services that may exit with status 0."""

_SIGNAL_STATUS_OFFSET = 128
"""A process that was ended by a signal, as by `docker stop`, has this exit status plus the signal's number."""

SIGKILL_STATUS = _SIGNAL_STATUS_OFFSET + signal.SIGKILL

_STATUSES = {"paused": "PAUSED", "restarting": "BACKOFF", "removing": "STOPPING", "dead": "FATAL"}


def parse_state(attributes: Mapping[str, Any]) -> State:
    """Return the state of a container from the output of `docker inspect`."""
    state = attributes["State"]
    status = _status(attributes)
    return State(
        name=part_name(attributes),
        status=status,
        pid=state["Pid"],
        started=max(0, int(unix_time(state["StartedAt"]))),
        exit_status=state["ExitCode"],
        explanation=_explanation(attributes, status),
    )


def _status(attributes: Mapping[str, Any]) -> str:
    state = attributes["State"]
    match state["Status"]:
        case "created":
            return "FATAL" if state["Error"] else "STOPPED"
        case "running":
            health = state.get("Health") or {"Status": "none"}
            return {"starting": "STARTING", "unhealthy": "UNHEALTHY"}.get(health["Status"], "RUNNING")
        case "exited":
            return _exited_status(attributes)
        case status:
            return _STATUSES.get(status, "UNKNOWN")


def _exited_status(attributes: Mapping[str, Any]) -> str:
    """Return the status of an exited container.

    The daemon does not report whether the user stopped it, so that this is derived from the exit status.
    """
    state = attributes["State"]
    if state["Error"] or state["OOMKilled"]:
        return "FATAL"
    if not is_service(attributes):
        return "FATAL" if state["ExitCode"] == SIGKILL_STATUS else "EXITED"
    if state["ExitCode"] == 0:
        return "EXITED" if attributes["HostConfig"]["RestartPolicy"]["Name"] == _ON_FAILURE else "STOPPED"
    return "STOPPED" if state["ExitCode"] > _SIGNAL_STATUS_OFFSET else "FATAL"


def _explanation(attributes: Mapping[str, Any], status: str) -> str:
    state = attributes["State"]
    if status in {"RUNNING", "STARTING"}:
        return ""
    if state["OOMKilled"]:
        return f"out of memory (its limit is {attributes['HostConfig']['Memory'] // 2**20} MiB)"
    if status == "UNHEALTHY":
        checks = state["Health"].get("Log") or [{}]
        return " ".join(str(checks[-1].get("Output", "")).split())[:200]
    if state["Error"]:
        return str(state["Error"])
    if state["ExitCode"] == SIGKILL_STATUS and not is_service(attributes):
        return killed_by(attributes["HostConfig"]["Memory"] // 2**20)
    return f"exit status {state['ExitCode']}" if status in {"BACKOFF", "FATAL"} else ""


def killed_by(memory_mib: int) -> str:
    """Explain a SIGKILL that the daemon does not attribute, given the container's memory limit in MiB.

    Reports of the kernel's OOM killer reach the daemon asynchronously: one that arrives after the exit is lost.
    """
    return f"killed by a user, or out of memory (its limit is {memory_mib} MiB)"


def is_service(attributes: Mapping[str, Any]) -> bool:
    """Return True for the container of a service, False for that of a task."""
    return bool(attributes["Config"]["Labels"][ROLE_LABEL] == SERVICE_ROLE)


def part_name(attributes: Mapping[str, Any]) -> str:
    """Return the name of the service or task that a container runs."""
    return str(attributes["Config"]["Labels"][PART_LABEL])


def used_memory_mib(memory_stats: Mapping[str, Any]) -> float:
    """Return a container's memory without reclaimable page cache, whose key differs between cgroups v1 and v2."""
    details = memory_stats.get("stats", {})
    reclaimable = details.get("total_inactive_file", details.get("inactive_file", 0))
    return max(0, int(memory_stats.get("usage", 0)) - int(reclaimable)) / 2**20
