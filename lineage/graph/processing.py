# SPDX-License-Identifier: Apache-2.0
"""Kind of processing of jobs and runs, from their jobType facets: batch or streaming, intervals, complete snapshots."""

from lineage.events.ids import JsonObject
from lineage.graph.mergeable import effective_facet

DEFAULT_INTERVAL = 30.0
"""Default interval in seconds between RUNNING events of a streaming run."""

STALE_INTERVALS = 3
"""Intervals without an event after which a streaming run is stale, and an inferred end takes effect."""

_ENDLESS = frozenset({"STREAMING", "STREAM", "SERVICE"})
"""Processing types without an expected end; STREAM is Marquez' spelling."""


def states_streaming(job_type: JsonObject | None) -> bool | None:
    """Return whether a jobType facet states a streaming job; None without a facet."""
    return None if job_type is None else str(job_type.get("processingType", "")).upper() in _ENDLESS


def interval_of(job_type: JsonObject | None) -> float:
    """Return the interval between RUNNING events in seconds that a jobType facet states, or the default."""
    return _emission_pattern(job_type).get("windowDuration") or DEFAULT_INTERVAL


def states_complete_snapshot(job_facets: JsonObject) -> bool:
    """Return whether the event with these job facets states all datasets of its run."""
    job_type = effective_facet(job_facets, "jobType")
    return str(_emission_pattern(job_type).get("eventContentMode", "")).upper() == "COMPLETE_SNAPSHOT"


def _emission_pattern(job_type: JsonObject | None) -> JsonObject:
    pattern = (job_type or {}).get("emissionPattern")
    return pattern if isinstance(pattern, dict) else {}
