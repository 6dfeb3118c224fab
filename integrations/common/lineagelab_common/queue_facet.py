# SPDX-License-Identifier: Apache-2.0
"""Run facet with the state of the emitter's own queue, which a receiver cannot measure. Pure."""

from lineagelab_common.events import Json

EMITTER_QUEUE = "lineageLab_emitterQueue"
"""`waiting`: events that were queued before this one and not yet accepted. `dropped`: events that the emitter has given
up since its start."""

SCHEMA = "urn:lineage-lab:schemas:EmitterQueueRunFacet:1"

REPORTED_WITH = "RUNNING"
"""Type of the events that have the facet: others may be sent twice, and have to be equal then."""


def with_queue(event: Json, waiting: int, dropped: int) -> Json:
    """Return an event with the facet; one of another type than `REPORTED_WITH`, or without a producer, unchanged."""
    if event.get("eventType") != REPORTED_WITH or "producer" not in event:
        return event
    facet = {"_producer": event["producer"], "_schemaURL": SCHEMA, "waiting": waiting, "dropped": dropped}
    facets = {**event["run"].get("facets", {}), EMITTER_QUEUE: facet}
    return {**event, "run": {**event["run"], "facets": facets}}
