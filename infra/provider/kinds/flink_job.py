# SPDX-License-Identifier: Apache-2.0
"""`labkit:index:FlinkJob`: a job on a Flink cluster, which a launcher keeps running. Created means that it does."""

import json
import socket
from typing import Any
from urllib.parse import urlsplit

from infra.errors import LabError
from infra.model.resources import RUNNING, FlinkJob
from infra.provider.flink_cluster import Cluster, Job
from infra.provider.kind import POLL_SECONDS, Call, Found, Kind
from infra.provider.notes import read_notes

START_SECONDS = 420
"""How long it may take until all of its tasks run: on a busy machine a first statement alone takes half a minute."""

HEAL_SECONDS = 60
"""How long a refresh waits for the launcher to bring a job back that failed, or that its cluster lost."""

STEADY_SECONDS = 2
"""How long it has to run before that is believed: some fail with the first record."""

STALE_SECONDS = 90
"""How long an old failure may still be shown before the launcher has tried again: it waits up to a minute."""

PROBLEM_SECONDS = 30
"""How long a launcher may say that it cannot submit the job: what it needs may have only just been started."""

REASON_SECONDS = 10
"""How long the reason of a failure may be missing: the cluster answers from what it knew a few seconds ago."""

END_SECONDS = 120
SAVEPOINT_SECONDS = 45


class FlinkJobKind(Kind[FlinkJob]):
    """Submitting is the launcher's business. Here it is waited for, looked at, and ended for good."""

    name = "FlinkJob"
    inputs = FlinkJob
    replace_on = frozenset({"rest", "cluster", "name"})

    def create(self, inputs: FlinkJob, call: Call) -> dict[str, Any]:
        cluster = _cluster(inputs, "start", call)
        found = cluster.identity()
        if found != inputs.cluster:
            raise LabError(
                f"could not {cluster.doing}: that cluster is not this lab's; it is {found or 'without a name'}. "
                "Another lab or program has the port: end it, or set another portOffset"
            )
        _await_running(inputs, cluster, call)
        return {}

    def read(self, inputs: FlinkJob, call: Call) -> Found[FlinkJob] | None:
        if not _answers(inputs.rest):
            return None  # the cluster is gone: it is made anew, its jobs after it
        cluster = _cluster(inputs, "look at", call)
        if cluster.identity() != inputs.cluster:
            return None
        job = _settled(inputs, cluster, call)
        if job is None:
            return None
        return Found(inputs if job.runs else inputs.model_copy(update={"state": _word(job)}))

    def update(self, old: FlinkJob, new: FlinkJob, call: Call) -> dict[str, Any]:
        """The launcher was started anew before: what runs now is what it was told."""
        return self.create(new, call)

    def delete(self, inputs: FlinkJob, call: Call) -> None:
        """The launcher takes the end for what a user wanted, and leaves."""
        if not _answers(inputs.rest):
            return  # the cluster is gone, and its jobs with it
        cluster = _cluster(inputs, "end", call)
        if cluster.identity() != inputs.cluster:
            return  # somebody else's cluster, and somebody else's job
        for job in _active(inputs, cluster):
            call.say("saving what it knows, then cancelling it")
            _end(job, cluster, call)
        for _ in call.poll(END_SECONDS):
            left = _active(inputs, cluster)
            if not left:
                return
            for job in left:
                cluster.cancel(job.job_id)
        raise LabError(f"could not {cluster.doing}: it was cancelled, and is still there after {END_SECONDS} s")


def _cluster(inputs: FlinkJob, what: str, call: Call) -> Cluster:
    return Cluster(inputs.rest, f"{what} Flink job {inputs.name} at {inputs.rest}", call)


def _answers(url: str) -> bool:
    """Whether anything listens there; a request would be tried again for a while."""
    place = urlsplit(url)
    try:
        socket.create_connection((str(place.hostname), place.port or 80), timeout=5).close()
    except OSError:
        return False
    return True


def _active(inputs: FlinkJob, cluster: Cluster) -> list[Job]:
    return [job for job in cluster.jobs(inputs.name) if not job.ended]


def _newest(jobs: list[Job]) -> Job | None:
    """The one that counts: what has not ended before what has."""
    return next((job for job in jobs if not job.ended), jobs[0] if jobs else None)


def _word(job: Job) -> str:
    """Its state, where that alone says that something is wrong."""
    return job.state if job.state != RUNNING else "STARTING"


def _settled(inputs: FlinkJob, cluster: Cluster, call: Call) -> Job | None:
    """The job once it runs, or was ended by somebody; else as it is when the launcher had time enough."""
    job = None
    for _ in call.poll(HEAL_SECONDS):
        job = _newest(cluster.jobs(inputs.name))
        if job and (job.runs or job.state in {"CANCELED", "FINISHED"}):
            return job
    return job


def _end(job: Job, cluster: Cluster, call: Call) -> None:
    """Cancels with a savepoint, or without where none can be made in time."""
    request = cluster.cancel_with_savepoint(job.job_id)
    if request is None:
        return
    for _ in call.poll(SAVEPOINT_SECONDS):
        if cluster.savepoint_failed(job.job_id, request):
            break
        if cluster.has_ended(job.job_id):
            return
    cluster.cancel(job.job_id)


def _await_running(inputs: FlinkJob, cluster: Cluster, call: Call) -> None:
    """Waits until all of it has run for a while.

    Raises:
        LabError: it failed or was not taken, with the reason; or it did not come to run.
    """
    old = {job.job_id for job in cluster.jobs(inputs.name) if job.ended}
    steady, said, job = 0, "", None
    for turn, _ in enumerate(call.poll(START_SECONDS)):
        job = _newest(cluster.jobs(inputs.name))
        waited = turn * POLL_SECONDS
        shown = str(job) if job else "the launcher has not submitted it yet"
        if shown != said:
            call.say(said := shown)
        steady = steady + 1 if job and job.runs else 0
        if steady * POLL_SECONDS >= STEADY_SECONDS:
            return
        is_old = job is not None and job.job_id in old
        if job and job.ended and (not is_old or (job.state == "FAILED" and waited >= STALE_SECONDS)):
            raise LabError(f"Flink job {inputs.name} {_ending(job, cluster, call)}\n{_where(inputs)}")
        if (job is None or is_old) and waited >= PROBLEM_SECONDS and (problem := _problem(inputs)):
            raise LabError(f"Flink job {inputs.name} could not be submitted: {problem}\n{_where(inputs)}")
    reason = cluster.reason(job.job_id) if job else _problem(inputs)
    raise LabError(
        f"Flink job {inputs.name} was not running after {START_SECONDS} s: {said}"
        + (f"\n  {reason}" if reason else "")
        + f"\n{_where(inputs)}"
    )


def _ending(job: Job, cluster: Cluster, call: Call) -> str:
    if job.state != "FAILED":
        return f"did not stay: it is {job.state}"
    for _ in call.poll(REASON_SECONDS):
        if reason := cluster.reason(job.job_id):
            return f"failed:\n  {reason}"
    return "failed without a reason"


def _where(inputs: FlinkJob) -> str:
    return f"See: lab logs {inputs.launcher}, and the page of Flink at {inputs.rest}"


def _problem(inputs: FlinkJob) -> str:
    """What kept the launcher from submitting it, if it says so."""
    if not inputs.notes:
        return ""
    try:
        return str(json.loads(read_notes(inputs.notes)).get("problem", ""))
    except (OSError, ValueError):
        return ""  # it has not written anything yet
