# SPDX-License-Identifier: Apache-2.0
"""Stages of a pod's start: what a pod that is not ready waits for, and for how long it may. Pure functions."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from infra.targets.kubernetes.capacity import MIB, quantity
from infra.targets.kubernetes.names import WAITING_CONTAINER

UNSCHEDULABLE_SECONDS = 60
"""Time limit for a node with room; pods that are being stopped may still hold it."""

SCALE_UP_SECONDS = 600
"""Time limit for an autoscaler to add a node."""

PULL_SECONDS = 900
"""Time limit for an image to be pulled: half a gigabyte over a slow network."""

PULL_RETRY_SECONDS = 30
"""Time limit for a failed pull to succeed at a later attempt, as after a network error."""

CREATE_SECONDS = 90
"""Time limit for the volumes of a pod to be attached and its containers to be created."""

AWAIT_SECONDS = 90
"""Time limit for the init container that waits for other parts, which Pulumi has created before."""

FAILED_STARTS = 2
"""Exits of a program during its start that count as failure; it is restarted after the first."""

OUT_OF_MEMORY = "OOMKilled"

_SCALE_UP_REASONS = {"TriggeredScaleUp", "Nominated"}
"""Reasons of the events of the cluster autoscaler and of Karpenter."""

_FINAL_IMAGE_REASONS = {"ErrImageNeverPull", "InvalidImageName", "ErrImageInspect"}
_IMAGE_REASONS = {"ErrImagePull", "ImagePullBackOff", "RegistryUnavailable", *_FINAL_IMAGE_REASONS}
_NORMAL_REASONS = {"ContainerCreating", "PodInitializing"}
"""Reasons for which a container does not run: its image, and what every start passes through."""

_RETRIED_STAGES = {"image", "exit", "exits", "memory"}
"""Names of the stages of pods that the cluster starts again with growing delays."""

_MOUNT_REASONS = {"FailedMount", "FailedAttachVolume"}


@dataclass(frozen=True)
class Stage:
    """Stage of a pod's start.

    Attributes:
        name: identifies the stage; its time counts while the name stays the same.
        text: activity or problem, a phrase for messages.
        limit: time in seconds after which it counts as failure; None: the time limit of the service.
        container: container whose log explains it; empty for none.
        previous: whether the log is that of the container's run before the current one.
    """

    name: str
    text: str
    limit: int | None
    container: str = ""
    previous: bool = False


def pod_stage(
    pod: Mapping[str, Any], events: Iterable[Mapping[str, Any]] = (), restarts: int = 0, may_exit: bool = False
) -> Stage | None:
    """Return the stage of a pod; None if it is ready.

    Args:
        pod: the pod.
        events: its events.
        restarts: restarts of its containers that are not counted.
        may_exit: the program may exit with status 0.
    """
    events = list(events)
    if is_ready_pod(pod) or (may_exit and _has_completed(pod)):
        return None
    if not pod["spec"].get("nodeName"):
        return _scheduling_stage(pod, events)
    for status in _pending_statuses(pod):
        if stage := _container_stage(pod, status, events, restarts):
            return stage
    return Stage("starting", "is not ready", None, main_container(pod))


def is_failing(pod: Mapping[str, Any]) -> bool:
    """Return whether a pod failed, and the cluster waits before it tries it again, or tries it for the third time."""
    stage = pod_stage(pod)
    runs = any("running" in status["state"] for status in _pending_statuses(pod))
    return stage is not None and stage.name in _RETRIED_STAGES and (stage.name == "exits" or not runs)


def is_ready_pod(pod: Mapping[str, Any]) -> bool:
    """Return whether a pod's containers run and pass their readiness probes."""
    return condition(pod, "Ready").get("status") == "True"


