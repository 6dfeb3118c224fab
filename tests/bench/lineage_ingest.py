# SPDX-License-Identifier: Apache-2.0
"""Accepting events: rates, latencies, CPU, memory, how soon they are visible, and the start on a log of them."""

from pathlib import Path

from tests.bench.figures import Figures, Goal, quantile
from tests.bench.http_connection import HttpConnection, request_bytes
from tests.bench.load import BATCH, Load, Seen, prepared
from tests.bench.service_process import ServiceProcess, running_service

WARM_UP = 600
SINGLE_EVENTS = 6_000
SINGLE_CLIENTS = 16
BATCH_EVENTS = 12_000
BATCH_SIZE = 100
BATCH_CLIENTS = 4
PACED_EVENTS = 1_000
PER_SECOND = 200
ACCEPT_SINGLE = Goal(1_500, floor=True)
ACCEPT_BATCH = Goal(4_000, floor=True)
ACCEPT_P99_MS = Goal(20)
VISIBLE_P99_MS = Goal(250)
IDLE_MB = Goal(150)


def one_round(figures: Figures, folder: Path) -> None:
    """A fresh service: idle, one by one, in batches, paced; then started again on what it has."""
    data = folder / "data"
    with running_service(data) as service:
        figures.add("idle memory, empty log (PSS)", "MB", service.pss_mib() * 2**20 / 1e6, IDLE_MB)
        figures.add("start, empty log", "s", service.ready_seconds)
        _send(service, Load(service.host, service.port, SINGLE_CLIENTS, WARM_UP))
        warm = service.pss_mib()
        sent = WARM_UP + _singles(figures, service, WARM_UP)
        if has_batches(service):
            sent += _batches(figures, service, sent)
        else:
            figures.remark(f"batches left out: this service has no {BATCH}")
        grown = (service.pss_mib() - warm) * 2**20 / 1e6
        figures.add("memory per 10,000 events", "MB", grown / (sent - WARM_UP) * 10_000)
        sent += _paced(figures, service, sent)
    with running_service(data) as service:
        figures.add(f"start on a log of {sent:,} events", "s", service.ready_seconds)


def has_batches(service: ServiceProcess) -> bool:
    """Whether the service knows the batch endpoint at all."""
    connection = HttpConnection(service.host, service.port)
    try:
        return connection.exchange(request_bytes("POST", BATCH, b"[]")).status not in (404, 405)
    finally:
        connection.close()


def _singles(figures: Figures, service: ServiceProcess, first: int) -> int:
    load = Load(service.host, service.port, SINGLE_CLIENTS, SINGLE_EVENTS, first)
    name = f"accept, one by one, {SINGLE_CLIENTS} clients"
    _rates(figures, name, service, load, ACCEPT_SINGLE, ACCEPT_P99_MS)
    return SINGLE_EVENTS


def _batches(figures: Figures, service: ServiceProcess, first: int) -> int:
    load = Load(service.host, service.port, BATCH_CLIENTS, BATCH_EVENTS, first, BATCH_SIZE)
    name = f"accept, batches of {BATCH_SIZE}, {BATCH_CLIENTS} clients"
    _rates(figures, name, service, load, ACCEPT_BATCH, None)
    return BATCH_EVENTS


def _rates(figures: Figures, name: str, service: ServiceProcess, load: Load, rate: Goal, p99: Goal | None) -> None:
    seen, cpu = _send(service, load)
    figures.remark(f"{name}: {seen.bytes / seen.events / 1024:.1f} KiB an event on the wire")
    figures.add(name, "events/s", seen.events / seen.seconds, rate)
    figures.add(f"{name}: p50", "ms", quantile(seen.latencies, 0.5) * 1e3)
    figures.add(f"{name}: p99", "ms", quantile(seen.latencies, 0.99) * 1e3, p99)
    figures.add(f"{name}: service's CPU per 1,000", "s", cpu / seen.events * 1e3)
    figures.add(f"{name}: generator's CPU, share of one core", "%", seen.cpu_seconds / seen.seconds * 100)


def _paced(figures: Figures, service: ServiceProcess, first: int) -> int:
    load = Load(service.host, service.port, 8, PACED_EVENTS, first, per_second=PER_SECOND)
    seen, cpu = _send(service, load)
    name = f"at {PER_SECOND} events/s"
    for what, values, goal in (
        ("due to acknowledged", seen.latencies, None),
        ("acknowledged to visible", seen.visible_after, VISIBLE_P99_MS),
        ("due to visible", seen.visible, VISIBLE_P99_MS),
    ):
        figures.add(f"{name}, {what}: p50", "ms", quantile(values, 0.5) * 1e3)
        figures.add(f"{name}, {what}: p99", "ms", quantile(values, 0.99) * 1e3, goal)
    figures.add(f"{name}: service's CPU", "% of a core", cpu / seen.seconds * 100)
    return PACED_EVENTS


def _send(service: ServiceProcess, load: Load) -> tuple[Seen, float]:
    """What the generator saw, and the CPU seconds that the service took for it."""
    with prepared(load) as go:
        before = service.cpu_seconds()
        seen = go()
        return seen, service.cpu_seconds() - before
