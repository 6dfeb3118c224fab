# SPDX-License-Identifier: Apache-2.0
"""Settings of the service and its command line."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

MIB = 2**20


@dataclass(frozen=True, slots=True)
class Settings:
    """What the service is started with. Sizes in bytes; `max_store_bytes` 0 leaves it to the disk."""

    host: str
    port: int
    data: Path
    rules: Path | None
    max_event_bytes: int = 4 * MIB
    max_store_bytes: int = 0
    queue_size: int = 10_000


def parse_arguments(arguments: Sequence[str]) -> Settings:
    """Read the command line; argparse ends the process with code 2 where it is wrong."""
    parser = argparse.ArgumentParser(prog="python -m lineage", description="The lineage service.")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: loopback)")
    parser.add_argument("--port", type=_port, default=5000, help="port; 0 takes a free one and prints it")
    parser.add_argument("--data", type=Path, required=True, help="directory of the event log")
    parser.add_argument("--rules", type=Path, help="naming rules, JSON; without them no name is changed")
    parser.add_argument("--max-event-bytes", type=_positive, default=4 * MIB, metavar="N")
    parser.add_argument("--max-store-bytes", type=_positive, default=0, metavar="N")
    parser.add_argument("--queue-size", type=_positive, default=10_000, metavar="N", help="waiting events")
    return Settings(**vars(parser.parse_args(arguments)))


def _port(text: str) -> int:
    port = int(text)
    if not 0 <= port <= 65535:
        raise argparse.ArgumentTypeError(f"{port} is not between 0 and 65535")
    return port


def _positive(text: str) -> int:
    number = int(text)
    if number <= 0:
        raise argparse.ArgumentTypeError(f"{number} is not positive")
    return number
