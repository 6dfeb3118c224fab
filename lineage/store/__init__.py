# SPDX-License-Identifier: Apache-2.0
"""Event log: one SQLite file with every accepted event, deduplicated."""

from lineage.store.dead_letters import DeadLetter, DeadLetterKind, RefusedLetter
from lineage.store.errors import NotWriter, StoreError, StoreFull, StoreUnusable
from lineage.store.event_query import EventQuery
from lineage.store.horizons import END_OF_TIME
from lineage.store.log import EventLog
from lineage.store.segments import events_per_seal
from lineage.store.writer import Batch, EventWriter, QueueFull

__all__ = [
    "END_OF_TIME",
    "Batch",
    "DeadLetter",
    "DeadLetterKind",
    "EventLog",
    "EventQuery",
    "EventWriter",
    "NotWriter",
    "QueueFull",
    "RefusedLetter",
    "StoreError",
    "StoreFull",
    "StoreUnusable",
    "events_per_seal",
]
