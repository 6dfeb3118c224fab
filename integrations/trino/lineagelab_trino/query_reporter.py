# SPDX-License-Identifier: Apache-2.0
"""Reporter of queries: turns the events of Trino's listener into OpenLineage events, and ends lost runs."""

import json
import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from lineagelab_common.events import Json
from lineagelab_common.files import replace_file
from lineagelab_trino.listener_event import FAILED, FINISHED, Query
from lineagelab_trino.query_lineage import QueryNames, ReportedQuery, Schemas, run_event
from lineagelab_trino.trino_client import GONE, SOURCE, MissingTableError, TrinoClient, TrinoError

log = logging.getLogger(__name__)

MAX_ENDED = 10_000
"""Ended queries that are remembered: their first event may arrive after the last one."""

LOST_SECONDS = 120.0
"""Seconds after the end of a query until its last event counts as lost; the listener repeats its requests."""

GONE_SECONDS = 20.0
"""The same if Trino no longer knows the query: its last event may be on the way."""

GONE_MESSAGE = "Trino no longer knows the query: its coordinator was stopped"


class QueryReporter:
    """Reporter of one coordinator's queries. Its methods may be called by several threads.

    Args:
        trino: the coordinator.
        send: takes each OpenLineage event; when it returns, the event is not lost.
        names: of jobs and datasets.
        path: file with the events of open queries, so that a restarted process ends them.
    """

    def __init__(self, trino: TrinoClient, send: Callable[[Json], None], names: QueryNames, path: Path) -> None:
        self._trino = trino
        self._send = send
        self._names = names
        self._path = path
        self._lock = threading.Lock()
        self._open: dict[str, tuple[Json, Schemas]] = _load(path)
        # Ended queries, and whether their start was reported: the listener may repeat its request after the end.
        self._ended: OrderedDict[str, bool] = OrderedDict()
        self._final_since: dict[str, float] = {}

    @property
    def open_queries(self) -> list[str]:
        """Ids of the queries that have not ended."""
        with self._lock:
            return list(self._open)

    def receive(self, event: Json) -> None:
        """Report one event of the listener.

        Raises:
            ListenerEventError: it is none.
            OSError: the event cannot be stored.
        """
        query = Query.parse(event)
        if query.source == SOURCE:
            return
        reported = ReportedQuery.of(query)
        if query.ended is None:
            self._start(event, reported)
        else:
            self._end(reported)

    def _start(self, event: Json, reported: ReportedQuery) -> None:
        query_id = reported.query.query_id
        if not reported.is_reported or self._has_started_and_ended(query_id):
            return
        schemas = self._schemas(reported, {})
        with self._lock:
            if query_id in self._ended:
                self._ended[query_id] = True
            else:
                self._open[query_id] = (event, schemas)
                self._save()
        self._report(reported, schemas)

    def _end(self, reported: ReportedQuery) -> None:
        query_id = reported.query.query_id
        with self._lock:
            _, known = self._open.get(query_id, ({}, {}))
        if reported.is_reported:
            self._report(reported, self._schemas(reported, known))
        with self._lock:
            self._ended[query_id] = query_id in self._open or self._ended.get(query_id, False)
            if len(self._ended) > MAX_ENDED:
                self._ended.popitem(last=False)
            self._final_since.pop(query_id, None)
            if self._open.pop(query_id, None) is not None:
                self._save()

    def end_lost_queries(self) -> None:
        """Report the end of open queries that Trino no longer knows, or whose last event was lost."""
        for query_id in self.open_queries:
            try:
                state = self._trino.state(query_id)
            except TrinoError as error:
                log.info("cannot look for lost queries: %s", error)
                return
            if state not in {GONE, FINISHED, FAILED}:
                continue
            since = self._final_since.setdefault(query_id, time.monotonic())
            if time.monotonic() - since >= (GONE_SECONDS if state == GONE else LOST_SECONDS):
                self._end_lost(query_id, state)

    def _end_lost(self, query_id: str, state: str) -> None:
        with self._lock:
            found = self._open.get(query_id)
        if found is None:
            return
        message = GONE_MESSAGE if state == GONE else "Trino did not send why"
        log.warning("query %s has ended without an event: %s", query_id, state)
        query = replace(
            Query.parse(found[0]),
            ended=time.time_ns() // 10**6,
            state=FINISHED if state == FINISHED else FAILED,
            error="" if state == FINISHED else message,
        )
        self._end(ReportedQuery.of(query))

    def _has_started_and_ended(self, query_id: str) -> bool:
        with self._lock:
            return self._ended.get(query_id, False)

    def _report(self, reported: ReportedQuery, schemas: Schemas) -> None:
        self._send(run_event(reported, reported.describe(schemas, self._names), self._names))

    def _schemas(self, reported: ReportedQuery, known: Schemas) -> Schemas:
        """Return the columns of the tables of a query. Those of its start are kept: it may have dropped a table."""
        found = dict(known)
        is_start = reported.query.ended is None
        for table in sorted(reported.tables):
            if table in found and (is_start or table != reported.target):
                continue
            try:
                found[table] = self._trino.columns(table)
            except MissingTableError:
                if is_start or table != reported.target:
                    found.pop(table, None)
            except TrinoError as error:
                log.warning("columns of %s are not known: %s", table, error)
        return found

    def _save(self) -> None:
        replace_file(self._path, json.dumps(self._open))


def _load(path: Path) -> dict[str, tuple[Json, Schemas]]:
    """Read the open queries of the last process; none if the file is missing or damaged, with a warning."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return {
            query_id: (event, schemas) for query_id, (event, schemas) in found.items() if Query.parse(event).query_id
        }
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError, AttributeError) as error:
        log.warning("cannot read the open queries in %s, their runs stay open: %s", path, error)
        return {}
