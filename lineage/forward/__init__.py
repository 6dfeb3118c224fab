# SPDX-License-Identifier: Apache-2.0
"""Feeds another OpenLineage consumer, such as Marquez, from the event log.

Such a consumer believes the last event that it got: a bare event wipes a job's edges, a late one opens a run
again, and what it missed while it was down is lost. So it is not sent what came in, but what that means:

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
