# SPDX-License-Identifier: Apache-2.0
"""Writes the shop's orders and bids to Postgres, at a rate, and takes up where the last run was cut short."""

import logging
import threading
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from jobs.shop.database import AwayError, ChangedError, Server, Session
from jobs.shop.orders import Mix, batch, order
from jobs.shop.pace import Pace
from jobs.shop.resume import first_unwritten

TICK_SECONDS = 0.05
"""Orders that are due within so long are written in one transaction."""

LOOK_SECONDS = 1.0
"""A column that was added is written so much later at most."""

RETRY_SECONDS = 0.25

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Work:
    """What to write: `count` orders in all (0: no end), with these of the optional columns."""

    mix: Mix
    pace: Pace
    count: int = 0
    optional: Collection[str] = ()


class ShopWriter:
    """Writes orders and their bids: an order, its bid and their copies are committed together."""

    def __init__(self, server: Server, work: Work, stop: threading.Event) -> None:
        self._server = server
        self._work = work
        self._stop = stop
        self._end: int | None = None

    def run(self) -> None:
        """Writes until told to stop or until `count` orders are out. Waits for a server that is away.

        Raises:
            ShopError: waiting would not help; the next run writes what is missing, and no more.
        """
        away = False
        while not self._stop.is_set():
            try:
                with Session.open(self._server) as session:
                    if away:
                        log.info("%s is back", self._server)
                    away = False
                    self._write_through(session)
                return
            except AwayError as error:
                if not away:
                    log.warning("%s; trying again until it answers", error)
                away = True
                self._stop.wait(RETRY_SECONDS)

    def _write_through(self, session: Session) -> None:
        """Writes over one session, from the first order that is not there."""
        if not self._claimed(session):
            return
        session.look_at_tables(self._work.optional)
        first = self._first_unwritten(session)
        if self._work.count and self._end is None:
            self._end = first + self._work.count
        log.info("writing orders from number %d on, %g a second", first, self._work.pace.rate)
        started = looked = time.monotonic()
        number = first
        while not self._stop.is_set() and (self._end is None or number < self._end):
            now = time.monotonic()
            due = self._work.pace.due(now - started, number - first)
            if not due:
                wait = self._work.pace.seconds_to_next(now - started, number - first)
                self._stop.wait(max(wait, TICK_SECONDS))
                continue
            if now - looked >= LOOK_SECONDS:
                session.look_at_tables(self._work.optional)
                looked = now
            numbers = range(number, number + due if self._end is None else min(number + due, self._end))
            self._write(session, numbers)
            number = numbers.stop

    def _write(self, session: Session, numbers: range) -> None:
        made = batch(self._work.mix, numbers, time.time_ns() // 1_000_000)
        try:
            session.write(made)
        except ChangedError:
            session.look_at_tables(self._work.optional)
            session.write(made)

    def _claimed(self, session: Session) -> bool:
        """Waits for another shop with this seed to end; False where it is this one that is to stop."""
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
        def written(numbers: Sequence[int]) -> Collection[int]:
            ids = {order(self._work.mix, number, 0).order_id: number for number in numbers}
            return [ids[order_id] for order_id in session.written(list(ids))]

        return first_unwritten(written)
