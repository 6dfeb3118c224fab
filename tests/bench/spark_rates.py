# SPDX-License-Identifier: Apache-2.0
"""The streaming ETL under steady load: lag, CPU time per 1,000 orders, and lineage events per hour, by rate.

One driver of the lab reads what a producer writes at each rate in turn. CPU time is that of the driver's processes. Lag
is the age of the oldest order that is in no table: orders behind, divided by the rate. The service that receives the
lineage, the broker and the producer run beside the driver and are not counted.
"""

import json
import subprocess
import threading
import time
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil
from confluent_kafka import Producer

from infra.model import Service
from infra.namespaces import JOB_ORDERS_ETL, TABLE_ORDERS, TABLE_ORDERS_REJECTED, TOPIC_ORDERS
from jobs.shop.orders import Mix, batch
from tests.bench.figures import Figures, quantile
from tests.bench.measured_process import measured_process
from tests.bench.partial_lab import count_rows, process_environment, with_folder_catalog
from tests.bench.stream_services import StreamServices, order_encoder, stream_services

RATES = (20, 500, 5_000)
"""Orders per second."""

SECONDS = 20
"""Duration of one round of a rate."""

WARM_UP_ORDERS = 1_000
START_TIMEOUT = 180
CATCH_UP_TIMEOUT = 180
TICK = 0.25
"""Seconds between two writes of the producer, and between two samples of the lag."""

HOUR = 3600


@dataclass(frozen=True)
class Load:
    """Measurement of one rate.

    Attributes:
        lags: samples of the lag, in seconds.
        cpu_seconds: of the driver, until all orders are in the tables.
        orders: number of orders.
        events: number of lineage events.
        seconds: time until all orders are in the tables.
    """

    lags: list[float]
    cpu_seconds: float
    orders: int
    events: int
    seconds: float


def measure(figures: Figures, folder: Path, rounds: int) -> None:
    """Measure each rate for `rounds` times `SECONDS`.

    Raises:
        RuntimeError: the lineage service received no event of the driver.
    """
    warehouse = folder / "warehouse"
    with stream_services(folder, {TOPIC_ORDERS: WARM_UP_ORDERS}) as services:
        driver = _driver_script(services, warehouse, folder)
        with measured_process(["sh", str(driver)], process_environment(), folder / "driver.log") as subreaper:
            producer = _OrderProducer(services.bootstrap, WARM_UP_ORDERS)
            _await(lambda: _rows(warehouse) >= WARM_UP_ORDERS, START_TIMEOUT, subreaper)
            for rate in RATES:
                load = _measure_rate(rate, rounds * SECONDS, services, producer, warehouse, subreaper)
                if load.events == 0:
                    raise RuntimeError(f"no lineage event of {JOB_ORDERS_ETL} arrived; see {folder / 'driver.log'}")
                add_load(figures, rate, load)


def add_load(figures: Figures, rate: int, load: Load) -> None:
    """Add the figures of a rate."""
    name = f"{JOB_ORDERS_ETL} at {rate:,} orders/s"
    figures.add(f"{name}: lag, median", "s", quantile(load.lags, 0.5))
    figures.add(f"{name}: lag, highest", "s", max(load.lags))
    figures.add(f"{name}: CPU per 1,000 orders", "s", load.cpu_seconds / load.orders * 1000)
    figures.add(f"{name}: CPU cores in use", "cores", load.cpu_seconds / load.seconds)
    figures.add(f"{name}: lineage events per hour", "events", load.events / load.seconds * HOUR)


class _OrderProducer:
    """Writes the shop's orders, each once, some of them invalid."""

    def __init__(self, bootstrap: str, first: int) -> None:
        self._producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 20, "log_level": 3})
        self._encode = order_encoder()
        self.written = first

    def write(self, number: int) -> None:
        numbers = range(self.written, self.written + number)
        for order in batch(Mix(duplicate_rate=0), numbers, now_ms=time.time_ns() // 1_000_000).first:
            self._producer.produce(TOPIC_ORDERS, key=order.order_id.encode(), value=self._encode(order))
        self._producer.flush(CATCH_UP_TIMEOUT)
        self.written += number


def _measure_rate(
    rate: int,
    duration: float,
    services: StreamServices,
    producer: _OrderProducer,
    warehouse: Path,
    subreaper: "subprocess.Popen[str]",
) -> Load:
    first, events, cpu = producer.written, _events(services), _cpu_seconds(subreaper.pid)
    began = time.monotonic()
    lags: list[float] = []
    waiter = threading.Event()
    while (elapsed := time.monotonic() - began) < duration:
        producer.write(int(min(elapsed + TICK, duration) * rate) - (producer.written - first))
        lags.append((producer.written - _rows(warehouse)) / rate)
        waiter.wait(max(0.0, began + elapsed + TICK - time.monotonic()))
    _await(lambda: _rows(warehouse) >= producer.written, CATCH_UP_TIMEOUT, subreaper)
    seconds = time.monotonic() - began
    used = _cpu_seconds(subreaper.pid) - cpu
    return Load(lags, used, producer.written - first, _events(services) - events, seconds)


def _driver_script(services: StreamServices, warehouse: Path, folder: Path) -> Path:
    lab = services.partial_lab("rates")
    etl = lab.part(JOB_ORDERS_ETL)
    if not isinstance(etl, Service):
        raise TypeError(f"{JOB_ORDERS_ETL} is not a service of the lab")
    return lab.write_script(with_folder_catalog(etl, warehouse, CHECKPOINTS=(folder / "checkpoints").as_uri()))


def _rows(warehouse: Path) -> int:
    """Return the number of rows of both tables; 0 while they do not exist."""
    try:
        return sum(count_rows(warehouse, table) for table in (TABLE_ORDERS, TABLE_ORDERS_REJECTED))
    except FileNotFoundError:
        return 0


def _events(services: StreamServices) -> int:
    """Return the number of events of the query's run, of the latest thousand."""
    with urllib.request.urlopen(f"{services.lineage_url}/api/v1/events/lineage?limit=1000") as answer:
        events = json.load(answer)["events"]
    return sum(event["job"]["name"] == JOB_ORDERS_ETL for event in events)


def _cpu_seconds(pid: int) -> float:
    """Return the CPU seconds of all descendants of a process that run."""
    total = 0.0
    for process in psutil.Process(pid).children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            used = process.cpu_times()
            total += used.user + used.system
    return total


def _await(condition: Callable[[], bool], seconds: float, subreaper: "subprocess.Popen[str]") -> None:
    deadline, waiter = time.monotonic() + seconds, threading.Event()
    while not condition():
        if subreaper.poll() is not None:
            raise RuntimeError(f"the driver of {JOB_ORDERS_ETL} ended with exit status {subreaper.returncode}")
        if time.monotonic() > deadline:
            raise RuntimeError(f"{JOB_ORDERS_ETL} had not written all orders after {seconds:.0f} s")
        waiter.wait(TICK)
