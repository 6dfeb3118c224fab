# SPDX-License-Identifier: Apache-2.0
"""Comparison with Marquez: the same events from the same generator, in rounds that alternate with the service's.

`LINEAGE_LAB_MARQUEZ_JAR` is the path of its jar, `LINEAGE_LAB_MARQUEZ_DATABASE` an empty database in the form
`postgresql://user:password@host:port/name`.
"""

import json
import os
import re
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import URLError
from urllib.parse import quote, unquote, urlsplit
from urllib.request import urlopen

import psutil

from tests.bench.figures import Figures, quantile
from tests.bench.http_connection import HttpConnection, request_bytes
from tests.bench.load_generator import Load, prepared_generator
from tests.bench.warehouse import Warehouse

JAR = "LINEAGE_LAB_MARQUEZ_JAR"
DATABASE = "LINEAGE_LAB_MARQUEZ_DATABASE"
EVENTS = 300
CLIENTS = 16
START_SECONDS = 180
JVM = ("-Xmx384m", "-XX:+UseSerialGC", "-Xss512k")
RECORDED_FIGURES = (
    "recorded on a machine of this kind with Marquez 0.50.0, events of 1 kB with columnLineage, 16 clients:"
    " 68 events/s, p50 224 ms, p99 404 ms; /lineage 10 to 20 ms; 214 MB after its start"
)


@contextmanager
def marquez_rounds(figures: Figures, folder: Path) -> Iterator[Callable[[int], None]]:
    """Yield a function that measures one round; without Marquez it does nothing, and a remark gives recorded figures.

    Raises:
        RuntimeError: Marquez did not start or rejected an event.
    """
    jar, database = os.environ.get(JAR), os.environ.get(DATABASE)
    if not jar or not database:
        missing = JAR if not jar else DATABASE
        figures.remark(f"Marquez skipped: {missing} is not set. Instead, {RECORDED_FIGURES}.")
        yield lambda _: None
        return
    with _running_marquez(Path(jar), database, folder) as (process, port):
        yield lambda number: _one_round(figures, process, port, number)


def _one_round(figures: Figures, process: psutil.Process, port: int, number: int) -> None:
    with prepared_generator(Load("127.0.0.1", port, CLIENTS, EVENTS, number * EVENTS)) as send:
        before = _cpu_seconds(process)
        result = send()
        cpu = _cpu_seconds(process) - before
    name = f"Marquez, accept, single events, {CLIENTS} clients"
    figures.add(name, "events/s", result.events / result.seconds)
    figures.add(f"{name}: p50", "ms", quantile(result.latencies, 0.5) * 1e3)
    figures.add(f"{name}: p99", "ms", quantile(result.latencies, 0.99) * 1e3)
    figures.add(f"{name}: its CPU per 1,000, without Postgres", "s", cpu / result.events * 1e3)
    figures.add("Marquez, memory (PSS), without Postgres", "MB", process.memory_full_info().pss / 1e6)
    connection = HttpConnection("127.0.0.1", port)
    namespace, name = Warehouse(100).dataset(number, "core")
    began = time.monotonic()
    node = quote(f"dataset:{namespace}:{name}", safe="")
    connection.exchange(request_bytes("GET", f"/api/v1/lineage?nodeId={node}&depth=5"))
    figures.add("Marquez, lineage of a dataset, depth 5, small graph", "ms", (time.monotonic() - began) * 1e3)
    connection.close()


def _cpu_seconds(process: psutil.Process) -> float:
    times = process.cpu_times()
    return times.user + times.system


@contextmanager
def _running_marquez(jar: Path, database: str, folder: Path) -> Iterator[tuple[psutil.Process, int]]:
    port, admin = _free_ports(2)
    config = folder / "marquez.yml"
    config.touch(mode=0o600)
    # JSON is valid YAML; Marquez selects the parser by file suffix.
    config.write_text(json.dumps(_config(database, port, admin), indent=2))
    log = folder / "marquez.log"
    with log.open("wb") as output:
        words = ["java", *JVM, "-jar", str(jar), "server", str(config)]
        process = subprocess.Popen(words, stdout=output, stderr=subprocess.STDOUT)
    try:
        _await_start(process, port, log)
        yield psutil.Process(process.pid), port
    finally:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _config(database: str, port: int, admin: int) -> dict[str, object]:
    found = urlsplit(database)
    if found.scheme != "postgresql" or not found.hostname or not re.fullmatch(r"/\w+", found.path):
        raise RuntimeError(f"{DATABASE} is invalid: write it as postgresql://user:password@host:port/name")

    def connector(number: int) -> list[dict[str, object]]:
        return [{"type": "http", "bindHost": "127.0.0.1", "port": number, "httpCompliance": "RFC7230_LEGACY"}]

    return {
        "server": {
            "applicationConnectors": connector(port),
            "adminConnectors": connector(admin),
            "requestLog": {"appenders": []},
        },
        "db": {
            "driverClass": "org.postgresql.Driver",
            "url": f"jdbc:postgresql://{found.hostname}:{found.port or 5432}{found.path}",
            "user": unquote(found.username or ""),
            "password": unquote(found.password or ""),
        },
        "migrateOnStartup": True,
        "search": {"enabled": False},
        "logging": {"level": "WARN"},
    }


def _await_start(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        try:
            with urlopen(f"http://127.0.0.1:{port}/api/v1/namespaces", timeout=5):
                return
        except (URLError, ConnectionError, TimeoutError):
            time.sleep(0.1)
    raise RuntimeError(f"Marquez did not start. End of its log:\n{log.read_text(errors='replace')[-2000:]}")


def _free_ports(number: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(number)]
    ports = [opened.getsockname()[1] for opened in sockets]
    for opened in sockets:
        opened.close()
    return ports
