# SPDX-License-Identifier: Apache-2.0
"""Run the shop: `python -m jobs.shop --postgres HOST:PORT`, with `PGPASSWORD` set. Shuts down cleanly on SIGTERM."""

import argparse
import logging
import os
import signal
from dataclasses import dataclass
from types import FrameType

from jobs.shop.database import ChangedError, Server, ShopError
from jobs.shop.orders import Mix
from jobs.shop.pace import Pace
from jobs.shop.tables import OPTIONAL
from jobs.shop.writer import ShopWriter, Work
from lineagelab_common.stop_signal import STOP_SIGNALS, StopSignal

STOP_SECONDS = 1.5
"""Seconds for the current transaction after a stop signal. If cut off, it is repeated by the next run."""


@dataclass(frozen=True)
class Arguments:
    """Command line arguments."""

    server: Server
    work: Work


def parse(argv: list[str] | None = None) -> Arguments:
    """Parse the command line; exit with a usage message if it is invalid."""
    default = Mix()
    parser = argparse.ArgumentParser(prog="jobs.shop", description=__doc__)
    parser.add_argument("--postgres", required=True, metavar="HOST:PORT")
    parser.add_argument("--database", default="shop")
    parser.add_argument("--user", default="postgres")
    parser.add_argument("--rate", type=float, default=20.0, help="orders per second")
    parser.add_argument("--count", type=int, default=0, help="stop after this many orders; 0 for no limit")
    parser.add_argument("--seed", type=int, default=default.seed)
    parser.add_argument("--error-rate", type=float, default=default.error_rate)
    parser.add_argument("--duplicate-rate", type=float, default=default.duplicate_rate)
    parser.add_argument("--late-rate", type=float, default=default.late_rate)
    parser.add_argument(
        "--optional",
        action="append",
        default=[],
        choices=OPTIONAL,
        help="also write this column to tables that have it, as soon as they have it",
    )
    given = parser.parse_args(argv)
    host, _, port = given.postgres.rpartition(":")
    if not host or not port.isdigit():
        parser.error(f"--postgres {given.postgres}: give HOST:PORT")
    if given.rate <= 0:
        parser.error(f"--rate {given.rate}: give the orders per second, more than 0")
    try:
        mix = Mix(given.seed, given.error_rate, given.duplicate_rate, given.late_rate)
    except ValueError as error:
        parser.error(str(error))
    server = Server(host.strip("[]"), int(port), given.user, given.database)
    return Arguments(server, Work(mix, Pace(given.rate), given.count, tuple(given.optional)))


def main() -> int:
    """Write orders until a stop signal; return 1 for errors that require intervention."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    arguments = parse()
    stop = StopSignal()

    def request_stop(_number: int, _frame: FrameType | None) -> None:
        stop.set()
        signal.setitimer(signal.ITIMER_REAL, STOP_SECONDS)

    for number in STOP_SIGNALS:
        signal.signal(number, request_stop)
    signal.signal(signal.SIGALRM, _cut_off)
    try:
        ShopWriter(arguments.server, arguments.work, stop).run()
    except (ShopError, ChangedError) as error:
        logging.error("%s", error)
        return 1
    return 0


def _cut_off(_number: int, _frame: FrameType | None) -> None:
    """Exit at once if the server does not respond: the next run writes what is not committed.

    An exception would wait for the server too, for the rollback.
    """
    os._exit(0)


if __name__ == "__main__":
    raise SystemExit(main())
