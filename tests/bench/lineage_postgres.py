# SPDX-License-Identifier: Apache-2.0
"""Ingest with the log in the lab's Postgres, beside the same service with a SQLite file. `python -m` this module."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from lineage.store.postgres.address import PASSWORD
from tests.bench.figures import Figures, quantile
from tests.bench.lineage_ingest import BATCH_CLIENTS, BATCH_EVENTS, BATCH_SIZE, SINGLE_CLIENTS, SINGLE_EVENTS, WARM_UP
from tests.bench.load_generator import Load, LoadResult, prepared_generator
from tests.bench.parts import Part, run_parts
from tests.bench.service_process import ServiceProcess, running_service
from tests.unit.shop.postgres_server import PostgresServer

ROUNDS = 3
LOADS = {
    f"single events, {SINGLE_CLIENTS} clients": (SINGLE_CLIENTS, SINGLE_EVENTS, 1),
    f"batches of {BATCH_SIZE}, {BATCH_CLIENTS} clients": (BATCH_CLIENTS, BATCH_EVENTS, BATCH_SIZE),
}


def measure(figures: Figures, folder: Path, rounds: int) -> None:
    """Measure both stores alternately, each time with an empty log."""
    folder.mkdir(exist_ok=True)
    with _running_server(folder / "server") as server:
        for number in range(rounds):
            server.query(f"CREATE DATABASE lineage_{number}", "postgres")
            url = f"postgresql://postgres@{server.address}/lineage_{number}"
            for store, options in (("SQLite", ()), ("Postgres", ("--store", url))):
                with running_service(folder / f"{store}-{number}", *options) as service:
                    _measure_store(figures, store, service, server)


def _measure_store(figures: Figures, store: str, service: ServiceProcess, server: PostgresServer) -> None:
    sent = WARM_UP
    _send_load(service, Load(service.host, service.port, SINGLE_CLIENTS, WARM_UP))
    for name, (clients, events, size) in LOADS.items():
        before, server_before = service.cpu_seconds(), _cpu_seconds(server)
        result = _send_load(service, Load(service.host, service.port, clients, events, sent, size))
        used, server_used = service.cpu_seconds() - before, _cpu_seconds(server) - server_before
        sent += events
        figures.add(f"{store}, {name}", "events/s", events / result.seconds)
        figures.add(f"{store}, {name}: p50", "ms", quantile(result.latencies, 0.5) * 1e3)
        figures.add(f"{store}, {name}: p99", "ms", quantile(result.latencies, 0.99) * 1e3)
        figures.add(f"{store}, {name}: service's CPU per 1,000", "s", used / events * 1e3)
        if store == "Postgres":
            figures.add(f"{store}, {name}: server's CPU per 1,000", "s", server_used / events * 1e3)


def _send_load(service: ServiceProcess, load: Load) -> LoadResult:
    with prepared_generator(load) as send:
        return send()


@contextmanager
def _running_server(folder: Path) -> Iterator[PostgresServer]:
    server = PostgresServer(folder)
    server.start()
    try:
        os.environ[PASSWORD] = server.password
        yield server
    finally:
        del os.environ[PASSWORD]
        server.stop()


def _cpu_seconds(server: PostgresServer) -> float:
    """Return the CPU time of all processes of the server so far."""
    root = psutil.Process(server.process_id)
    times = [process.cpu_times() for process in (root, *root.children(recursive=True))]
    return sum(one.user + one.system + one.children_user + one.children_system for one in times)


if __name__ == "__main__":
    run_parts(__doc__, {"ingest": Part(measure, ROUNDS)})
