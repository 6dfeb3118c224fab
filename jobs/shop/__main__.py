# SPDX-License-Identifier: Apache-2.0
"""Runs the shop: `python -m jobs.shop --bootstrap HOST:PORT`. Ends cleanly on SIGTERM."""

import argparse
import logging
import signal
import threading
from dataclasses import dataclass

from infra.namespaces import TOPIC_BIDS, TOPIC_ORDERS
from jobs.shop.orders import Mix
from jobs.shop.writer import DeliveryError, ShopWriter


@dataclass(frozen=True)
class Arguments:
    """The command line, typed. `rate` is orders per second, `count` orders in all (0: no end)."""

    bootstrap: str
    rate: float
    count: int
    mix: Mix


def parse(argv: list[str] | None = None) -> Arguments:
    """Reads the command line; ends the process with a usage message where it makes no sense."""
    default = Mix()
    parser = argparse.ArgumentParser(prog="jobs.shop", description=__doc__)
    parser.add_argument("--bootstrap", required=True, metavar="HOST:PORT")
    parser.add_argument("--rate", type=float, default=20.0, help="orders per second")
    parser.add_argument("--count", type=int, default=0, help="stop after so many orders; 0 goes on")
    parser.add_argument("--seed", type=int, default=default.seed)
    parser.add_argument("--error-rate", type=float, default=default.error_rate)
    parser.add_argument("--duplicate-rate", type=float, default=default.duplicate_rate)
    parser.add_argument("--late-rate", type=float, default=default.late_rate)
    given = parser.parse_args(argv)
    if given.rate <= 0:
        parser.error(f"--rate {given.rate}: give the orders per second, more than 0")
    try:
        mix = Mix(given.seed, given.error_rate, given.duplicate_rate, given.late_rate)
    except ValueError as error:
        parser.error(str(error))
    return Arguments(given.bootstrap, given.rate, given.count, mix)


def main() -> int:
    """Writes until told to stop; 1 where Kafka refused a message for good."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    arguments = parse()
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    writer = ShopWriter(arguments.bootstrap, TOPIC_ORDERS, TOPIC_BIDS, arguments.mix)
    try:
        writer.run(arguments.rate, arguments.count, stop)
    except DeliveryError as error:
        logging.error("%s", error)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
