# SPDX-License-Identifier: Apache-2.0
"""The event log: one SQLite file that holds every accepted event, once."""

from lineage.store.errors import StoreError, StoreFull, StoreUnusable
from lineage.store.log import EventLog, EventQuery
from lineage.store.writer import Batch, EventWriter, QueueFull

__all__ = [
    "Batch",
    "EventLog",
    "EventQuery",
    "EventWriter",
    "QueueFull",
    "StoreError",
    "StoreFull",
    "StoreUnusable",
]
