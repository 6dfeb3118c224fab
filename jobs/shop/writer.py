# SPDX-License-Identifier: Apache-2.0
"""Writer of orders and bids to Postgres at a constant rate; resumes after the last committed order."""

import logging
import threading
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from jobs.shop.database import ChangedError, Server, Session, UnavailableError
from jobs.shop.orders import Mix, batch, order
from jobs.shop.pace import Pace
from jobs.shop.resume import first_unwritten

TICK_SECONDS = 0.05
"""Seconds within which due orders are written in one transaction."""

COLUMN_REFRESH_SECONDS = 1.0
"""Interval of reading the tables' columns: maximum delay until an added column is written."""

RETRY_SECONDS = 0.25

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Work:
    """Orders to write: `count` in total (0: unlimited), with these optional columns."""

    mix: Mix
    pace: Pace
    count: int = 0
    optional: Collection[str] = ()


class ShopWriter:
    """Writer of orders and bids: an order, its bid and their duplicates are committed together."""

    def __init__(self, server: Server, work: Work, stop: threading.Event) -> None:
        self._server = server
        self._work = work
        self._stop = stop
        self._end: int | None = None

    def run(self) -> None:
        """Write until stopped or until `count` orders are written; retry while the server is unavailable.

        Raises:
            ShopError: intervention is required; the next run resumes after the last committed order.
        """
        is_unavailable = False
        while not self._stop.is_set():
            try:
                with Session.open(self._server) as session:
                    if is_unavailable:
                        log.info("%s is available again", self._server)
                    is_unavailable = False
                    self._write_through(session)
                return
            except UnavailableError as error:
                if not is_unavailable:
                    log.warning("%s; retrying until it responds", error)
                is_unavailable = True
                self._stop.wait(RETRY_SECONDS)

    def _write_through(self, session: Session) -> None:
        """Write in one session, from the first order that is not in the database."""
        if not self._claimed(session):
            return
        session.load_columns(self._work.optional)
        first = self._first_unwritten(session)
        if self._work.count and self._end is None:
            self._end = first + self._work.count
        log.info("writing orders from number %d on, %g a second", first, self._work.pace.rate)
        started = refreshed = time.monotonic()
        number = first
        while not self._stop.is_set() and (self._end is None or number < self._end):
            now = time.monotonic()
            due = self._work.pace.due(now - started, number - first)
            if not due:
                wait = self._work.pace.seconds_to_next(now - started, number - first)
                self._stop.wait(max(wait, TICK_SECONDS))
                continue
            if now - refreshed >= COLUMN_REFRESH_SECONDS:
                session.load_columns(self._work.optional)
                refreshed = now
            numbers = range(number, number + due if self._end is None else min(number + due, self._end))
            self._write(session, numbers)
            number = numbers.stop

    def _write(self, session: Session, numbers: range) -> None:
        made = batch(self._work.mix, numbers, time.time_ns() // 1_000_000)
        try:
            session.write(made)
        except ChangedError:
            session.load_columns(self._work.optional)
            session.write(made)

    def _claimed(self, session: Session) -> bool:
        """Wait for the lock of this seed; return False if stopped meanwhile."""
        waiting = False
        while not self._stop.is_set():
            if session.claim(self._work.mix.seed):
                return True
            if not waiting:
                log.warning("another shop with seed %d writes to %s; waiting", self._work.mix.seed, self._server)
            waiting = True
            self._stop.wait(RETRY_SECONDS)
        return False

    def _first_unwritten(self, session: Session) -> int:
        def written_numbers(numbers: Sequence[int]) -> Collection[int]:
            ids = {order(self._work.mix, number, 0).order_id: number for number in numbers}
            return [ids[order_id] for order_id in session.existing_ids(list(ids))]

        return first_unwritten(written_numbers)
