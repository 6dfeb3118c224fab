# SPDX-License-Identifier: Apache-2.0
"""What the Docker daemon says of a container (`docker inspect`, `docker stats`), in the words of a `Runtime`."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from infra.targets.docker.names import PART_LABEL, ROLE_LABEL, SERVICE_ROLE
from infra.targets.runtime import State

_ON_FAILURE = "on-failure"
"""The policy of services that are left alone when they ended well."""

_SIGNALS = 128
"""What ended by a signal, as `docker stop` sends it, has an exit status above this."""

_STATUSES = {"paused": "PAUSED", "restarting": "BACKOFF", "removing": "STOPPING", "dead": "FATAL"}


def state_of(attributes: Mapping[str, Any]) -> State:
    """A container's state in the words of a `Runtime`, from what the daemon says of it (`docker inspect`)."""
    state = attributes["State"]
    word = _status(attributes)
    return State(
        name=name_of(attributes),
        status=word,
        pid=state["Pid"],
        started=max(0, int(unix_time(state["StartedAt"]))),
        exit_status=state["ExitCode"],
        explanation=_explanation(attributes, word),
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
    """How it ended. The daemon does not tell whether somebody stopped it: its exit status has to."""
    state = attributes["State"]
    if state["Error"] or state["OOMKilled"]:
        return "FATAL"
    if not is_service(attributes):
        return "EXITED"
    if state["ExitCode"] == 0:
        return "EXITED" if attributes["HostConfig"]["RestartPolicy"]["Name"] == _ON_FAILURE else "STOPPED"
    return "STOPPED" if state["ExitCode"] > _SIGNALS else "FATAL"


def _explanation(attributes: Mapping[str, Any], word: str) -> str:
    state = attributes["State"]
    if word in {"RUNNING", "STARTING"}:
        return ""
    if state["OOMKilled"]:
        return f"out of memory (its limit is {attributes['HostConfig']['Memory'] // 2**20} MiB)"
    if word == "UNHEALTHY":
        checks = state["Health"].get("Log") or [{}]
        return " ".join(str(checks[-1].get("Output", "")).split())[:200]
    if state["Error"]:
        return str(state["Error"])
    return f"exit status {state['ExitCode']}" if word in {"BACKOFF", "FATAL"} else ""


def is_service(attributes: Mapping[str, Any]) -> bool:
    return bool(attributes["Config"]["Labels"][ROLE_LABEL] == SERVICE_ROLE)


def name_of(attributes: Mapping[str, Any]) -> str:
    return str(attributes["Config"]["Labels"][PART_LABEL])


def unix_time(text: str) -> float:
    """Seconds since 1970 of a time in the daemon's spelling."""
    return datetime.fromisoformat(text).timestamp()


def memory_mib(figures: Mapping[str, Any]) -> float:
    """What a container takes, from the daemon's figures of it; they differ between the versions of cgroups."""
    details = figures.get("stats", {})
    droppable = details.get("total_inactive_file", details.get("inactive_file", 0))
    return max(0, int(figures.get("usage", 0)) - int(droppable)) / 2**20
