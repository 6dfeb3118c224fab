# SPDX-License-Identifier: Apache-2.0
"""Ingest of events: rate, latency, CPU, memory, time until events are visible, and start on an existing log."""

from pathlib import Path

from tests.bench.figures import Figures, Goal, quantile
from tests.bench.load_generator import Load, LoadResult, prepared_generator
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


def measure_round(figures: Figures, folder: Path) -> None:
    """Measure a new service: idle, with single events, with batches, at a fixed rate; then its restart."""
    data = folder / "data"
    with running_service(data) as service:
        figures.add("idle memory, empty log (PSS)", "MB", service.pss_mib() * 2**20 / 1e6, IDLE_MB)
        figures.add("start, empty log", "s", service.ready_seconds)
        _send_load(service, Load(service.host, service.port, SINGLE_CLIENTS, WARM_UP))
        warm = service.pss_mib()
        sent = WARM_UP + _measure_single_events(figures, service, WARM_UP)
        sent += _measure_batches(figures, service, sent)
        grown = (service.pss_mib() - warm) * 2**20 / 1e6
        figures.add("memory per 10,000 events", "MB", grown / (sent - WARM_UP) * 10_000)
        sent += _measure_fixed_rate(figures, service, sent)
    with running_service(data) as service:
        figures.add(f"start on a log of {sent:,} events", "s", service.ready_seconds)


def _measure_single_events(figures: Figures, service: ServiceProcess, first: int) -> int:
    load = Load(service.host, service.port, SINGLE_CLIENTS, SINGLE_EVENTS, first)
    name = f"accept, single events, {SINGLE_CLIENTS} clients"
    _measure_load(figures, name, service, load, ACCEPT_SINGLE, ACCEPT_P99_MS)
    return SINGLE_EVENTS


def _measure_batches(figures: Figures, service: ServiceProcess, first: int) -> int:
    load = Load(service.host, service.port, BATCH_CLIENTS, BATCH_EVENTS, first, BATCH_SIZE)
    name = f"accept, batches of {BATCH_SIZE}, {BATCH_CLIENTS} clients"
    _measure_load(figures, name, service, load, ACCEPT_BATCH, None)
    return BATCH_EVENTS


def _measure_load(
    figures: Figures, name: str, service: ServiceProcess, load: Load, rate: Goal, p99: Goal | None
) -> None:
    result, cpu = _send_load(service, load)
    figures.remark(f"{name}: {result.bytes / result.events / 1024:.1f} KiB per event in requests")
    figures.add(name, "events/s", result.events / result.seconds, rate)
    figures.add(f"{name}: p50", "ms", quantile(result.latencies, 0.5) * 1e3)
    figures.add(f"{name}: p99", "ms", quantile(result.latencies, 0.99) * 1e3, p99)
    figures.add(f"{name}: service's CPU per 1,000", "s", cpu / result.events * 1e3)
    figures.add(f"{name}: generator's CPU, share of one core", "%", result.cpu_seconds / result.seconds * 100)


def _measure_fixed_rate(figures: Figures, service: ServiceProcess, first: int) -> int:
    load = Load(service.host, service.port, 8, PACED_EVENTS, first, per_second=PER_SECOND)
    result, cpu = _send_load(service, load)
    name = f"at {PER_SECOND} events/s"
    for what, values, goal in (
        ("due to acknowledged", result.latencies, None),
        ("acknowledged to visible", result.visible_after, VISIBLE_P99_MS),
        ("due to visible", result.visible, VISIBLE_P99_MS),
    ):
        figures.add(f"{name}, {what}: p50", "ms", quantile(values, 0.5) * 1e3)
        figures.add(f"{name}, {what}: p99", "ms", quantile(values, 0.99) * 1e3, goal)
    figures.add(f"{name}: service's CPU", "% of a core", cpu / result.seconds * 100)
    return PACED_EVENTS


def _send_load(service: ServiceProcess, load: Load) -> tuple[LoadResult, float]:
    """Send a load and return its result and the CPU seconds of the service."""
    with prepared_generator(load) as send:
        before = service.cpu_seconds()
        result = send()
        return result, service.cpu_seconds() - before
