# SPDX-License-Identifier: Apache-2.0
"""A service with a long history: memory, disk, start, past graphs and reads, measured from outside.

Run by `make bench` with a short history. That of ten million events is filled without HTTP first, but for its last
events: `python -m tests.bench.lineage_history --jobs 20000 --raw-datasets 30000 --runs 5000000 --fill FOLDER`.
"""

import argparse
import gc
import random
import tempfile
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from urllib.parse import quote

from tests.bench.figures import Figures, print_figures, quantile
from tests.bench.http_connection import Answer, HttpConnection, request_bytes
from tests.bench.load_generator import BATCH_PATH
from tests.bench.long_history import fill
from tests.bench.run_history import BEGIN, DATASET_NAMESPACE, RunHistory, table_name
from tests.bench.service_process import ServiceProcess, running_service
from tests.bench.warehouse import encode

SHORT = RunHistory(jobs=200, raw_datasets=300, runs=10_000)
BATCH_SIZE = 200
READS = 300
PAST_GRAPHS = 20
PAST_ANSWERS = 30
SENT_AFTER_FILL = 20_000
PAST_REQUESTS = ("lineage?depth=1&asOf={at}", "lineage?depth=2&asOf={at}", "impact?asOf={at}", "diff?depth=1&from={at}")


def measure(
    figures: Figures, folder: Path, history: RunHistory, past_graphs: int = PAST_GRAPHS, sent: int | None = None
) -> None:
    """Send a history to a service, restart it, and read the present and the past, `past_graphs` times.

    With `sent`, `folder` has a data directory with all of the history but as many events.
    """
    data = folder / f"history-{history.runs}"
    size, sent = f"{history.events:,} events", history.events if sent is None else sent
    figures.remark(f"{size}: {history.jobs:,} jobs, {history.runs:,} runs, {history.columns} columns per dataset")
    figures.remark(f"ingest and memory after it: of the last {sent:,} events")
    with running_service(data) as service:
        figures.add("memory of the service after its start (PSS)", "MB", _megabytes(service.pss_mib()))
        seconds, cpu = _send(service, history, history.events - sent)
        figures.add(f"{size}, ingest in batches of {BATCH_SIZE}", "events/s", sent / seconds)
        figures.add(f"{size}, CPU of the service per event", "us", cpu / sent * 1e6)
        figures.add(f"{size}, memory after ingest (PSS)", "MB", _megabytes(service.pss_mib()))
    figures.add(f"{size}, disk", "MB", sum(file.stat().st_size for file in data.iterdir()) / 1e6)
    with running_service(data) as service:
        figures.add(f"{size}, from start to first response", "s", service.ready_seconds)
        connection = HttpConnection(service.host, service.port, timeout=600)
        chance = random.Random(history.seed)
        _measure(figures, f"{size}, lineage of a dataset, depth 5", connection, _reads(history, chance))
        if past_graphs:
            _measure(figures, f"{size}, graph at a past time", connection, _past_graphs(history, chance, past_graphs))
        for request in PAST_REQUESTS:
            name = f"{size}, {request.partition('&asOf')[0].partition('&from')[0]} of a dataset at a past time"
            # 404: the dataset did not exist yet.
            _measure(figures, name, connection, _past_answers(history, chance, request), (200, 404))
        figures.add(f"{size}, memory after reads (PSS)", "MB", _megabytes(service.pss_mib()))
        connection.close()


def _megabytes(mebibytes: float) -> float:
    return mebibytes * 2**20 / 1e6


def _send(service: ServiceProcess, history: RunHistory, start: int) -> tuple[float, float]:
    """Send the history from event number `start` on; return the seconds that the service took, and its CPU seconds."""
    connection = HttpConnection(service.host, service.port, timeout=600)
    seconds, cpu = 0.0, service.cpu_seconds()
    for first in range(start, history.events, BATCH_SIZE):
        numbers = range(first, min(first + BATCH_SIZE, history.events))
        body = b"[" + b",".join(encode(history.event(number)) for number in numbers) + b"]"
        began = time.monotonic()
        _accepted(connection.exchange(request_bytes("POST", BATCH_PATH, body)))
        seconds += time.monotonic() - began
    connection.close()
    return seconds, service.cpu_seconds() - cpu


def _reads(history: RunHistory, chance: random.Random) -> Iterator[bytes]:
    for _ in range(READS):
        node = f"dataset:{DATASET_NAMESPACE}:{table_name(chance.randrange(history.jobs))}"
        yield request_bytes("GET", f"/api/v1/lineage?nodeId={quote(node, safe='')}&depth=5")


def _past_answers(history: RunHistory, chance: random.Random, request: str) -> Iterator[bytes]:
    for _ in range(PAST_ANSWERS):
        moment = BEGIN + timedelta(days=history.days) * chance.random()
        node = f"dataset:{DATASET_NAMESPACE}:{table_name(chance.randrange(history.jobs))}"
        path = request.format(at=quote(moment.isoformat(), safe=""))
        yield request_bytes("GET", f"/api/v1/{path}&nodeId={quote(node, safe='')}")


def _past_graphs(history: RunHistory, chance: random.Random, number: int) -> Iterator[bytes]:
    for _ in range(number):
        moment = BEGIN + timedelta(days=history.days) * chance.random()
        yield request_bytes("GET", f"/api/v1/graph?asOf={quote(moment.isoformat(), safe='')}")


def _measure(
    figures: Figures,
    name: str,
    connection: HttpConnection,
    requests: Iterator[bytes],
    statuses: tuple[int, ...] = (200, 201),
) -> None:
    times = []
    for request in requests:
        began = time.monotonic()
        _accepted(connection.exchange(request), statuses)
        times.append(time.monotonic() - began)
    figures.add(f"{name}: p50", "ms", quantile(times, 0.5) * 1e3)
    figures.add(f"{name}: p95", "ms", quantile(times, 0.95) * 1e3)
    figures.add(f"{name}: p99", "ms", quantile(times, 0.99) * 1e3)


def _accepted(answer: Answer, statuses: tuple[int, ...] = (200, 201)) -> Answer:
    if answer.status not in statuses:
        raise RuntimeError(f"the lineage service responded with status {answer.status}: {answer.body[:500]!r}")
    return answer


def main() -> None:
    """Measure one history and print its figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=SHORT.jobs)
    parser.add_argument("--raw-datasets", type=int, default=SHORT.raw_datasets)
    parser.add_argument("--runs", type=int, default=SHORT.runs)
    parser.add_argument("--past-graphs", type=int, default=PAST_GRAPHS, help="graphs at past times that are read")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every value to this file too")
    parser.add_argument("--data", type=Path, help="folder on the disk to measure (default: the temporary one)")
    parser.add_argument("--fill", type=Path, metavar="FOLDER", help="fill this folder first, or go on; it stays")
    given = parser.parse_args()
    history = RunHistory(jobs=given.jobs, raw_datasets=given.raw_datasets, runs=given.runs)
    figures = Figures()
    if given.fill is not None:
        # As in the service: events and records make no cycles.
        gc.disable()
        sent = min(SENT_AFTER_FILL, history.events)
        fill(given.fill / f"history-{history.runs}", history, history.events - sent)
        measure(figures, given.fill, history, given.past_graphs, sent)
    else:
        with tempfile.TemporaryDirectory(prefix="lineage-lab-history-", dir=given.data) as folder:
            measure(figures, Path(folder), history, given.past_graphs)
    print_figures(figures, given.json, f"history of {history.events:,} events")


if __name__ == "__main__":
    main()
