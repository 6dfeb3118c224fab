# SPDX-License-Identifier: Apache-2.0
"""Reading a large graph: depth-5 lineage, column lineage, impact and origin, over HTTP."""

import random
import time
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from tests.bench.figures import Figures, Goal, quantile
from tests.bench.http_connection import Answer, HttpConnection, request_bytes
from tests.bench.lineage_ingest import has_batches
from tests.bench.load import BATCH, SINGLE
from tests.bench.service_process import running_service
from tests.bench.warehouse import COLUMNS, JOB_NAMESPACE, NODES_OF_DOMAIN, Warehouse, encode

DEPTH = 5
SAMPLES = 300
SLICE = 200
TABLES = ("raw", "clean", "core", "totals", "wide", "mart_customer", "report")


@dataclass(frozen=True)
class LargeGraph:
    """Jobs and datasets together, the columns of each dataset, and what 99 of 100 reads may take."""

    nodes: int
    columns: int
    p99_ms: Goal


def measure(figures: Figures, folder: Path, graph: LargeGraph, rounds: int) -> None:
    """Fill a service with a warehouse of so many jobs and datasets, start it anew, and read it."""
    nodes, p99_ms = graph.nodes, graph.p99_ms
    warehouse = Warehouse(-(-nodes // NODES_OF_DOMAIN), graph.columns)
    data = folder / f"nodes-{nodes}"
    size = f"{nodes:,} nodes"
    figures.remark(f"{size}: tables of {graph.columns} columns, one event a job, one client")
    with running_service(data) as service:
        idle = service.pss_mib()
        connection = HttpConnection(service.host, service.port, timeout=600)
        _fill(connection, warehouse, has_batches(service))
        figures.add(f"{size}, first read after all events", "ms", _first_read(connection, warehouse))
        figures.add(f"{size}, memory above idle (PSS)", "MB", (service.pss_mib() - idle) * 2**20 / 1e6)
        connection.close()
    with running_service(data) as service:
        figures.add(f"{size}, start on the log of {warehouse.jobs:,} events", "s", service.ready_seconds)
        connection = HttpConnection(service.host, service.port, timeout=600)
        _first_read(connection, warehouse)
        for number in range(rounds):
            for name, requests in _questions(warehouse, random.Random(number)).items():
                _ask(figures, f"{size}, {name}", connection, requests, p99_ms)
        connection.close()


def _fill(connection: HttpConnection, warehouse: Warehouse, batches: bool) -> None:
    waiting: list[bytes] = []
    for number, event in enumerate(warehouse.completions(), 1):
        waiting.append(encode(event))
        if len(waiting) < SLICE and number < warehouse.jobs:
            continue
        whole = request_bytes("POST", BATCH, b"[" + b",".join(waiting) + b"]")
        requests = [whole] if batches else [request_bytes("POST", SINGLE, body) for body in waiting]
        for request in requests:
            _good(connection.exchange(request))
        waiting.clear()


def _first_read(connection: HttpConnection, warehouse: Warehouse) -> float:
    began = time.monotonic()
    _good(connection.exchange(_lineage(warehouse.dataset(0, "core"))))
    return (time.monotonic() - began) * 1e3


def _questions(warehouse: Warehouse, chance: random.Random) -> dict[str, list[bytes]]:
    """The requests of one round, by what they ask."""
    datasets = [warehouse.dataset(chance.randrange(warehouse.domains), chance.choice(TABLES)) for _ in range(SAMPLES)]
    jobs = [f"domain_{chance.randrange(warehouse.domains):05d}.{chance.choice(TABLES)}" for _ in range(SAMPLES)]
    columns = [f"datasetField:{namespace}:{name}:{COLUMNS[0][0]}" for namespace, name in datasets]
    return {
        f"lineage of a dataset, depth {DEPTH}": [_lineage(dataset) for dataset in datasets],
        f"lineage of a job, depth {DEPTH}": [_get("lineage", f"job:{JOB_NAMESPACE}:{job}", DEPTH) for job in jobs],
        f"column lineage, depth {DEPTH}, both ways": [
            _get("column-lineage", column, DEPTH, "&withDownstream=true") for column in columns
        ],
        f"impact of a column, depth {DEPTH}": [_get("impact", column, DEPTH) for column in columns],
        f"origin of a column, depth {DEPTH}": [_get("origin", column, DEPTH) for column in columns],
    }


def _lineage(dataset: tuple[str, str]) -> bytes:
    return _get("lineage", f"dataset:{dataset[0]}:{dataset[1]}", DEPTH)


def _get(what: str, node: str, depth: int, more: str = "") -> bytes:
    return request_bytes("GET", f"/api/v1/{what}?nodeId={quote(node, safe='')}&depth={depth}{more}")


def _ask(figures: Figures, name: str, connection: HttpConnection, requests: list[bytes], p99_ms: Goal) -> None:
    first = connection.exchange(requests[0])
    if first.status == 404 and b"nodeId" not in first.body:
        figures.remark(f"{name} left out: this service has no such endpoint")
        return
    times: list[float] = []
    sizes: list[int] = []
    for request in requests:
        began = time.monotonic()
        answer = _good(connection.exchange(request))
        times.append((time.monotonic() - began) * 1e3)
        sizes.append(len(answer.body))
    figures.add(f"{name}: p50", "ms", quantile(times, 0.5))
    figures.add(f"{name}: p99", "ms", quantile(times, 0.99), p99_ms)
    figures.add(f"{name}: size of the answer, median", "kB", quantile(sizes, 0.5) / 1e3)


def _good(answer: Answer) -> Answer:
    if answer.status not in (200, 201):
        raise RuntimeError(f"the service answered {answer.status}: {answer.body[:500]!r}")
    return answer
