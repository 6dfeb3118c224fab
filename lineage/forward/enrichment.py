# SPDX-License-Identifier: Apache-2.0
"""Enrichment: an event of the log, with everything known so far, becomes the event to send.

It names all inputs and outputs, with schemas and column lineage, the job's type and its event type. A backend that
treats the last event as the full state, as Marquez does, then has the full state.
"""

import re

from lineage.events import Event, JsonObject
from lineage.events.timestamps import format_time
from lineage.forward.datasets import EventOwner, carry_facets, datasets_of, enriched_dataset
from lineage.forward.facets import BATCH, JOB_FACETS, PRODUCER, RUN_EVENT, RUN_FACETS, closed_facet
from lineage.forward.run_ends import RunEnd
from lineage.graph import Graph, LineageRecords
from lineage.graph.job_lineage import EMPTY_JOB_LINEAGE
from lineage.graph.job_record import TERMINAL_RANK, JobRecord, RunRecord

_TIME = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})", re.ASCII)


def enrich(event: Event, lineage: LineageRecords, graph: Graph, ended: str | None = None) -> JsonObject:
    """Return the event to send for one of the log, which must have been applied; the graph must be refreshed.

    `ended` is the type of the terminal event if its run has ended already, else None: events after the end are sent
    with that type, so that their facets arrive and the state stays. A terminal event carries
    the type of the strongest of its run (FAIL, then ABORT, then COMPLETE).

    Times stay as they are, except for spellings that not every consumer reads.
    """
    body = {**event.body, "eventTime": _event_time(event)}
    if event.job is None:
        return {**body, "dataset": enriched_dataset(lineage, body["dataset"])}
    job = lineage.jobs[event.job]
    if event.run is None:
        return _with_lineage(body, lineage, graph, job, None)
    run = job.runs[event.run.run]
    body["eventType"] = ended or _own_type(event, run)
    return _with_lineage(body, lineage, graph, job, run)


def closing_event(lineage: LineageRecords, graph: Graph, run: RunRecord, end: RunEnd) -> JsonObject:
    """Return the ABORT event of a run that the service has closed; deterministic for equal records."""
    facets = {"lineageLab_closed": closed_facet(end.because or "")}
    body: JsonObject = {
        "eventType": "ABORT",
        "eventTime": format_time(end.order.time),
        "producer": PRODUCER,
        "schemaURL": RUN_EVENT,
        "run": {"runId": run.id.run, "facets": facets},
        "job": {"namespace": run.id.job.namespace, "name": run.id.job.name},
    }
    return _with_lineage(body, lineage, graph, lineage.jobs[run.id.job], run)


def _own_type(event: Event, run: RunRecord) -> str:
    if event.event_type in TERMINAL_RANK and run.terminal is not None:
        return run.terminal[2]
    return event.event_type


def _with_lineage(
    body: JsonObject, lineage: LineageRecords, graph: Graph, job: JobRecord, run: RunRecord | None
) -> JsonObject:
    settled = body.get("eventType") in TERMINAL_RANK
    view = graph.job_lineages.get(job.id, EMPTY_JOB_LINEAGE)
    owner = EventOwner(job=job, run=run, view=view, settled=settled, starting=body.get("eventType") == "START")
    completed = {**body, "job": _enriched_job(body["job"], job, run, settled), **datasets_of(lineage, owner, body)}
    if run is not None:
        facets = dict(body["run"].get("facets") or {})
        carry_facets(RUN_FACETS, facets, settled, run.facets.get)
        completed["run"] = {**body["run"], "facets": facets}
    return completed


def _enriched_job(said: JsonObject, job: JobRecord, run: RunRecord | None, settled: bool) -> JsonObject:
    facets = dict(said.get("facets") or {})
    by_run = run.job_facets if run else job.declared_facets
    carry_facets(JOB_FACETS, facets, settled, by_run.get, job.facets.get)
    facets.setdefault("jobType", BATCH)
    return {**said, "facets": facets}


def _event_time(event: Event) -> str:
    """Return the event time as sent if it is strict RFC 3339; this service also accepts spaces, commas and +0100."""
    text: str = event.body["eventTime"]
    return text if _TIME.fullmatch(text) else format_time(event.order.time)
