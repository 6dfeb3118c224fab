# SPDX-License-Identifier: Apache-2.0
"""Forwarding of events to another OpenLineage backend, such as Marquez.

Such a backend takes the last event for the full state: an event without datasets removes a job's edges, a late one
reopens a run, and events sent while it was down are lost. So events are enriched before they are sent:

- `complete`: an event of the log -> the event to send, with everything that its run is known to have. Pure.
- `ends`: how and by what a run ended, and which runs an event closes. Pure.
- `consumer`: one HTTP request and what its answer means.
- `window`, `gate`, `delivery`: the order in which events may go out, how often, and which never will.
- `messages`: what is to be sent because of an event. `forwarder`: reads the log, sends, remembers how far it came.
"""

from lineage.forward.backend import forward_url
from lineage.forward.enrichment import closing_event, enrich
from lineage.forward.forwarder import Forwarder

__all__ = ["Forwarder", "closing_event", "enrich", "forward_url"]
