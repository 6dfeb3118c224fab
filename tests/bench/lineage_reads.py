# SPDX-License-Identifier: Apache-2.0
"""Reads of a large graph over HTTP: lineage, column lineage, impact and origin at depth 5."""

import random
import time
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from tests.bench.figures import Figures, Goal, quantile
from tests.bench.http_connection import Answer, HttpConnection, request_bytes
from tests.bench.load_generator import BATCH_PATH
from tests.bench.service_process import running_service
from tests.bench.warehouse import COLUMNS, JOB_NAMESPACE, NODES_PER_DOMAIN, Warehouse, encode

DEPTH = 5
SAMPLES = 300
BATCH_SIZE = 200
TABLES = ("raw", "clean", "core", "totals", "wide", "mart_customer", "report")


@dataclass(frozen=True)
class LargeGraph:
    """Size of a graph: jobs and datasets together, and columns per dataset; goal of the reads' 99th percentile."""

    nodes: int
    columns: int
    p99_ms: Goal


def measure(figures: Figures, folder: Path, graph: LargeGraph, rounds: int) -> None:
    """Fill a service with a warehouse of that size, restart it, and read the graph."""
    nodes, p99_ms = graph.nodes, graph.p99_ms
    warehouse = Warehouse(-(-nodes // NODES_PER_DOMAIN), graph.columns)
    data = folder / f"nodes-{nodes}"
    size = f"{nodes:,} nodes"
    figures.remark(f"{size}: tables of {graph.columns} columns, one event per job, one client")
    with running_service(data) as service:
        idle = service.pss_mib()
        connection = HttpConnection(service.host, service.port, timeout=600)
        _fill(connection, warehouse)
        figures.add(f"{size}, first read after all events", "ms", _first_read(connection, warehouse))
        figures.add(f"{size}, memory above idle (PSS)", "MB", (service.pss_mib() - idle) * 2**20 / 1e6)
        connection.close()
    with running_service(data) as service:
        figures.add(f"{size}, start on the log of {warehouse.jobs:,} events", "s", service.ready_seconds)
        connection = HttpConnection(service.host, service.port, timeout=600)
        _first_read(connection, warehouse)
        for number in range(rounds):
            for name, requests in _requests_by_name(warehouse, random.Random(number)).items():
                _measure_requests(figures, f"{size}, {name}", connection, requests, p99_ms)
        connection.close()


def _fill(connection: HttpConnection, warehouse: Warehouse) -> None:
    waiting: list[bytes] = []
    for number, event in enumerate(warehouse.completions(), 1):
        waiting.append(encode(event))
        if len(waiting) < BATCH_SIZE and number < warehouse.jobs:
            continue
        _accepted(connection.exchange(request_bytes("POST", BATCH_PATH, b"[" + b",".join(waiting) + b"]")))
        waiting.clear()


def _first_read(connection: HttpConnection, warehouse: Warehouse) -> float:
    began = time.monotonic()
    _accepted(connection.exchange(_lineage(warehouse.dataset(0, "core"))))
    return (time.monotonic() - began) * 1e3


def _requests_by_name(warehouse: Warehouse, chance: random.Random) -> dict[str, list[bytes]]:
    """Return the requests of one round by the name of their figures."""
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


def _get(endpoint: str, node: str, depth: int, more: str = "") -> bytes:
    return request_bytes("GET", f"/api/v1/{endpoint}?nodeId={quote(node, safe='')}&depth={depth}{more}")


def _measure_requests(
    figures: Figures, name: str, connection: HttpConnection, requests: list[bytes], p99_ms: Goal
) -> None:
    times: list[float] = []
    sizes: list[int] = []
    for request in requests:
        began = time.monotonic()
        answer = _accepted(connection.exchange(request))
        times.append((time.monotonic() - began) * 1e3)
        sizes.append(len(answer.body))
    figures.add(f"{name}: p50", "ms", quantile(times, 0.5))
    figures.add(f"{name}: p99", "ms", quantile(times, 0.99), p99_ms)
    figures.add(f"{name}: size of the response, median", "kB", quantile(sizes, 0.5) / 1e3)


def _accepted(answer: Answer) -> Answer:
    if answer.status not in (200, 201):
        raise RuntimeError(f"the lineage service responded with status {answer.status}: {answer.body[:500]!r}")
    return answer
