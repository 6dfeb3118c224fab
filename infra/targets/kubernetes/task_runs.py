# SPDX-License-Identifier: Apache-2.0
"""Runs of a task: Jobs that are made from its CronJob."""

import copy
import uuid
from collections.abc import Callable, Mapping

from infra.errors import ServiceError
from infra.provider.kind import OperationContext
from infra.targets.kubernetes.client import KubernetesObject
from infra.targets.kubernetes.objects import JOBS, PODS
from infra.targets.kubernetes.pod_logs import follow_pod
from infra.targets.kubernetes.stack_objects import StackObjects
from infra.targets.kubernetes.workload_state import has_ended, latest, part_name
from infra.targets.kubernetes.workloads import REQUEST_INTERVAL_SECONDS, STOP_MARGIN_SECONDS

UNLIMITED_SECONDS = 365 * 24 * 3600
"""Time limit for the end of a run, which the user can interrupt."""


def start(objects: StackObjects, cron_job: KubernetesObject, variables: Mapping[str, str]) -> None:
    """Start a run; does nothing if one is active. Former runs are removed with their logs.

    `variables` are environment variables of this run alone.
    """
    runs = objects.jobs(part_name(cron_job))
    if any(not has_ended(run) for run in runs):
        return
    for run in runs:
        objects.cluster.delete(JOBS, objects.namespace, run["metadata"]["name"])
    objects.cluster.create(JOBS, objects.namespace, job_of(cron_job, uuid.uuid4().hex[:5], variables))


def job_of(cron_job: KubernetesObject, suffix: str, variables: Mapping[str, str]) -> KubernetesObject:
    """Return a Job made from a CronJob, as `kubectl create job --from` does, with more environment variables."""
    template, metadata = cron_job["spec"]["jobTemplate"], cron_job["metadata"]
    owner = {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "name": metadata["name"],
        "uid": metadata["uid"],
        "controller": True,
    }
    own = template.get("metadata") or {}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": f"{metadata['name']}-{suffix}",
            "labels": own.get("labels") or {},
            "annotations": {**(own.get("annotations") or {}), "cronjob.kubernetes.io/instantiate": "manual"},
            "ownerReferences": [owner],
        },
        "spec": _with_variables(template["spec"], variables),
    }


def _with_variables(spec: KubernetesObject, variables: Mapping[str, str]) -> KubernetesObject:
    if not variables:
        return spec
    changed = copy.deepcopy(spec)
    for container in changed["template"]["spec"]["containers"]:
        added = ({"name": name, "value": value} for name, value in sorted(variables.items()))
        container["env"] = [*container.get("env", ()), *added]
    return changed


def await_end(objects: StackObjects, name: str, show: Callable[[str], None] | None) -> bool:
    """Wait for the end of a task's last run and pass on its output; return False if it was removed meanwhile."""
    runs = objects.jobs(name)
    if not runs:
        return False
    run = latest(runs)
    _poll_until(lambda: bool(objects.job_pods(run)) or _is_over(objects, run))
    for pod in objects.job_pods(run):
        if show:
            for line in follow_pod(objects.cluster, lambda pod=pod: objects.current(PODS, pod)):  # type: ignore[misc]
                show(line)
    _poll_until(lambda: _is_over(objects, run))
    return objects.current(JOBS, run) is not None


def _poll_until(condition: Callable[[], bool]) -> None:
    for _ in OperationContext().poll(UNLIMITED_SECONDS, REQUEST_INTERVAL_SECONDS):
        if condition():
            return


def _is_over(objects: StackObjects, run: KubernetesObject) -> bool:
    found = objects.current(JOBS, run)
    return found is None or has_ended(found)


def stop(objects: StackObjects, name: str) -> None:
    """Remove the active runs of a task, and wait for the graceful end of their pods."""
    active = [run for run in objects.jobs(name) if not has_ended(run)]
    for run in active:
        objects.cluster.delete(JOBS, objects.namespace, run["metadata"]["name"])
    grace = max((_grace_seconds(run) for run in active), default=0)
    limit = grace + STOP_MARGIN_SECONDS
    for _ in OperationContext().poll(limit, REQUEST_INTERVAL_SECONDS):
        if not any(objects.job_pods(run) for run in active):
            return
    raise ServiceError(f"the pods of task {name} in namespace {objects.namespace} did not end within {limit} s")


def _grace_seconds(run: KubernetesObject) -> int:
    return int(run["spec"]["template"]["spec"].get("terminationGracePeriodSeconds", 30))
