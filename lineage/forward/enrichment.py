# SPDX-License-Identifier: Apache-2.0
"""Enrichment: an event of the log, with everything known so far, becomes the event to send.

It names all inputs and outputs, with schemas and column lineage, the job's type and its event type. A backend that
treats the last event as the full state, as Marquez does, then has the full state.
"""

import re

from lineage.events import Event, JsonObject
from lineage.events.timestamps import format_time, parse_time
from lineage.forward.datasets import EventOwner, datasets_of, enriched_dataset
from lineage.forward.facets import DEFAULT_JOB_TYPE, JOB_FACETS, RUN_FACETS, merged_facets, service_facet
from lineage.graph import Graph, LineageRecords
from lineage.graph.job_lineage import EMPTY_JOB_LINEAGE
from lineage.graph.job_record import JobRecord
from lineage.graph.node_names import NodeNames
from lineage.graph.run_record import TERMINAL_RANK, RunRecord
from lineage.rules import canonical_event

_TIME = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})", re.ASCII)


def enrich(event: Event, lineage: LineageRecords, graph: Graph, ended: bool = False) -> JsonObject:
    """Return the event to send for one of the log, which must have been applied; the graph must be refreshed.

    With `ended`, the end of its run has been sent: the event is sent with the type and time of that end, so that its
    facets arrive and the state stays. The same applies to a terminal event whose run has a stronger one (FAIL, then
    ABORT, then COMPLETE).
    """
    nodes = NodeNames(lineage)
    body = {**canonical_event(event.body, nodes), "eventTime": _event_time(event)}
    if event.job is None:
        return canonical_event({**body, "dataset": enriched_dataset(lineage, body["dataset"])}, nodes)
    job = lineage.jobs[event.job]
    run = job.runs[event.run.run] if event.run is not None else None
    if run is not None:
        body["run"] = {**body["run"], "facets": merged_facets(body["run"], RUN_FACETS, run.facets.get)}
        body |= _type_and_time(event, run, ended)
    body["job"] = {**body["job"], "facets": _job_facets(body["job"], job, run)}
    owner = EventOwner(run or job.declared, graph.job_lineages.get(job.id, EMPTY_JOB_LINEAGE))
    # Facets of other events have names as these events spell them.
    return canonical_event({**body, **datasets_of(lineage, owner, body)}, nodes)


def _type_and_time(event: Event, run: RunRecord, ended: bool) -> JsonObject:
    if run.terminal is not None and (ended or event.event_type in TERMINAL_RANK):
        _, order, event_type = run.terminal
        if event_type != event.event_type:
            return {"eventType": event_type, "eventTime": format_time(order.time)}
    return {"eventType": event.event_type}


def _job_facets(job: JsonObject, record: JobRecord, run: RunRecord | None) -> JsonObject:
    stated = run.job_facets if run is not None else record.declared_facets
    facets = merged_facets(job, JOB_FACETS, stated.get, record.facets.get)
    facets["jobType"] = {**service_facet("jobType", DEFAULT_JOB_TYPE), **facets.get("jobType", {})}
    return facets


def _event_time(event: Event) -> str:
    """Return the time as stated if it is strict RFC 3339 and in effect, else the effective time in that format.

    This service also accepts spaces, commas and +0100.
    """
    text: str = event.body["eventTime"]
    is_strict = _TIME.fullmatch(text) and parse_time(text) == event.order.time
    return text if is_strict else format_time(event.order.time)
