# SPDX-License-Identifier: Apache-2.0
"""`python -m lineagelab_trino`: receives the events of Trino's HTTP event listener, and reports its queries.

Addresses are read from the environment, see the README of this package.
"""

import argparse
import logging
import os
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

from lineagelab_common.spool import Spool
from lineagelab_common.stop_signal import StopSignal
from lineagelab_trino.query_lineage import QueryNames
from lineagelab_trino.query_reporter import QueryReporter
from lineagelab_trino.receiver import Receiver
from lineagelab_trino.trino_client import TrinoClient

log = logging.getLogger(__name__)

POLL_SECONDS = 30.0
"""Interval in which open queries are looked for."""

CLOSE_SECONDS = 10.0
"""Seconds to wait at the end for the delivery of events; what is left is sent by the next process."""

USER = "lineage"
EVENTS_FILE, QUERIES_FILE = "unsent-events.json", "open-queries.json"


def _arguments(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="lineagelab-trino", description="Report the lineage of Trino's queries.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8091)
    parser.add_argument("--data", type=Path, required=True, help="folder for events that are not delivered yet")
    return parser.parse_args(arguments)


def _names(environment: Mapping[str, str]) -> QueryNames:
    return QueryNames(
        environment.get("OPENLINEAGE_NAMESPACE") or "default",
        environment["TRINO_NAMESPACE"],
        environment.get("LAKE_CATALOG", ""),
    )


def main(arguments: Sequence[str]) -> int:
    """Serve until SIGTERM or SIGINT; return the exit code."""
    given = _arguments(arguments)
    environment = os.environ
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    # It warns of each statement that it does not parse, such as SHOW.
    logging.getLogger("sqlglot").setLevel(logging.ERROR)
    stop = StopSignal()
    stop.install()
    try:
        given.data.mkdir(parents=True, exist_ok=True)
        trino = TrinoClient(environment["TRINO_URL"], USER)
        spool = Spool(environment["OPENLINEAGE_URL"], given.data / EVENTS_FILE)
        reporter = QueryReporter(trino, spool.add, _names(environment), given.data / QUERIES_FILE)
        server = Receiver(
            (given.host, given.port), environment.get("TRINO_LINEAGE_KEY", ""), reporter.receive, trino.has_started
        )
    except KeyError as error:
        return _failed(f"the variable {error.args[0]} is not set")
    except OSError as error:
        return _failed(f"cannot listen on {given.host}:{given.port} with the data in {given.data}: {error}")
    threading.Thread(target=server.serve_forever, name="receiver", daemon=True).start()
    log.info("receiving events of %s on %s:%d", environment["TRINO_URL"], given.host, server.server_port)
    while not stop.wait(POLL_SECONDS):
        reporter.end_lost_queries()
    server.shutdown()
    server.server_close()
    spool.close(CLOSE_SECONDS)
    return 0


def _failed(message: str) -> int:
    print(f"lineagelab-trino: {message}", file=sys.stderr)
    return 1


def run() -> None:
    """Entry point of the installed command."""
    sys.exit(main(sys.argv[1:]))


if __name__ == "__main__":
    run()