def condition(item: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return a condition in an object's status; empty if it has none."""
    conditions: Iterable[Mapping[str, Any]] = item.get("status", {}).get("conditions") or ()
    return next((entry for entry in conditions if entry["type"] == name), {})


def main_container(pod: Mapping[str, Any]) -> str:
    """Return the name of the container that runs the program."""
    return str(pod["spec"]["containers"][0]["name"])


def container_statuses(pod: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the statuses of a pod's containers, its init containers first; empty before it has a node."""
    status = pod.get("status", {})
    return [*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())]


def restart_count(pod: Mapping[str, Any]) -> int:
    """Return how many times the containers of a pod were restarted."""
    return sum(status["restartCount"] for status in container_statuses(pod))


def last_exit(status: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return how a container ended the last time; empty if it has not ended yet."""
    return status.get("state", {}).get("terminated") or status.get("lastState", {}).get("terminated") or {}


def exit_text(ended: Mapping[str, Any], memory_limit: str = "") -> str:
    """Return how a container ended, for messages."""
    if ended.get("reason") == OUT_OF_MEMORY:
        limit = f", {quantity(memory_limit) / MIB:.0f} MiB" if memory_limit else ""
        return f"exceeded its memory limit{limit}"
    message = f", {' '.join(ended['message'].split())}" if ended.get("message") else ""
    signal = f" by signal {ended['signal']}" if ended.get("signal") else ""
    return f"ended with exit status {ended.get('exitCode')}{signal}{message}"


def memory_limit(pod: Mapping[str, Any], container: str) -> str:
    """Return the memory limit of a container as the API writes it; empty for none."""
    known: list[Mapping[str, Any]] = [*(pod["spec"].get("initContainers") or ()), *pod["spec"]["containers"]]
    found: Mapping[str, Any] = next((entry for entry in known if entry["name"] == container), {})
    return str(found.get("resources", {}).get("limits", {}).get("memory", ""))


def _has_completed(pod: Mapping[str, Any]) -> bool:
    """Return whether the program has exited with status 0, whether or not it was started again."""
    name = main_container(pod)
    ended = next((last_exit(status) for status in container_statuses(pod) if status["name"] == name), {})
    return ended.get("exitCode") == 0


def _pending_statuses(pod: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the statuses of containers that are not ready: the init container that runs, or the other containers."""
    for status in pod["status"].get("initContainerStatuses") or ():
        if not status.get("ready") and (status["state"].get("terminated") or {}).get("exitCode") != 0:
            yield status
            return
    yield from (status for status in pod["status"].get("containerStatuses") or () if not status.get("ready"))


def _scheduling_stage(pod: Mapping[str, Any], events: Sequence[Mapping[str, Any]]) -> Stage:
    scheduled = condition(pod, "PodScheduled")
    message = f": {scheduled['message']}" if scheduled.get("message") else ""
    growing = any(event.get("reason") in _SCALE_UP_REASONS for event in events)
    if growing:
        return Stage("scale-up", f"waits for a new node{message}", SCALE_UP_SECONDS)
    return Stage("unschedulable", f"cannot be scheduled{message}", UNSCHEDULABLE_SECONDS)


def _container_stage(
    pod: Mapping[str, Any], status: Mapping[str, Any], events: Sequence[Mapping[str, Any]], restarts: int
) -> Stage | None:
    waiting = status["state"].get("waiting") or {}
    reason, name = waiting.get("reason", ""), status["name"]
    if reason in _IMAGE_REASONS:
        limit = 0 if reason in _FINAL_IMAGE_REASONS else PULL_RETRY_SECONDS
        message = _longest_message([waiting, *_with_reason(events, {"Failed"})])
        return Stage("image", f"cannot pull its image {status['image']} ({reason}): {message}", limit)
    running = "running" in status["state"]
    exits = restart_count(pod) - restarts + (0 if running or (reason in _NORMAL_REASONS and waiting) else 1)
    if exits and last_exit(status):
        return _exit_stage(pod, status, exits)
    if waiting and reason not in _NORMAL_REASONS:
        return Stage("create", f"cannot start container {name} ({reason}): {waiting.get('message', '')}", 20)
    if waiting:
        return _creating_stage(pod, events)
    if name == WAITING_CONTAINER:
        return Stage("await", "still waits for other parts of the lab", AWAIT_SECONDS, name)
    return None


def _exit_stage(pod: Mapping[str, Any], status: Mapping[str, Any], exits: int) -> Stage:
    """Return the stage of a pod whose program has ended, and may have been started again."""
    name, ended = status["name"], last_exit(status)
    previous = "terminated" not in status["state"]
    text = exit_text(ended, memory_limit(pod, name))
    if ended.get("reason") == OUT_OF_MEMORY:
        return Stage("memory", text, 0, name, previous)
    if exits < FAILED_STARTS:
        return Stage("exit", f"was started again after it {text}", None, name, previous)
    return Stage("exits", f"ended {exits} times while it was starting, the last time it {text}", 0, name, previous)


def _creating_stage(pod: Mapping[str, Any], events: Sequence[Mapping[str, Any]]) -> Stage:
    """Return the stage of a pod whose containers are being created."""
    pulled = len(_with_reason(events, {"Pulled"}))
    if len(_with_reason(events, {"Pulling"})) > pulled:
        return Stage("pull", "is pulling its image", PULL_SECONDS)
    if failed := _with_reason(events, _MOUNT_REASONS):
        return Stage("mount", f"cannot mount its volumes: {failed[-1].get('message', '')}", CREATE_SECONDS)
    return Stage("create", "waits for its containers to be created", CREATE_SECONDS)


def _with_reason(events: Iterable[Mapping[str, Any]], reasons: set[str]) -> list[Mapping[str, Any]]:
    return [event for event in events if event.get("reason") in reasons]


def _longest_message(found: Iterable[Mapping[str, Any]]) -> str:
    """Return the most detailed message: a pull that is retried later has only `Back-off pulling image` as message."""
    return max((" ".join(str(entry.get("message", "")).split()) for entry in found), key=len, default="")
