# SPDX-License-Identifier: Apache-2.0
"""Mapping of workloads, Jobs and their pods, as the API returns them, to `State`. Pure functions."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from infra.targets.kubernetes.names import REPLICAS_ANNOTATION
from infra.targets.kubernetes.pod_stage import (
    OUT_OF_MEMORY,
    Stage,
    condition,
    container_statuses,
    exit_text,
    is_ready_pod,
    last_exit,
    main_container,
    memory_limit,
    pod_stage,
)
from infra.targets.kubernetes.rollout import creation_failure, wanted_replicas
from infra.targets.labels import PART_LABEL
from infra.targets.runtime import State, unix_time

_FATAL_STAGES = {"image", "create", "mount", "unschedulable"}
"""Stages of pods that cannot start."""

Item = Mapping[str, Any]
T = TypeVar("T", bound=Mapping[str, Any])


def part_name(item: Item) -> str:
    """Return the name of the service or task of an object."""
    return str(item["metadata"]["labels"][PART_LABEL])


def configured_replicas(workload: Item) -> int:
    """Return the number of pods that a workload has while it is not stopped."""
    annotations = workload["metadata"].get("annotations") or {}
    return int(annotations.get(REPLICAS_ANNOTATION, 1))


def service_state(workload: Item, pods: Sequence[Item]) -> State:
    """Return the state of a service: that of its least healthy pod."""
    status, explanation = _service_status(workload, pods)
    return State(
        name=part_name(workload),
        status=status,
        pid=0,
        started=_start_time(pods),
        exit_status=_exit_status(pods),
        explanation=explanation,
    )


def _service_status(workload: Item, pods: Sequence[Item]) -> tuple[str, str]:
    """Return status and explanation of a service."""
    if wanted_replicas(workload) == 0:
        return ("STOPPING", "") if pods else ("STOPPED", "")
    pods = [pod for pod in pods if pod["status"].get("phase") != "Failed"]  # evicted pods stay listed
    if failure := creation_failure(workload):
        return "FATAL", failure
    states = [_pod_status(pod) for pod in pods]
    for status in ("FATAL", "BACKOFF", "UNHEALTHY", "STARTING", "STOPPING"):
        if found := [explanation for name, explanation in states if name == status]:
            return status, found[0]
    return ("RUNNING" if len(pods) >= wanted_replicas(workload) else "STARTING"), ""


def _pod_status(pod: Item) -> tuple[str, str]:
    """Return status and explanation of a service's pod."""
    if "deletionTimestamp" in pod["metadata"]:
        return "STOPPING", ""
    stage = pod_stage(pod)
    if stage is None:
        return "RUNNING", ""
    if stage.name in _FATAL_STAGES and _is_stuck(stage):
        return "FATAL", f"it {stage.text}"
    if stage.name in {"exit", "exits", "memory"} and not _runs(pod):
        return "BACKOFF", _exit_explanation(pod)
    return ("UNHEALTHY", "its readiness probe fails") if _was_ready(pod) else ("STARTING", "")


def _is_stuck(stage: Stage) -> bool:
    """Return whether a stage is a problem; each pod passes through the creation of its containers."""
    return ":" in stage.text


def _main_status(pod: Item) -> Item:
    name = main_container(pod)
    found: Item = next((status for status in container_statuses(pod) if status["name"] == name), {})
    return found


def _runs(pod: Item) -> bool:
    return "running" in _main_status(pod).get("state", {})


def _was_ready(pod: Item) -> bool:
    """Return whether a pod has been ready since its program was started."""
    started = _main_status(pod).get("state", {}).get("running", {}).get("startedAt", "")
    return bool(started) and str(condition(pod, "Ready").get("lastTransitionTime", "")) > str(started)


def _exit_explanation(pod: Item) -> str:
    ended = last_exit(_main_status(pod))
    return exit_text(ended, memory_limit(pod, main_container(pod))).removeprefix("ended with ")


def _start_time(pods: Sequence[Item]) -> int:
    """Return the time at which the program of the oldest running container was started; 0 if none runs."""
    found = [_main_status(pod).get("state", {}).get("running", {}).get("startedAt") for pod in pods]
    return min((int(unix_time(text)) for text in found if text), default=0)


def _exit_status(pods: Sequence[Item]) -> int:
    """Return the last exit status of the pods' programs."""
    codes = [last_exit(_main_status(pod)).get("exitCode") for pod in pods]
    return next((int(code) for code in codes if code is not None), 0)


def task_state(cron_job: Item, jobs: Sequence[Item], pods: Sequence[Item]) -> State:
    """Return the state of a task: that of its last run.

    Args:
        cron_job: the task's CronJob.
        jobs: its Jobs.
        pods: the pods of these Jobs.
    """
    name = part_name(cron_job)
    if not jobs:
        return State(name=name, status="STOPPED", pid=0, started=0, exit_status=0, explanation="")
    job = latest(jobs)
    own = [pod for pod in pods if is_of_job(pod, job)]
    status, code, explanation = _job_status(job, own)
    started = job["status"].get("startTime") or job["metadata"]["creationTimestamp"]
    return State(name, status, 0, int(unix_time(started)), code, explanation)


def latest(items: Sequence[T]) -> T:
    """Return the object that was created last."""
    return max(items, key=lambda item: (str(item["metadata"]["creationTimestamp"]), str(item["metadata"]["name"])))


def is_of_job(pod: Item, job: Item) -> bool:
    """Return whether a pod belongs to a Job."""
    owners = pod["metadata"].get("ownerReferences") or ()
    return any(owner["uid"] == job["metadata"]["uid"] for owner in owners)


def has_ended(job: Item) -> bool:
    """Return whether a Job has completed or failed."""
    return any(condition(job, name).get("status") == "True" for name in ("Complete", "Failed"))


def _job_status(job: Item, pods: Sequence[Item]) -> tuple[str, int, str]:
    """Return status, exit status and explanation of a Job."""
    if condition(job, "Complete").get("status") == "True":
        return "EXITED", 0, ""
    ended = next((end for pod in pods if (end := last_exit(_main_status(pod)))), {})
    if condition(job, "Failed").get("status") == "True":
        if ended.get("reason") == OUT_OF_MEMORY:
            return "FATAL", int(ended["exitCode"]), _memory_explanation(pods[0])
        if ended:
            return "EXITED", int(ended["exitCode"]), ""
        return "FATAL", 1, str(condition(job, "Failed").get("message", ""))
    if "deletionTimestamp" in job["metadata"]:
        return "STOPPING", 0, ""
    return _active_status(pods)


def _active_status(pods: Sequence[Item]) -> tuple[str, int, str]:
    """Return status, exit status and explanation of a Job that has not ended."""
    if not pods:
        return "STARTING", 0, ""
    pod = pods[-1]
    if is_ready_pod(pod) or _runs(pod):
        return "RUNNING", 0, ""
    stage = pod_stage(pod)
    if stage is not None and stage.name in _FATAL_STAGES and _is_stuck(stage):
        return "FATAL", 1, f"it {stage.text}"
    return "STARTING", 0, ""


def _memory_explanation(pod: Item) -> str:
    return f"it {exit_text({'reason': OUT_OF_MEMORY}, memory_limit(pod, main_container(pod)))}"
