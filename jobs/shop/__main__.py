# SPDX-License-Identifier: Apache-2.0
"""Runs the shop: `python -m jobs.shop --postgres HOST:PORT`, with `PGPASSWORD` set. Ends cleanly on SIGTERM."""

import argparse
import logging
import os
import signal
import threading
from dataclasses import dataclass
from types import FrameType

from jobs.shop.database import ChangedError, Server, ShopError
from jobs.shop.orders import Mix
from jobs.shop.pace import Pace
from jobs.shop.tables import OPTIONAL
from jobs.shop.writer import ShopWriter, Work

STOP_SECONDS = 1.5
"""How long the transaction under way may take once the shop is told to stop. Cut off, it is written the next time."""


@dataclass(frozen=True)
class Arguments:
    """The command line, typed."""

    server: Server
    work: Work


def parse(argv: list[str] | None = None) -> Arguments:
    """Reads the command line; ends the process with a usage message where it makes no sense."""
    default = Mix()
    parser = argparse.ArgumentParser(prog="jobs.shop", description=__doc__)
    parser.add_argument("--postgres", required=True, metavar="HOST:PORT")
    parser.add_argument("--database", default="shop")
    parser.add_argument("--user", default="postgres")
    parser.add_argument("--rate", type=float, default=20.0, help="orders per second")
    parser.add_argument("--count", type=int, default=0, help="stop after so many orders; 0 goes on")
    parser.add_argument("--seed", type=int, default=default.seed)
    parser.add_argument("--error-rate", type=float, default=default.error_rate)
    parser.add_argument("--duplicate-rate", type=float, default=default.duplicate_rate)
    parser.add_argument("--late-rate", type=float, default=default.late_rate)
    parser.add_argument(
        "--optional",
        action="append",
        default=[],
        choices=OPTIONAL,
        help="write this column too wherever a table has it, from the moment on that it has it",
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
    """Writes until told to stop; 1 where only somebody's help lets it go on."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    arguments = parse()
    stop = threading.Event()

    def told(_number: int, _frame: FrameType | None) -> None:
        stop.set()
        signal.setitimer(signal.ITIMER_REAL, STOP_SECONDS)

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, told)
    signal.signal(signal.SIGALRM, _cut_off)
    try:
        ShopWriter(arguments.server, arguments.work, stop).run()
    except (ShopError, ChangedError) as error:
        logging.error("%s", error)
        return 1
    return 0


def _cut_off(_number: int, _frame: FrameType | None) -> None:
    """The server does not answer: what is not committed by now is for the next run.

    An exception would wait for the server too, to roll back.
    """
    os._exit(0)


if __name__ == "__main__":
    raise SystemExit(main())
