# SPDX-License-Identifier: Apache-2.0
"""Runs whose datasets are the current ones of a job."""

from collections.abc import Iterator
from typing import NamedTuple

from lineage.graph.job_record import JobRecord
from lineage.graph.run_record import RunRecord


class CurrentRuns(NamedTuple):
    """Runs that determine the current lineage of a job, oldest first, and the last authoritative one, if any.

    Of several runs with the same edge only the last is among them, so that there are never more than edges and live
    runs.
    """

    authoritative: RunRecord | None
    runs: tuple[RunRecord, ...]


def current_runs(job: JobRecord) -> CurrentRuns:
    """Return the runs with the current edges of a job.

    These are the last authoritative run; every later run, which adds edges and removes none; live instances of a
    streaming job, however long ago they started; and the streaming run with the last complete statement.
    """
    authority = job.history.last_authoritative(job.is_streaming(None))
    chosen = {run.id.run for run in _live_runs(job)}
    for places in job.history.by_edge.values():
        last = places.last()
        if last is not None and (authority is None or last > authority):
            chosen.add(last.run)
    if authority is not None:
        chosen.add(authority.run)
    if job.last_stated is not None and job.is_streaming(job.runs[job.last_stated[1]]):
        chosen.add(job.last_stated[1])
    runs = sorted((job.runs[run] for run in chosen), key=lambda run: run.place)
    return CurrentRuns(job.runs[authority.run] if authority else None, tuple(runs))


def _live_runs(job: JobRecord) -> Iterator[RunRecord]:
    """Yield the open streaming runs that are not silent at the time of the job's last event.

    The wall clock must not decide: the edges are a function of the set of events.
    """
    now = job.span.last.time
    longest = job.longest_silence()
    for place in job.history.open.backwards():
        silent = now - place.order.time
        if silent > longest:
            return
        run = job.runs[place.run]
        if job.is_streaming(run) and silent <= job.silence_limit(run):
            yield run
