# SPDX-License-Identifier: Apache-2.0
"""Ingest beside slow-loris connections and gzip bombs, against the same load without them.

`LINEAGE_LAB_ABUSE_SECONDS` is the length of the abuse. Alone: `python -m tests.bench.lineage_abuse`.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.bench.figures import Figures, Goal, quantile
from tests.bench.load_generator import Load, prepared_generator
from tests.bench.parts import Part, run_parts
from tests.bench.service_process import REPOSITORY, ServiceProcess, running_service

DEFAULT_SECONDS = 20
QUIET_SECONDS = 60
PER_SECOND = 50
CLIENTS = 8
WARM_UP = 500
SLOWER = Goal(2)
"""Ratio of the 99th percentiles with and without abuse."""


def measure(figures: Figures, folder: Path, rounds: int) -> None:
    """Measure the p99 of acknowledgements with and without abuse; no event may be refused."""
    seconds = int(os.environ.get("LINEAGE_LAB_ABUSE_SECONDS", DEFAULT_SECONDS))
    for number in range(rounds):
        with running_service(folder / f"abuse-{number}") as service:
            _p99_ms(service, 0, WARM_UP // PER_SECOND)
            first = WARM_UP // PER_SECOND * PER_SECOND
            quiet_seconds = min(seconds, QUIET_SECONDS)
            quiet = _p99_ms(service, first, quiet_seconds)
            before = service.pss_mib()
            with _slow_clients(service):
                abused = _p99_ms(service, first + quiet_seconds * PER_SECOND, seconds)
            figures.add(f"accept at {PER_SECOND} events/s: p99", "ms", quiet)
            figures.add(f"accept at {PER_SECOND} events/s beside abuse of {seconds} s: p99", "ms", abused)
            figures.add("p99 beside abuse, of that without", "x", abused / quiet, SLOWER)
            figures.add("memory gained (PSS)", "MB", (service.pss_mib() - before) * 2**20 / 1e6)


def _p99_ms(service: ServiceProcess, first: int, seconds: int) -> float:
    load = Load(service.host, service.port, CLIENTS, seconds * PER_SECOND, first, per_second=PER_SECOND)
    with prepared_generator(load) as send:
        return quantile(send().latencies, 0.99) * 1e3


@contextmanager
def _slow_clients(service: ServiceProcess) -> Iterator[None]:
    words = [sys.executable, "-m", "tests.bench.slow_clients", service.host, str(service.port)]
    process = subprocess.Popen(words, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        if process.stdout.readline() != "connected\n":
            raise RuntimeError("the slow clients did not start")
        yield
        if process.poll() is not None:
            raise RuntimeError(f"the slow clients ended with status {process.returncode}")
    finally:
        process.kill()
        process.communicate()


if __name__ == "__main__":
    run_parts(__doc__, {"abuse": Part(measure, 1)})
