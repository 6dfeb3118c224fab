# SPDX-License-Identifier: Apache-2.0
"""`labkit:index:FlinkJob`: a Flink job submitted and kept running by a launcher; created when all its tasks run."""

from typing import Any

from infra.errors import LabError
from infra.model.resources import RUNNING, FlinkJob
from infra.provider import application_job
from infra.provider.connections import url_accepts_connections
from infra.provider.flink_cluster import ClusterJob, FlinkCluster
from infra.provider.kind import POLL_SECONDS, Kind, OperationContext, ReadResult
from infra.provider.notes import launcher_problem

START_SECONDS = 420
"""Time limit for all tasks to run: on a busy machine the first SQL statement alone takes 30 s."""

RECOVERY_TIMEOUT_SECONDS = 60
"""Time limit of a refresh for the launcher to resubmit a failed or lost job."""

MIN_RUNNING_SECONDS = 2
"""Time that a job must run to count as started: some fail at the first record."""

STALE_FAILURE_SECONDS = 90
"""Time for which an earlier failure may still be listed: the launcher waits up to 60 s before it resubmits."""

PROBLEM_SECONDS = 30
"""Time for which submission problems are tolerated: the services that a job needs may still be starting. One that was
there before stands for the launcher's attempt of that time, and is tolerated as long as an earlier failure."""

REASON_SECONDS = 10
"""Time limit for the cause of a failure: the cluster responds from a cache that is some seconds old."""

CANCEL_SECONDS = 120
"""Time limit of a cancellation."""

SAVEPOINT_SECONDS = 45
"""Time limit of a stop with a savepoint; after it, the job is cancelled."""


class FlinkJobKind(Kind[FlinkJob]):
    """Flink jobs, submitted by their launchers; `create` waits until a job runs, `delete` stops it."""

    name = "FlinkJob"
    inputs = FlinkJob
    replace_on = frozenset({"rest", "cluster", "name"})

    def create(self, inputs: FlinkJob, call: OperationContext) -> dict[str, Any]:
        if not inputs.rest:
            application_job.await_running(inputs, call)
            return {}
        cluster = _cluster(inputs, "start", call)
        found = cluster.identity()
        if found != inputs.cluster:
            raise LabError(
                f"could not {cluster.action}: the cluster belongs to another lab (cluster id {found or 'empty'}). "
                "Stop that lab or program, or set another lineage-lab:portOffset"
            )
        _await_running(inputs, cluster, call)
        return {}

    def read(self, inputs: FlinkJob, call: OperationContext) -> ReadResult[FlinkJob] | None:
        if not inputs.rest:
            return ReadResult(inputs.model_copy(update={"state": application_job.settled_state(inputs, call)}))
        if not url_accepts_connections(inputs.rest):
            return None  # the cluster is down: it is created again, then its jobs
        cluster = _cluster(inputs, "read", call)
        if cluster.identity() != inputs.cluster:
            return None
        job = _wait_until_settled(inputs, cluster, call)
        if job is None:
            return None
        return ReadResult(inputs if job.runs else inputs.model_copy(update={"state": _degraded_state(job)}))

    def update(self, old: FlinkJob, new: FlinkJob, call: OperationContext) -> dict[str, Any]:
        """Wait until the job runs; its launcher was restarted before, with the new definition."""
        return self.create(new, call)

    def delete(self, inputs: FlinkJob, call: OperationContext) -> None:
        """Stop the job with a savepoint; its launcher takes that as a user's request and exits.

        On a cluster of its own, the job is stopped with its launcher.
        """
        if not inputs.rest or not url_accepts_connections(inputs.rest):
            return  # the cluster is down, with its jobs
        cluster = _cluster(inputs, "stop", call)
        if cluster.identity() != inputs.cluster:
            return  # the cluster belongs to another lab
        for job in _active_jobs(inputs, cluster):
            call.report("stopping with a savepoint")
            _stop_job(job, cluster, call)
        for _ in call.poll(CANCEL_SECONDS):
            left = _active_jobs(inputs, cluster)
            if not left:
                return
            for job in left:
                cluster.cancel(job.job_id)
        raise LabError(f"could not {cluster.action}: it is still active {CANCEL_SECONDS} s after it was cancelled")


