# SPDX-License-Identifier: Apache-2.0
"""Forwarding of events to another OpenLineage backend, such as Marquez.

Such a backend treats the last event as the full state: an event without datasets removes a job's edges, a late one
reopens a run, and events sent while it was down are lost. So events are enriched before they are sent:

- `enrichment`, `datasets`, `column_lineage`, `facets`: complete an event of the log with everything known of its run.
  Pure.
- `run_ends`: the event that ended a run, and the runs that an event closes. Pure.
- `backend`: one HTTP request and the classification of its response.
- `ordering`, `backoff`, `delivery`: sending order, retries, and detection of events that are never accepted.
- `outgoing`: the events to send for one event of the log. `forwarder`: reads the log, sends, stores its position.
"""

from lineage.forward.backend import forward_url
from lineage.forward.enrichment import closing_event, enrich
from lineage.forward.forwarder import Forwarder

__all__ = ["Forwarder", "closing_event", "enrich", "forward_url"]
