# SPDX-License-Identifier: Apache-2.0
"""Forwarding of events to another OpenLineage backend, such as Marquez.

Such a backend treats the last event as the full state: an event without datasets removes a job's edges, and a late one
reopens a run. So each event is enriched with what is known of its run, job and datasets before it is sent.

- `enrichment`, `datasets`, `column_lineage`, `facets`: the event to send for an event of the log. Pure.
- `backend`, `responses`: HTTP requests and the classification of responses.
- `delivery`: retries of one event with backoff, until the backend accepts it or it proves to be the cause.
- `forwarder`: reads the log, keeps the events of a job in order, stores its position.

Only events of the log are forwarded. An end that the service infers is not one: it is void as soon as the run emits
another event, and a backend cannot take an end back.
"""

from lineage.forward.backend import forward_url
from lineage.forward.enrichment import enrich
from lineage.forward.forwarder import Forwarder

__all__ = ["Forwarder", "enrich", "forward_url"]