def _cluster(inputs: FlinkJob, verb: str, call: OperationContext) -> FlinkCluster:
    return FlinkCluster(inputs.rest, f"{verb} Flink job {inputs.name} at {inputs.rest}", call)


def _active_jobs(inputs: FlinkJob, cluster: FlinkCluster) -> list[ClusterJob]:
    return [job for job in cluster.jobs(inputs.name) if not job.ended]


def _newest_job(jobs: list[ClusterJob]) -> ClusterJob | None:
    """Return the newest active job, else the newest ended one."""
    return next((job for job in jobs if not job.ended), jobs[0] if jobs else None)


def _degraded_state(job: ClusterJob) -> str:
    """Return the state of a job of which not all tasks run."""
    return job.state if job.state != RUNNING else "STARTING"


def _wait_until_settled(inputs: FlinkJob, cluster: FlinkCluster, call: OperationContext) -> ClusterJob | None:
    """Return the job once it runs or was ended by a user; else its state after the timeout."""
    job = None
    for _ in call.poll(RECOVERY_TIMEOUT_SECONDS):
        job = _newest_job(cluster.jobs(inputs.name))
        if job and (job.runs or job.state in {"CANCELED", "FINISHED"}):
            return job
    return job


def _stop_job(job: ClusterJob, cluster: FlinkCluster, call: OperationContext) -> None:
    """Stop a job with a savepoint, or cancel it if that fails or takes too long."""
    request = cluster.stop_with_savepoint(job.job_id)
    if request is None:
        return
    for _ in call.poll(SAVEPOINT_SECONDS):
        if cluster.savepoint_failed(job.job_id, request):
            break
        if cluster.has_ended(job.job_id):
            return
    cluster.cancel(job.job_id)


def _await_running(inputs: FlinkJob, cluster: FlinkCluster, call: OperationContext) -> None:
    """Wait until all tasks have run for `MIN_RUNNING_SECONDS`.

    Raises:
        LabError: the job failed or could not be submitted, with the cause, or did not start in time.
    """
    old = {job.job_id for job in cluster.jobs(inputs.name) if job.ended}
    former = launcher_problem(inputs.notes)
    running_polls, reported, job = 0, "", None
    for turn, _ in enumerate(call.poll(START_SECONDS)):
        job = _newest_job(cluster.jobs(inputs.name))
        waited = turn * POLL_SECONDS
        shown = str(job) if job else "not yet submitted by its launcher"
        if shown != reported:
            call.report(reported := shown)
        running_polls = running_polls + 1 if job and job.runs else 0
        if running_polls * POLL_SECONDS >= MIN_RUNNING_SECONDS:
            return
        is_old = job is not None and job.job_id in old
        if job and job.ended and (not is_old or (job.state == "FAILED" and waited >= STALE_FAILURE_SECONDS)):
            raise LabError(f"Flink job {inputs.name} {_describe_end(job, cluster, call)}\n{_log_hint(inputs)}")
        problem = launcher_problem(inputs.notes) if job is None or is_old else ""
        if problem and waited >= (STALE_FAILURE_SECONDS if problem == former else PROBLEM_SECONDS):
            raise LabError(f"Flink job {inputs.name} {problem}\n{_log_hint(inputs)}")
    reason = (cluster.reason(job.job_id) if job else "") or launcher_problem(inputs.notes)
    raise LabError(
        f"Flink job {inputs.name} was not running after {START_SECONDS} s: {reported}"
        + (f"\n  {reason}" if reason else "")
        + f"\n{_log_hint(inputs)}"
    )


def _describe_end(job: ClusterJob, cluster: FlinkCluster, call: OperationContext) -> str:
    if job.state != "FAILED":
        return f"ended after its start: {job.state}"
    for _ in call.poll(REASON_SECONDS):
        if reason := cluster.reason(job.job_id):
            return f"failed:\n  {reason}"
    return "failed; the cluster reports no cause"


def _log_hint(inputs: FlinkJob) -> str:
    return f"See: bin/lab logs {inputs.launcher}, and Flink's web UI at {inputs.rest}"
